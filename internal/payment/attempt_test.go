package payment

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestBegin(t *testing.T) {
	t.Parallel()
	t.Run("records the attempt before the gateway is called", func(t *testing.T) {
		t.Parallel()
		s, sub := aSession(), aSubmission(t)
		reference := "order-17"
		sub.TenantReferenceID, sub.Source = &reference, SourceHostedPage
		p, err := Begin(s, aLead(s), nil, sub, noon)
		if err != nil {
			t.Fatal(err)
		}
		tx := p.Transaction
		if tx.Status != TransactionPending || tx.Type != Sale || tx.AmountMinor != 2999 || tx.Currency != "EUR" || tx.SequenceType != SequenceFirst {
			t.Errorf("transaction is %s %s %s %s %s", tx.Status, tx.Type, tx.AmountMinor, tx.Currency, tx.SequenceType)
		}
		if tx.Attempt != (Attempt{Number: 1, Phase: PhaseSubmit}) || !tx.ProcessedAt.IsZero() || tx.Decline != nil || tx.GatewayReference != "" {
			t.Errorf("attempt is %+v", tx.Attempt)
		}
		if tx.TenantID != s.TenantID || tx.GatewayID != s.GatewayID || *tx.SessionID != s.ID || *tx.LeadID != s.LeadID || *tx.OrderID != p.Order.ID || tx.SubscriptionID != nil {
			t.Error("a relation is wrong")
		}
		if *tx.TenantReferenceID != reference || tx.Source != SourceHostedPage || tx.MandateReference != s.MandateReference || !tx.MandateAt.Equal(noon) {
			t.Error("a fact of the submission is missing")
		}
		if tx.IBANLast4() != "3000" || tx.IBANCountry != "DE" || tx.BIC != "COBADEFFXXX" || tx.BankName != "Commerzbank" || tx.HolderName != "Anna Muster" || tx.Email != "Anna@example.org" {
			t.Error("a fact of the account is missing")
		}
		if strings.Trim(tx.MaskedIBAN[:len(tx.MaskedIBAN)-4], "*") != "" {
			t.Error("the account is not masked")
		}
	})
	t.Run("marks the session in flight and counts the attempt", func(t *testing.T) {
		t.Parallel()
		p := submitted(t)
		if !p.Session.InFlight() || !same(p.Session.OpenTransactionID, &p.Transaction.ID) || !same(p.Session.LastTransactionID, &p.Transaction.ID) {
			t.Error("the open attempt is not named")
		}
		if p.Session.Status != SessionPending || p.Session.AttemptsUsed != 1 || p.Session.AttemptsRemaining() != 2 || !p.Session.HoldsLead {
			t.Errorf("session is %s with %d used", p.Session.Status, p.Session.AttemptsUsed)
		}
	})
	t.Run("refuses a session that is not payable", func(t *testing.T) {
		t.Parallel()
		s := *submitted(t).Session
		if _, err := Begin(s, aLead(s), nil, aSubmission(t), noon); KindOf(err) != Conflict {
			t.Errorf("got %v", err)
		}
	})
}

func TestBeginOrder(t *testing.T) {
	t.Parallel()
	t.Run("makes the order with the first attempt", func(t *testing.T) {
		t.Parallel()
		p := submitted(t)
		if p.Order.Status != OrderSubmitting || p.Order.SessionID != p.Session.ID || !strings.HasPrefix(p.Order.Number, "ORD-") {
			t.Errorf("order is %+v", p.Order)
		}
	})
	t.Run("keeps the order for the next attempt", func(t *testing.T) {
		t.Parallel()
		first := settle(t, submitted(t), Outcome{Verdict: VerdictDeclined}, noon)
		later := noon.Add(time.Minute)
		p, err := Begin(*first.Session, aLead(*first.Session), first.Order, aSubmission(t), later)
		if err != nil {
			t.Fatal(err)
		}
		if p.Order.ID != first.Order.ID || p.Order.Number != first.Order.Number || p.Order.Status != OrderSubmitting || !p.Order.CreatedAt.Equal(noon) || !p.Order.UpdatedAt.Equal(later) {
			t.Errorf("order is %+v", p.Order)
		}
		if first.Order.Status != OrderFailed {
			t.Error("the caller's order was changed")
		}
		if p.Transaction.ID == first.Transaction.ID || p.Transaction.Attempt.Number != 2 || p.Transaction.MerchantTransactionID == first.Transaction.MerchantTransactionID {
			t.Error("the second attempt is no transaction of its own")
		}
	})
	t.Run("refuses an order that is not waiting for another attempt", func(t *testing.T) {
		t.Parallel()
		for _, status := range []OrderStatus{OrderSubmitting, OrderPending, OrderCompleted, OrderRefunded, OrderChargedBack} {
			s := aSession()
			if _, err := Begin(s, aLead(s), &Order{ID: NewID(), Status: status}, aSubmission(t), noon); KindOf(err) != Conflict {
				t.Errorf("an order in %s: %v", status, err)
			}
		}
	})
}

