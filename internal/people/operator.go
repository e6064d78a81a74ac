package people

import (
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"sepad/internal/clock"
	"sepad/internal/limit"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/turn"
)

// People lets operators in and keeps their records.
type People struct {
	Store *store.Store
	// Clock is the world's: sessions and links end in real time.
	Clock clock.Clock
	// URL is where the dashboard is reached, without a slash at its end.
	URL string
	// Environment says whether links may sign in at once.
	Environment merchant.Environment
	// Provider vouches for operators, nil where none does.
	Provider *Provider

	// Passwords are counted by address and name: a stranger who tries somebody's name
	// from afar makes only himself wait, and never the owner, who comes from elsewhere.
	// Codes are counted by operator. They are apart, so that nobody who fills the one
	// with names makes room in the other.
	Passwords, Codes limit.Patience

	// Reads are what each of them reads at a time.
	Reads turn.Turns[string]
}

const (
	// ticketLife is how long a link is good.
	ticketLife = time.Hour
	// welcomePath is where it leads.
	welcomePath = "/dashboard/welcome/"
)

// Link is what somebody is let in by, once.
type Link struct {
	URL       string
	ExpiresAt time.Time
}

// link makes one, in a unit.
func (p *People) link(tx *store.Tx, operatorID uuid.UUID, kind store.TicketKind, secret string) Link {
	until := tx.At.Add(ticketLife)
	tx.AddTicket(store.Ticket{Hash: hashSecret(secret), OperatorID: operatorID, Kind: kind, ExpiresAt: until})
	return Link{p.URL + welcomePath + "?ticket=" + url.QueryEscape(secret), until}
}

// shown is what the audit trail keeps of an operator.
func shown(o store.Operator) map[string]any {
	return map[string]any{"email": o.Email, "role": o.Role, "tenants": TenantNames(o.Tenants), "status": o.Status}
}

// TenantNames are the ids of the tenants that somebody is bound to, none where that is
// nobody.
func TenantNames(t store.TenantSet) []string {
	names := []string{}
	for _, id := range t.IDs {
		names = append(names, id.String())
	}
	return names
}

func deed(action string, o store.Operator, before, after any) store.Deed {
	return store.Deed{Action: action, ObjectType: "operator", ObjectID: o.ID.String(), Before: before, After: after}
}

// restOnAsker lets a change of people rest on whoever makes it: an administrator whose role is being taken away neither takes it
// back nor lets anybody else in by what is under way.
func restOnAsker(ctx context.Context, tx *store.Tx) {
	if who, ok := Who(ctx); ok && who.Operator != nil {
		tx.HoldOperator(*who.Operator)
	}
}

// errEmailTaken is the answer to an address that somebody has.
var errEmailTaken = payment.Fields{"email": "There is an operator with this address."}

// Add makes an operator, who is let in by a link.
func (p *People) Add(ctx context.Context, email string, role store.Role, tenants store.TenantSet) (o store.Operator, link Link, err error) {
	if err := p.RequireFresh(ctx); err != nil {
		return o, link, err
	}
	now := p.Clock.Now()
	o = store.Operator{
		ID: payment.NewID(), Email: strings.TrimSpace(email), Role: role, Tenants: tenants, Status: store.OperatorInvited,
		CreatedAt: now, UpdatedAt: now,
	}
	if err := p.check(ctx, o); err != nil {
		return o, link, err
	}
	if o.SealedTOTP, err = p.Store.SealTOTP(o.ID, newTOTP()); err != nil {
		return o, link, err
	}
	secret := newSecret()
	err = p.Store.Write(ctx, now, func(tx *store.Tx) error {
		restOnAsker(ctx, tx)
		tx.AddOperator(o)
		tx.Audit(deed("operator.create", o, nil, shown(o)))
		link = p.link(tx, o.ID, store.TicketWelcome, secret)
		return nil
	})
	if store.IsEmailTaken(err) {
		err = errEmailTaken.Err()
	}
	return o, link, err
}

