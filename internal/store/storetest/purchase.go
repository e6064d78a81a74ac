package storetest

import (
	"strings"
	"testing"
	"time"

	"sepad/internal/payment"
	"sepad/internal/sepa"
	"sepad/internal/store"
)

// Terms of sale that tests ask for.
var (
	OneOff    = payment.Terms{PriceMinor: 29_99, Currency: "EUR", BillingType: payment.OneOff}
	Monthly   = payment.Terms{PriceMinor: 29_99, Currency: "EUR", BillingType: payment.Recurring, Frequency: payment.Monthly}
	PaidTrial = payment.Terms{
		PriceMinor: 29_99, Currency: "EUR", BillingType: payment.TrialRecurring, Frequency: payment.Monthly,
		TrialUnit: payment.TrialDay, TrialPeriod: 14, TrialMinor: new(payment.Minor(1_00)),
	}
)

// IBAN is the account that attempts are paid from.
const IBAN = "DE89370400440532013000"

// Draft is a session that is about to be created.
type Draft struct {
	payment.Session
	Lead payment.Lead
}

// WithTerms sells on other terms.
func WithTerms(terms payment.Terms) func(*Draft) { return func(d *Draft) { d.Terms = terms } }

// WithEmail makes the session one of a certain lead.
func WithEmail(email string) func(*Draft) { return func(d *Draft) { d.Lead.Email = email } }

// ExpiresIn sets the session's life.
func ExpiresIn(ttl time.Duration) func(*Draft) {
	return func(d *Draft) { d.ExpiresAt = d.CreatedAt.Add(ttl) }
}

// Draft fills in a session of a shop's campaign for a lead of its own.
func (e *Env) Draft(shop Shop, change ...func(*Draft)) Draft {
	leadID := payment.NewID()
	d := Draft{
		Session: payment.Session{
			ID: payment.NewID(), TenantID: shop.ID, LeadID: leadID, Token: payment.NewToken(shop.Number),
			Status: payment.SessionPending, Terms: shop.Offer.Terms, GatewayID: shop.Gateway.ID,
			CampaignID: &shop.Campaign.ID, OfferID: &shop.Offer.ID, HostedPageID: &shop.HostedPage.ID,
			WebhookProfileID: &shop.Profile.ID, AcceptanceMode: payment.AcceptCheckbox,
			MandateReference: payment.NewMandateReference(), CustomerIP: "192.0.2.7", MaxAttempts: 3, HoldsLead: true,
			ExpiresAt: e.Now.Add(time.Hour), CreatedAt: e.Now, UpdatedAt: e.Now,
		},
		Lead: payment.Lead{
			ID: leadID, FirstName: "Anna", LastName: "Müller", Email: leadID.String() + "@Example.org", Country: "DE",
			Address: "Hauptstraße 1", City: "Berlin", PostalCode: "10115", Phone: "+49 30 1234567",
		},
	}
	apply(&d, change)
	return d
}

// Create writes a draft, in place of a session that has run out, and gives the error of that.
func (e *Env) Create(t testing.TB, d Draft) error {
	t.Helper()
	return e.TryWrite(t, func(tx *store.Tx) error {
		tx.ReplaceSession(e.New(t, d), d.Lead)
		return nil
	})
}

// New is a draft as it is written.
func (e *Env) New(t testing.TB, d Draft) store.NewSession {
	t.Helper()
	session, err := e.Store.NewSession(d.Session)
	if err != nil {
		t.Fatal(err)
	}
	return session
}

// Session creates a session and gives it as its token finds it.
func (e *Env) Session(t testing.TB, shop Shop, change ...func(*Draft)) store.Found {
	t.Helper()
	d := e.Draft(shop, change...)
	if err := e.Create(t, d); err != nil {
		t.Fatalf("create a session: %v", err)
	}
	return e.Find(t, d.Token)
}

// Find reads a session by its token.
func (e *Env) Find(t testing.TB, token string) store.Found {
	t.Helper()
	found, err := e.Store.SessionByToken(t.Context(), token)
	if err != nil {
		t.Fatalf("find a session: %v", err)
	}
	return found
}

