package checkout_test

import (
	"testing"

	"sepad/internal/checkout/checkouttest"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store/storetest"
)

// TestWhereASessionStands asks after every answer that a payment can have, as a merchant does whose own answer was lost.
func TestWhereASessionStands(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		for _, c := range []struct {
			name     string
			pays     []payment.Outcome
			result   payment.ResultStatus
			session  payment.SessionStatus
			mayRetry string
		}{
			{"nobody has paid", nil, "", payment.SessionPending, "unasked"},
			{"it is paid", []payment.Outcome{approved}, payment.ResultCompleted, payment.SessionCompleted, "unasked"},
			{"it was refused", []payment.Outcome{declined}, payment.ResultDeclined, payment.SessionPending, "yes"},
			{"it is paid at the second try", []payment.Outcome{declined, approved}, payment.ResultCompleted, payment.SessionCompleted, "unasked"},
			{"it was refused as often as may be", []payment.Outcome{declined, declined, declined}, payment.ResultFailed, payment.SessionFailed, "no"},
		} {
			t.Run(c.name, func(t *testing.T) {
				found := till.Session(t)
				for _, outcome := range c.pays {
					till.Gateway.Answer(outcome)
					if _, err := till.Pay(t.Context(), till.Payment(found)); err != nil {
						t.Fatal(err)
					}
				}
				for _, name := range []string{found.Session.Token, found.Session.ID.String()} {
					stands, err := till.Standing(t.Context(), till.Shop.ID, name)
					if err != nil || stands.Status != c.result || stands.SessionStatus != c.session || len(stands.Attempts) != len(c.pays) {
						t.Fatalf("%q in a session that is %s after %d attempts: %v", stands.Status, stands.SessionStatus, len(stands.Attempts), err)
					}
					if n := len(stands.Attempts); n > 0 && stands.Transaction.ID != stands.Attempts[n-1].ID {
						t.Errorf("the latest attempt is %s, of %v", stands.Transaction.ID, stands.Attempts)
					}
					mayRetry := "unasked"
					if stands.RetryAllowed != nil {
						mayRetry = map[bool]string{true: "yes", false: "no"}[*stands.RetryAllowed]
					}
					if mayRetry != c.mayRetry {
						t.Errorf("whether it may be tried again: %s, want %s", mayRetry, c.mayRetry)
					}
				}
				if _, err := till.Standing(t.Context(), till.NewShop(t).ID, found.Session.ID.String()); payment.KindOf(err) != payment.NotFound {
					t.Errorf("another merchant gets %v", err)
				}
			})
		}
	})
}

func TestASessionWhoseOutcomeIsUnknownSaysSo(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		open := till.Unknown(t)
		stands, err := till.Standing(t.Context(), till.Shop.ID, open.Session.Token)
		if err != nil || stands.Status != "" || stands.SessionStatus != payment.SessionPending || len(stands.Attempts) != 1 || stands.Transaction.ID != open.Transaction.ID {
			t.Errorf("%q of a session that is %s, attempts %v: %v", stands.Status, stands.SessionStatus, stands.Attempts, err)
		}
		till.Gateway.Answer(approved)
		till.World.Pass(silence)
		if _, err := till.RunLookups(t.Context()); err != nil {
			t.Fatal(err)
		}
		stands, err = till.Standing(t.Context(), till.Shop.ID, open.Session.Token)
		if err != nil || stands.Status != payment.ResultCompleted || stands.SessionStatus != payment.SessionCompleted {
			t.Errorf("once it is known: %q of a session that is %s: %v", stands.Status, stands.SessionStatus, err)
		}
	})
}

// TestASessionWhoseAccountCannotBeUsedIsNotEmpty: its merchant would take it for one that nobody has paid.
func TestASessionWhoseAccountCannotBeUsedIsNotEmpty(t *testing.T) {
	t.Parallel()
	till := checkouttest.Open(t, storetest.SQLite(t))
	paid := till.Paid(t, approved)
	till.SetGateway(t, till.Shop, func(a *merchant.GatewayAccount) { a.Adapter = "of a later version" })
	if stands, err := till.Standing(t.Context(), till.Shop.ID, paid.Session.Token); err == nil {
		t.Errorf("it stands at %q, %q", stands.SessionStatus, stands.Status)
	}
}

// TestASessionThatIsSettledWhileItIsReadIsReadAgain: what was read of it belongs to two moments.
func TestASessionThatIsSettledWhileItIsReadIsReadAgain(t *testing.T) {
	t.Parallel()
	till := checkouttest.Open(t, storetest.SQLite(t))
	open := till.Unknown(t)
	meanwhile(till, func() { hear(t, till, noticeOf(open, approved)) })
	stands, err := till.Standing(t.Context(), till.Shop.ID, open.Session.Token)
	if err != nil || stands.Status != payment.ResultCompleted || stands.SessionStatus != payment.SessionCompleted || len(stands.Attempts) != 1 {
		t.Errorf("%q of a session that is %s, %d attempts: %v", stands.Status, stands.SessionStatus, len(stands.Attempts), err)
	}
}