// check says what is wrong with an operator.
func (p *People) check(ctx context.Context, o store.Operator) error {
	bad := payment.Fields{}
	if !validRole(o.Role) {
		bad.Add("role", "role must be one of viewer, support, finance, admin.")
	}
	if !o.Tenants.All && len(o.Tenants.IDs) == 0 {
		bad.Add("tenants", "tenants names nobody.")
	}
	for _, id := range o.Tenants.IDs {
		if _, err := p.Store.Tenant(id).Tenant(ctx); store.IsNotFound(err) {
			bad.Add("tenants", "There is no tenant "+id.String()+".")
		} else if err != nil {
			return err
		}
	}
	return bad.Err()
}

func validRole(role store.Role) bool { return role.Includes(store.Viewer) }

// Change gives an operator another role, other tenants, or both. It holds from the next
// call on.
func (p *People) Change(ctx context.Context, id uuid.UUID, change func(*store.Operator)) (store.Operator, error) {
	if err := p.RequireFresh(ctx); err != nil {
		return store.Operator{}, err
	}
	was, err := p.Store.Operator(ctx, id)
	if err != nil {
		return was, err
	}
	o := was
	change(&o)
	if err := p.check(ctx, o); err != nil {
		return was, err
	}
	return o, p.Store.Write(ctx, p.Clock.Now(), func(tx *store.Tx) error {
		restOnAsker(ctx, tx)
		tx.ChangeOperator(was, o)
		tx.Audit(deed("operator.update", o, shown(was), shown(o)))
		return nil
	})
}

// Reset takes password, second factor, sessions and tokens from an operator, who is let
// in by a new link. Who came by the provider has a password from then on.
func (p *People) Reset(ctx context.Context, id uuid.UUID) (o store.Operator, link Link, err error) {
	if err := p.RequireFresh(ctx); err != nil {
		return o, link, err
	}
	was, err := p.Store.Operator(ctx, id)
	if err != nil {
		return was, link, err
	}
	o = was
	o.Status, o.PasswordHash, o.TOTPStep, o.ProviderSubject = store.OperatorInvited, "", 0, ""
	if o.SealedTOTP, err = p.Store.SealTOTP(o.ID, newTOTP()); err != nil {
		return o, link, err
	}
	secret := newSecret()
	err = p.Store.Write(ctx, p.Clock.Now(), func(tx *store.Tx) error {
		restOnAsker(ctx, tx)
		tx.ChangeOperator(was, o)
		tx.EndAccess(o.ID)
		tx.Audit(deed("operator.reset", o, shown(was), shown(o)))
		link = p.link(tx, o.ID, store.TicketWelcome, secret)
		return nil
	})
	return o, link, err
}

// Remove takes an operator out, at once.
func (p *People) Remove(ctx context.Context, id uuid.UUID) (store.Operator, error) {
	was, err := p.Store.Operator(ctx, id)
	if err != nil {
		return was, err
	}
	return was, p.Store.Write(ctx, p.Clock.Now(), func(tx *store.Tx) error {
		restOnAsker(ctx, tx)
		tx.RemoveOperator(id)
		tx.Audit(deed("operator.remove", was, shown(was), nil))
		return nil
	})
}

// DeveloperEmail is who a developer's sandbox signs in.
const DeveloperEmail = "developer@sandbox.example"

// DeveloperLink signs in at once, as an administrator of a sandbox.
func (p *People) DeveloperLink(ctx context.Context) (link Link, err error) {
	o, err := p.Store.OperatorByEmail(ctx, DeveloperEmail)
	if payment.KindOf(err) == payment.NotFound {
		o, _, err = p.Add(ctx, DeveloperEmail, store.Administrator, store.TenantSet{All: true})
	}
	if err != nil {
		return link, err
	}
	secret := newSecret()
	err = p.Store.Write(ctx, p.Clock.Now(), func(tx *store.Tx) error {
		link = p.link(tx, o.ID, store.TicketSignIn, secret)
		return nil
	})
	return link, err
}
