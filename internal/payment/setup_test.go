package payment

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/sepa"
)

// noon is when the tests' payments are made: the last day of a long month.
var noon = time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)

func aSession(change ...func(*Session)) Session {
	s := Session{
		ID: NewID(), TenantID: NewID(), LeadID: NewID(), GatewayID: NewID(),
		Token: NewToken(1), Status: SessionPending, HoldsLead: true,
		Terms:            Terms{PriceMinor: 2999, Currency: "EUR", BillingType: OneOff},
		MandateReference: NewMandateReference(), MaxAttempts: 3,
		ExpiresAt: noon.Add(time.Hour), CreatedAt: noon, UpdatedAt: noon,
	}
	for _, c := range change {
		c(&s)
	}
	return s
}

func withTerms(terms Terms) func(*Session) { return func(s *Session) { s.Terms = terms } }

func withMaxAttempts(n int) func(*Session) { return func(s *Session) { s.MaxAttempts = n } }

func aLead(s Session) Lead {
	return Lead{ID: s.LeadID, FirstName: "Anna", LastName: "Muster", Email: "Anna@example.org", Country: "DE"}
}

func aSubmission(t *testing.T) Submission {
	t.Helper()
	iban, err := sepa.ParseIBAN("DE89370400440532013000")
	if err != nil {
		t.Fatal(err)
	}
	return Submission{
		Instrument: Instrument{IBAN: iban, HolderName: "Anna Muster", Bank: sepa.Bank{Name: "Commerzbank", BIC: "COBADEFFXXX"}},
		Source:     SourceAPI,
	}
}

// submitted is a purchase whose payment is at the gateway.
func submitted(t *testing.T, change ...func(*Session)) Debit {
	t.Helper()
	s := aSession(change...)
	begun, err := Begin(s, aLead(s), nil, aSubmission(t), noon)
	if err != nil {
		t.Fatal(err)
	}
	return begun.Debit
}

// awaiting is a purchase whose payer must verify the mandate.
func awaiting(t *testing.T, change ...func(*Session)) Debit {
	t.Helper()
	return settle(t, submitted(t, change...), Outcome{
		Verdict: VerdictVerify, VerificationURL: "https://bank.example/v", VerificationReference: "V1",
	}, noon).Debit
}

// inPhase is a purchase with the question of a phase open, and the time of it.
func inPhase(t *testing.T, phase Phase, change ...func(*Session)) (Debit, time.Time) {
	t.Helper()
	switch phase {
	case PhaseSubmit:
		return submitted(t, change...), noon.Add(time.Second)
	case PhaseVerify:
		later := noon.Add(time.Minute)
		p, err := awaiting(t, change...).BeginVerify(later)
		if err != nil {
			t.Fatal(err)
		}
		return p, later
	default:
		later := noon.Add(2 * time.Hour)
		p, err := awaiting(t, change...).BeginExpire(later)
		if err != nil {
			t.Fatal(err)
		}
		return p, later
	}
}

// accepted is a purchase that a batch gateway has taken in.
func accepted(t *testing.T, change ...func(*Session)) Change {
	t.Helper()
	return settle(t, submitted(t, change...), Outcome{Verdict: VerdictPending, GatewayReference: "GW-1"}, noon)
}

// usual is what holds where nobody says otherwise.
var usual = Policy{Dunning: DefaultDunning()}

func settle(t *testing.T, d Debit, o Outcome, now time.Time) Change {
	t.Helper()
	s, err := d.Settle(o, usual, now)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func kindsOf(events []Event) []EventKind {
	var kinds []EventKind
	for _, e := range events {
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

func same(a, b *uuid.UUID) bool { return a == b || a != nil && b != nil && *a == *b }

var (
	monthly   = Terms{PriceMinor: 2999, Currency: "EUR", BillingType: Recurring, Frequency: Monthly}
	freeTrial = Terms{PriceMinor: 2999, Currency: "EUR", BillingType: TrialRecurring, Frequency: Monthly, TrialUnit: TrialDay, TrialPeriod: 14}
)

func paidTrial(due Minor) Terms {
	terms := freeTrial
	terms.TrialMinor = &due
	return terms
}
