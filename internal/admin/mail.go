package admin

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"sepad/internal/notice"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/listing"
	"sepad/internal/web"
)

// mailRoutes are those around mails to payers.
func (a *Admin) mailRoutes() []web.Route {
	const many, one = "/admin/v1/mails/", "/admin/v1/mails/{id}/"
	return []web.Route{
		{Method: "GET", Pattern: many, Handler: a.listMails},
		{Method: "GET", Pattern: one, Handler: a.showMail},
		{Method: "POST", Pattern: one + "resend/", Handler: a.resendMail},
	}
}

// MailBody is a mail as operators see it. Whom it is to, the transaction says.
type MailBody struct {
	ID            uuid.UUID        `json:"id"`
	TenantID      uuid.UUID        `json:"tenant_id"`
	Kind          store.MailKind   `json:"kind"`
	TransactionID uuid.UUID        `json:"transaction_id"`
	DueDate       string           `json:"due_date"`
	Status        store.MailStatus `json:"status"`
	Attempts      int              `json:"attempts"`
	Result        *string          `json:"result"`
	NextAttemptAt *string          `json:"next_attempt_at"`
	CreatedAt     string           `json:"created_at"`
	SentAt        *string          `json:"sent_at"`
}

// MailOf shows a mail.
func MailOf(m store.Mail) MailBody {
	body := MailBody{
		ID: m.ID, TenantID: m.TenantID, Kind: m.Kind, TransactionID: m.TransactionID, DueDate: m.DueDate.String(), Status: m.Status,
		Attempts: m.AttemptCount, Result: payment.Given(m.Result), CreatedAt: instantText(m.CreatedAt),
	}
	if m.Status == store.MailPending {
		body.NextAttemptAt = new(instantText(m.NextAttemptAt))
	}
	if !m.SentAt.IsZero() {
		body.SentAt = new(instantText(m.SentAt))
	}
	return body
}

// MailDetailBody is a mail with what it says.
type MailDetailBody struct {
	MailBody
	Subject string `json:"subject"`
	Text    string `json:"text"`
	HTML    string `json:"html"`
}

// listMails answers GET /mails/.
func (a *Admin) listMails(w http.ResponseWriter, r *http.Request) error {
	q := a.ask(r)
	search := listing.MailSearch{
		Common: q.common(), Status: readOneOf(q.parameters, "status", store.MailStatuses, q.bad), TransactionID: q.id("transaction_id"),
	}
	return answer(w, r, q, func(ctx context.Context, s listing.Paging) (listing.Part[store.Mail], error) {
		return listing.SearchMails(ctx, a.Store, search, s)
	}, func(m store.Mail) uuid.UUID { return m.ID }, MailOf)
}

// showMail answers GET /mails/{id}/.
func (a *Admin) showMail(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r, "id", store.ErrNoMail)
	if err != nil {
		return err
	}
	body, err := MailDetail(r.Context(), a.Store, id)
	if err != nil {
		return err
	}
	web.WriteJSON(w, r, http.StatusOK, body)
	return nil
}

// MailDetail reads a mail and writes what it says.
func MailDetail(ctx context.Context, st *store.Store, id uuid.UUID) (MailDetailBody, error) {
	m, written, err := notice.Read(ctx, st, id)
	return MailDetailBody{MailOf(m), written.Subject, written.Text, written.HTML}, err
}

// resendMail answers POST /mails/{id}/resend/.
func (a *Admin) resendMail(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r, "id", store.ErrNoMail)
	if err != nil {
		return err
	}
	m, err := notice.Resend(r.Context(), a.Store, id, a.Real.Now())
	if err != nil {
		return err
	}
	web.WriteJSON(w, r, http.StatusOK, MailOf(m))
	return nil
}