func TestFirstAmount(t *testing.T) {
	t.Parallel()
	zero := Minor(0)
	free := freeTrial
	free.TrialMinor = &zero
	cases := []struct {
		name     string
		terms    Terms
		amount   Minor
		kind     TransactionType
		sequence SequenceType
	}{
		{"a one-off purchase collects its price", Terms{PriceMinor: 500, BillingType: OneOff}, 500, Sale, SequenceFirst},
		{"a recurring purchase collects its price", monthly, 2999, Sale, SequenceFirst},
		{"a paid trial collects the trial price", paidTrial(100), 100, Sale, SequenceFirst},
		{"a trial without a price sets up the mandate only", freeTrial, 0, Mandate, ""},
		{"a trial for nothing sets up the mandate only", free, 0, Mandate, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tx := submitted(t, withTerms(c.terms)).Transaction
			if tx.AmountMinor != c.amount || tx.Type != c.kind || tx.SequenceType != c.sequence {
				t.Errorf("got %s %s %q", tx.AmountMinor, tx.Type, tx.SequenceType)
			}
		})
	}
}

func TestBeginVerifyAndExpire(t *testing.T) {
	t.Parallel()
	t.Run("verify opens its question on the same transaction", func(t *testing.T) {
		t.Parallel()
		before := awaiting(t)
		before.Transaction.Attempt.LookupCount = 4
		p, err := before.BeginVerify(noon.Add(time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		if p.Transaction.Attempt != (Attempt{Number: 1, Phase: PhaseVerify}) || !same(p.Session.OpenTransactionID, &before.Transaction.ID) {
			t.Errorf("attempt is %+v", p.Transaction.Attempt)
		}
		if p.Session.AttemptsUsed != 1 || p.Session.Status != SessionAwaiting {
			t.Error("verifying must not count as an attempt")
		}
	})
	t.Run("a second verify is refused while the first runs", func(t *testing.T) {
		t.Parallel()
		p, now := inPhase(t, PhaseVerify)
		if _, err := p.BeginVerify(now); KindOf(err) != Conflict {
			t.Errorf("got %v", err)
		}
	})
	t.Run("expire asks only once the time has run out", func(t *testing.T) {
		t.Parallel()
		p := awaiting(t)
		if _, err := p.BeginExpire(p.Session.ExpiresAt.Add(-time.Microsecond)); KindOf(err) != Conflict {
			t.Errorf("a moment too early: %v", err)
		}
		opened, err := p.BeginExpire(p.Session.ExpiresAt)
		if err != nil || opened.Transaction.Attempt.Phase != PhaseExpire || !opened.Session.InFlight() {
			t.Errorf("when it is due: %+v, %v", opened.Transaction.Attempt, err)
		}
		if _, err := opened.BeginExpire(p.Session.ExpiresAt); KindOf(err) != Conflict {
			t.Errorf("a second time: %v", err)
		}
	})
	t.Run("expire asks nothing about a session that does not await", func(t *testing.T) {
		t.Parallel()
		for _, status := range sessionStatuses {
			if status == SessionAwaiting {
				continue
			}
			p := awaiting(t)
			p.Session.Status = status
			if _, err := p.BeginExpire(noon.Add(48 * time.Hour)); KindOf(err) != Conflict {
				t.Errorf("%s: %v", status, err)
			}
		}
	})
}

func TestPersonsStayOutOfPrints(t *testing.T) {
	t.Parallel()
	p := submitted(t)
	sub := aSubmission(t)
	for _, text := range []string{
		p.Transaction.String(), aLead(*p.Session).String(), sub.Instrument.String(), Chargeback{Email: "anna@example.org"}.String(),
	} {
		if slices.ContainsFunc([]string{"Anna", "Muster", "anna@", "DE8937"}, func(s string) bool { return strings.Contains(text, s) }) {
			t.Errorf("%q shows a person", text)
		}
	}
}

func TestErrGoneIsOneValue(t *testing.T) {
	t.Parallel()
	s := aSession(func(s *Session) { s.Status = SessionFailed })
	if _, err := Begin(s, aLead(s), nil, aSubmission(t), noon); !errors.Is(err, ErrGone) {
		t.Errorf("got %v", err)
	}
}
