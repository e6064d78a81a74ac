package admin

import (
	"net/http"
	"time"

	"github.com/google/uuid"

	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/people"
	"sepad/internal/store"
	"sepad/internal/web"
)

// TokenBody is a personal token; the token itself is shown once.
type TokenBody struct {
	ID         uuid.UUID `json:"id"`
	Name       string    `json:"name"`
	Token      string    `json:"token,omitempty"`
	CreatedAt  string    `json:"created_at"`
	ExpiresAt  string    `json:"expires_at"`
	LastUsedAt any       `json:"last_used_at"`
}

// TokenOf shows a token, here and on the command line.
func TokenOf(t store.OperatorToken, text merchant.Secret) TokenBody {
	return TokenBody{
		ID: t.ID, Name: t.Name, Token: text.Reveal(), CreatedAt: instantText(t.CreatedAt), ExpiresAt: instantText(t.ExpiresAt),
		LastUsedAt: instantOrNull(t.LastUsedAt),
	}
}

// errNobody is the answer to the admin token, which is nobody's.
var errNobody = &web.StatusError{
	Status: http.StatusForbidden, Detail: "The admin token is nobody's, and has no tokens of its own: sepad operators token makes one for an operator.",
}

// owner is the operator who is asking.
func owner(r *http.Request) (store.Operator, error) {
	if who, _ := people.Who(r.Context()); who.Operator != nil {
		return *who.Operator, nil
	}
	return store.Operator{}, errNobody
}

// listTokens answers GET /tokens/: one's own.
func (a *Admin) listTokens(w http.ResponseWriter, r *http.Request) error {
	if err := a.ask(r).err(); err != nil {
		return err
	}
	of, err := owner(r)
	if err != nil {
		return err
	}
	all, err := a.Store.OperatorTokens(r.Context(), of.ID)
	if err != nil {
		return err
	}
	list := listBody[TokenBody]{Results: []TokenBody{}}
	for _, t := range all {
		list.Results = append(list.Results, TokenOf(t, ""))
	}
	web.WriteJSON(w, r, http.StatusOK, list)
	return nil
}

// createToken answers POST /tokens/ {"name", "expires_at"}.
func (a *Admin) createToken(w http.ResponseWriter, r *http.Request) error {
	of, err := owner(r)
	if err != nil {
		return err
	}
	object, err := web.DecodeObject(w, r)
	if err != nil {
		return err
	}
	bad := payment.Fields{}
	in := web.NewReader(object, bad)
	name := in.Text("name", web.Required)
	var until time.Time
	if text := in.Text("expires_at"); text != "" {
		until = readReportDate("expires_at", text, bad)
	}
	if err := bad.Err(); err != nil {
		return err
	}
	t, text, err := a.People.CreateToken(r.Context(), of, name, until)
	if err != nil {
		return err
	}
	web.WriteJSON(w, r, http.StatusCreated, TokenOf(t, text))
	return nil
}

// revokeToken answers DELETE /tokens/{id}/.
func (a *Admin) revokeToken(w http.ResponseWriter, r *http.Request) error {
	of, err := owner(r)
	if err != nil {
		return err
	}
	id, err := pathID(r, "id", store.ErrNoToken)
	if err != nil {
		return err
	}
	if err := a.People.RevokeToken(r.Context(), of, id); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