// Begin is an attempt that is not written yet.
func (e *Env) Begin(t testing.TB, found store.Found, change ...func(*payment.Submission)) payment.Change {
	t.Helper()
	iban, err := sepa.ParseIBAN(IBAN)
	if err != nil {
		t.Fatal(err)
	}
	submission := payment.Submission{
		Instrument: payment.Instrument{IBAN: iban, HolderName: "Anna Müller", Bank: sepa.Bank{Name: "Commerzbank", BIC: "COBADEFFXXX"}},
		Source:     payment.SourceAPI,
	}
	apply(&submission, change)
	order, err := e.Store.Tenant(found.Session.TenantID).OrderOf(t.Context(), found.Session.ID)
	if err != nil {
		t.Fatal(err)
	}
	p, err := payment.Begin(found.Session, found.Lead, order, submission, e.Now)
	if err != nil {
		t.Fatalf("begin an attempt: %v", err)
	}
	p.Transaction.Attempt.Silence = 35 * time.Second
	return p
}

// WithReference sends a merchant's reference along.
func WithReference(reference string) func(*payment.Submission) {
	return func(s *payment.Submission) { s.TenantReferenceID = &reference }
}

// Claim writes an attempt and gives the error of that.
func (e *Env) Claim(t testing.TB, p payment.Change) error {
	t.Helper()
	sealed, err := e.Vault.Seal([]byte(IBAN), store.BindIBAN(p.Session.TenantID, p.Transaction.MandateReference))
	if err != nil {
		t.Fatal(err)
	}
	return e.TryWrite(t, func(tx *store.Tx) error {
		tx.ClaimAttempt(p, sealed)
		return nil
	})
}

// Attempt claims an attempt on a session, which is open then.
func (e *Env) Attempt(t testing.TB, found store.Found, change ...func(*payment.Submission)) payment.Debit {
	t.Helper()
	p := e.Begin(t, found, change...)
	if err := e.Claim(t, p); err != nil {
		t.Fatalf("claim an attempt: %v", err)
	}
	e.Written(&p.Transaction.Attempt)
	return p.Debit
}

// Debit reads a transaction with all that hangs on it.
func (e *Env) Debit(t testing.TB, of payment.Transaction) payment.Debit {
	t.Helper()
	d, err := e.Store.Tenant(of.TenantID).Debit(t.Context(), of.ID)
	if err != nil {
		t.Fatalf("read a debit: %v", err)
	}
	return d
}

// Decide is what an outcome makes of a debit, not written yet.
func (e *Env) Decide(t testing.TB, d payment.Debit, outcome payment.Outcome) payment.Change {
	t.Helper()
	settled, err := d.Settle(outcome, payment.Policy{Dunning: payment.DefaultDunning()}, e.Now)
	if err != nil {
		t.Fatalf("settle: %v", err)
	}
	return settled
}

// Apply writes a change and gives the error of that.
func (e *Env) Apply(t testing.TB, c payment.Change) error {
	t.Helper()
	return e.TryWrite(t, func(tx *store.Tx) error {
		tx.Apply(c, Events(c))
		return nil
	})
}

// Settle settles a debit.
func (e *Env) Settle(t testing.TB, d payment.Debit, outcome payment.Outcome) payment.Change {
	t.Helper()
	settled := e.Decide(t, d, outcome)
	if err := e.Apply(t, settled); err != nil {
		t.Fatalf("settle: %v", err)
	}
	return settled
}

// Settled is a purchase that was paid at once.
func (e *Env) Settled(t testing.TB, shop Shop, change ...func(*Draft)) payment.Change {
	t.Helper()
	return e.Settle(t, e.Attempt(t, e.Session(t, shop, change...)), payment.Outcome{Verdict: payment.VerdictApproved})
}

// Verification is the outcome that sends the payer to verify a mandate.
var Verification = payment.Outcome{
	Verdict: payment.VerdictVerify, GatewayReference: "GW-1",
	VerificationURL: "https://bank.example/verify?a=1&b=2", VerificationReference: "VRF-1",
}

// Awaiting is a purchase whose payer must verify the mandate.
func (e *Env) Awaiting(t testing.TB, shop Shop, change ...func(*Draft)) payment.Debit {
	t.Helper()
	return e.Debit(t, e.Settle(t, e.Attempt(t, e.Session(t, shop, change...)), Verification).Transaction)
}

// Events dresses a change's events with a payload that needs care: texts
// that some encodings change.
func Events(s payment.Change) []store.EventRow {
	rows := make([]store.EventRow, len(s.Events))
	for i, event := range s.Events {
		rows[i] = store.EventRow{
			Event: event, WebhookProfileID: s.WebhookProfileID,
			Payload: strings.Join([]string{`{"a":  "ü & <b>`, "\u2028", `", "id":"`, event.ID.String(), `"}`}, ""),
		}
	}
	return rows
}
