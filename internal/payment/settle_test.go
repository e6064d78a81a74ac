package payment

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

var verdicts = []Verdict{VerdictApproved, VerdictPending, VerdictVerify, VerdictDeclined, VerdictUnsent, VerdictLost}

// effect is what a settlement shows to everyone.
type effect struct {
	session SessionStatus
	order   OrderStatus
	tx      TransactionStatus
	result  ResultStatus
	used    int // attempts, after the first one was counted
}

// wantEffects is keyed by phase, verdict and whether attempts are left.
var wantEffects = map[string]effect{
	"submit approved left":              {SessionCompleted, OrderCompleted, TransactionApproved, ResultCompleted, 1},
	"submit approved none":              {SessionCompleted, OrderCompleted, TransactionApproved, ResultCompleted, 1},
	"submit pending left":               {SessionCompleted, OrderPending, TransactionPending, ResultCompleted, 1},
	"submit pending none":               {SessionCompleted, OrderPending, TransactionPending, ResultCompleted, 1},
	"submit verification_required left": {SessionAwaiting, OrderPending, TransactionPending, ResultAwaiting, 1},
	"submit verification_required none": {SessionAwaiting, OrderPending, TransactionPending, ResultAwaiting, 1},
	"submit declined left":              {SessionPending, OrderFailed, TransactionDeclined, ResultDeclined, 1},
	"submit declined none":              {SessionFailed, OrderFailed, TransactionDeclined, ResultFailed, 1},
	"submit unsent left":                {SessionPending, OrderFailed, TransactionDeclined, ResultDeclined, 0},
	"submit unsent none":                {SessionPending, OrderFailed, TransactionDeclined, ResultDeclined, 0},
	"submit lost left":                  {SessionPending, OrderFailed, TransactionDeclined, ResultDeclined, 1},
	"submit lost none":                  {SessionFailed, OrderFailed, TransactionDeclined, ResultFailed, 1},

	"verify approved left":              {SessionCompleted, OrderCompleted, TransactionApproved, ResultCompleted, 1},
	"verify approved none":              {SessionCompleted, OrderCompleted, TransactionApproved, ResultCompleted, 1},
	"verify pending left":               {SessionCompleted, OrderPending, TransactionPending, ResultCompleted, 1},
	"verify pending none":               {SessionCompleted, OrderPending, TransactionPending, ResultCompleted, 1},
	"verify verification_required left": {SessionAwaiting, OrderPending, TransactionPending, "", 1},
	"verify verification_required none": {SessionAwaiting, OrderPending, TransactionPending, "", 1},
	"verify declined left":              {SessionPending, OrderFailed, TransactionDeclined, ResultFailed, 1},
	"verify declined none":              {SessionFailed, OrderFailed, TransactionDeclined, ResultFailed, 1},
	"verify unsent left":                {SessionAwaiting, OrderPending, TransactionPending, "", 1},
	"verify unsent none":                {SessionAwaiting, OrderPending, TransactionPending, "", 1},
	"verify lost left":                  {SessionAwaiting, OrderPending, TransactionPending, "", 1},
	"verify lost none":                  {SessionAwaiting, OrderPending, TransactionPending, "", 1},

	"expire approved left":              {SessionCompleted, OrderCompleted, TransactionApproved, ResultCompleted, 1},
	"expire approved none":              {SessionCompleted, OrderCompleted, TransactionApproved, ResultCompleted, 1},
	"expire pending left":               {SessionCompleted, OrderPending, TransactionPending, ResultCompleted, 1},
	"expire pending none":               {SessionCompleted, OrderPending, TransactionPending, ResultCompleted, 1},
	"expire verification_required left": {SessionExpired, OrderFailed, TransactionDeclined, "", 1},
	"expire verification_required none": {SessionExpired, OrderFailed, TransactionDeclined, "", 1},
	"expire declined left":              {SessionExpired, OrderFailed, TransactionDeclined, "", 1},
	"expire declined none":              {SessionExpired, OrderFailed, TransactionDeclined, "", 1},
	"expire unsent left":                {SessionAwaiting, OrderPending, TransactionPending, "", 1},
	"expire unsent none":                {SessionAwaiting, OrderPending, TransactionPending, "", 1},
	"expire lost left":                  {SessionExpired, OrderFailed, TransactionDeclined, "", 1},
	"expire lost none":                  {SessionExpired, OrderFailed, TransactionDeclined, "", 1},
}

func TestSettle(t *testing.T) {
	t.Parallel()
	terms := map[string]Terms{"one-off": {PriceMinor: 2999, Currency: "EUR", BillingType: OneOff}, "recurring": monthly, "free trial": freeTrial}
	for kind, purchase := range terms {
		for _, phase := range []Phase{PhaseSubmit, PhaseVerify, PhaseExpire} {
			for _, verdict := range verdicts {
				for most, left := range map[int]string{1: "none", 3: "left"} {
					for _, final := range []bool{false, true} {
						key := fmt.Sprintf("%s %s %s", phase, verdict, left)
						if final && verdict == VerdictDeclined {
							key = fmt.Sprintf("%s %s none", phase, verdict)
						}
						t.Run(fmt.Sprintf("%s %s %s %s final=%t", kind, phase, verdict, left, final), func(t *testing.T) {
							t.Parallel()
							p, now := inPhase(t, phase, withTerms(purchase), withMaxAttempts(most))
							o := Outcome{Verdict: verdict, Final: final, GatewayReference: "GW-7"}
							s := settle(t, p, o, now)
							if isKept := s.Transaction.GatewayReference == "GW-7"; isKept == p.IsDeniedBy(o) { // a denial names nothing
								t.Errorf("the gateway's reference is %q", s.Transaction.GatewayReference)
							}
							want, known := wantEffects[key]
							got := effect{s.Session.Status, s.Order.Status, s.Transaction.Status, s.Result, s.Session.AttemptsUsed}
							if !known || got != want {
								t.Errorf("got %+v\nwant %+v", got, want)
							}
							checkSettled(t, p, s, now)
						})
					}
				}
			}
		}
	}
}

// checkSettled checks what holds after every outcome.
func checkSettled(t *testing.T, before Debit, s Change, now time.Time) {
	t.Helper()
	collected := s.Session.Status == SessionCompleted
	declined := s.Transaction.Status == TransactionDeclined
	if s.Session.InFlight() || s.Transaction.Attempt != (Attempt{Number: before.Transaction.Attempt.Number}) {
		t.Error("the attempt is still open")
	}
	if !before.Session.InFlight() || before.Transaction.Attempt.Phase == PhaseNone || before.Subscription != nil {
		t.Error("the caller's purchase was changed")
	}
	if s.Session.HoldsLead != (s.Session.Status == SessionPending || s.Session.Status == SessionAwaiting) {
		t.Errorf("holds the lead %t in %s", s.Session.HoldsLead, s.Session.Status)
	}
	if (s.Transaction.Decline != nil) != declined {
		t.Errorf("decline is %v on %s", s.Transaction.Decline, s.Transaction.Status)
	}
	// A payment that was never sent gives its attempt back, and was not processed.
	processed := (collected || declined) && s.Session.AttemptsUsed == before.Session.AttemptsUsed
	if s.Transaction.ProcessedAt.Equal(now) != processed || s.Transaction.ProcessedAt.IsZero() == processed {
		t.Errorf("processed at %s", s.Transaction.ProcessedAt)
	}
	if s.Transaction.SettleDueAt.IsZero() == (collected && s.Transaction.Status == TransactionPending) {
		t.Errorf("settlement is due at %s on %s", s.Transaction.SettleDueAt, s.Transaction.Status)
	}
	if (s.Subscription != nil) != (collected && s.Session.Terms.StartsSubscription()) {
		t.Errorf("subscription is %v", s.Subscription)
	}
	if s.Subscription != nil && (s.Transaction.SubscriptionID == nil || *s.Transaction.SubscriptionID != s.Subscription.ID) {
		t.Error("the transaction does not name its subscription")
	}
	var want []EventKind
	if collected {
		want = []EventKind{EventTransactionCreated, EventSessionCompleted}
	}
	if got := kindsOf(s.Events); !slices.Equal(got, want) {
		t.Errorf("events are %v, want %v", got, want)
	}
}

func TestSettleDetails(t *testing.T) {
	t.Parallel()
	t.Run("a settled attempt is not settled again", func(t *testing.T) {
		t.Parallel()
		s := settle(t, submitted(t), Outcome{Verdict: VerdictApproved}, noon)
		if _, err := s.Debit.Settle(Outcome{Verdict: VerdictApproved}, usual, noon); err == nil {
			t.Error("it was")
		}
	})
	t.Run("an unknown verdict is refused", func(t *testing.T) {
		t.Parallel()
		if _, err := submitted(t).Settle(Outcome{Verdict: "maybe"}, usual, noon); err == nil {
			t.Error("it was taken")
		}
	})
	t.Run("an ended session cannot be collected", func(t *testing.T) {
		t.Parallel()
		for _, status := range []SessionStatus{SessionCompleted, SessionFailed, SessionExpired} {
			p := submitted(t)
			p.Session.Status = status
			if _, err := p.Settle(Outcome{Verdict: VerdictApproved}, usual, noon); err == nil {
				t.Errorf("%s was", status)
			}
		}
	})
	t.Run("events are known by what they report", func(t *testing.T) {
		t.Parallel()
		s := settle(t, submitted(t), Outcome{Verdict: VerdictApproved}, noon)
		if s.Events[0].Key != "transaction.created:"+s.Transaction.ID.String() || s.Events[1].Key != "payment_session.completed:"+s.Session.ID.String() {
			t.Errorf("keys are %q and %q", s.Events[0].Key, s.Events[1].Key)
		}
		if s.Events[0].ID == s.Events[1].ID {
			t.Error("two events share an id")
		}
	})
	t.Run("an answer without a reference keeps the one there is", func(t *testing.T) {
		t.Parallel()
		p := submitted(t)
		p.Transaction.GatewayReference = "GW-1"
		if s := settle(t, p, Outcome{Verdict: VerdictApproved}, noon); s.Transaction.GatewayReference != "GW-1" {
			t.Errorf("it is %q", s.Transaction.GatewayReference)
		}
	})
	t.Run("verification is kept for the payer and the verify call", func(t *testing.T) {
		t.Parallel()
		p := awaiting(t)
		if p.Transaction.VerificationURL != "https://bank.example/v" || p.Transaction.VerificationReference != "V1" || !p.Transaction.ProcessedAt.IsZero() {
			t.Errorf("transaction is %q %q", p.Transaction.VerificationURL, p.Transaction.VerificationReference)
		}
	})
	t.Run("a pending payment is asked about when its gateway says, else a day later", func(t *testing.T) {
		t.Parallel()
		at := noon.Add(5 * time.Hour)
		if s := settle(t, submitted(t), Outcome{Verdict: VerdictPending, SettlesAt: at}, noon); !s.Transaction.SettleDueAt.Equal(at) {
			t.Errorf("said: %s", s.Transaction.SettleDueAt)
		}
		if s := settle(t, submitted(t), Outcome{Verdict: VerdictPending}, noon); !s.Transaction.SettleDueAt.Equal(noon.Add(24 * time.Hour)) {
			t.Errorf("not said: %s", s.Transaction.SettleDueAt)
		}
	})
}

func TestLeadIsLetGo(t *testing.T) {
	t.Parallel()
	t.Run("a decline after the session's time lets the lead go", func(t *testing.T) {
		t.Parallel()
		s := settle(t, submitted(t), Outcome{Verdict: VerdictDeclined}, noon.Add(2*time.Hour))
		if s.Session.HoldsLead || s.Session.StatusAt(noon.Add(2*time.Hour)) != SessionExpired {
			t.Errorf("status %s, holds %t", s.Session.Status, s.Session.HoldsLead)
		}
		if s.Result != ResultFailed || s.Session.AttemptsRemaining() == 0 {
			t.Errorf("the payer is told %s, with %d attempts left", s.Result, s.Session.AttemptsRemaining())
		}
	})
	t.Run("a session that had let its lead go does not take it back", func(t *testing.T) {
		t.Parallel()
		p := submitted(t, func(s *Session) { s.HoldsLead = false })
		if s := settle(t, p, Outcome{Verdict: VerdictDeclined}, noon); s.Session.HoldsLead {
			t.Error("it did, and another session may have the lead by now")
		}
	})
}

func TestAttemptsAreCounted(t *testing.T) {
	t.Parallel()
	t.Run("a payment that surely was not sent can be repeated for ever", func(t *testing.T) {
		t.Parallel()
		s := settle(t, submitted(t, withMaxAttempts(1)), Outcome{Verdict: VerdictUnsent}, noon)
		for range 5 {
			p, err := Begin(*s.Session, aLead(*s.Session), s.Order, aSubmission(t), noon)
			if err != nil {
				t.Fatal(err)
			}
			s = settle(t, p.Debit, Outcome{Verdict: VerdictUnsent}, noon)
		}
		if s.Session.AttemptsRemaining() != 1 || s.Result != ResultDeclined {
			t.Errorf("%d left, %s", s.Session.AttemptsRemaining(), s.Result)
		}
	})
	t.Run("three declines use three attempts up", func(t *testing.T) {
		t.Parallel()
		s := settle(t, submitted(t), Outcome{Verdict: VerdictDeclined}, noon)
		for range 2 {
			p, err := Begin(*s.Session, aLead(*s.Session), s.Order, aSubmission(t), noon)
			if err != nil {
				t.Fatal(err)
			}
			s = settle(t, p.Debit, Outcome{Verdict: VerdictDeclined}, noon)
		}
		if s.Session.Status != SessionFailed || s.Result != ResultFailed || s.Transaction.Attempt.Number != 3 {
			t.Errorf("%s %s, attempt %d", s.Session.Status, s.Result, s.Transaction.Attempt.Number)
		}
	})
}

func TestDeclineReasons(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name    string
		phase   Phase
		outcome Outcome
		code    DeclineCode
		words   string
	}{
		{"the gateway's own words", PhaseSubmit, Outcome{Verdict: VerdictDeclined, Decline: Decline{Code: InsufficientFunds, Message: "No money"}}, InsufficientFunds, "No money"},
		{"our words where it has none", PhaseSubmit, Outcome{Verdict: VerdictDeclined, Decline: Decline{Code: AccountClosed}}, AccountClosed, declineMessages[AccountClosed]},
		{"no code is unknown", PhaseSubmit, Outcome{Verdict: VerdictDeclined}, DeclineUnknown, declineMessages[DeclineUnknown]},
		{"not sent is unavailable, whatever was said", PhaseSubmit, Outcome{Verdict: VerdictUnsent, Decline: Decline{Code: DoNotHonor}}, GatewayUnavailable, declineMessages[GatewayUnavailable]},
		{"lost is unavailable", PhaseSubmit, Outcome{Verdict: VerdictLost}, GatewayUnavailable, "The payment provider never received the payment."},
		{"rejected on verification", PhaseVerify, Outcome{Verdict: VerdictDeclined, Decline: Decline{Code: MandateRejected}}, MandateRejected, declineMessages[MandateRejected]},
		{"not verified in time", PhaseExpire, Outcome{Verdict: VerdictVerify}, MandateRejected, "The mandate was not verified in time."},
		{"refused when asked at the end", PhaseExpire, Outcome{Verdict: VerdictDeclined, Decline: Decline{Code: InvalidIBAN}}, InvalidIBAN, declineMessages[InvalidIBAN]},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, now := inPhase(t, c.phase)
			why := settle(t, p, c.outcome, now).Transaction.Decline
			if why.Code != c.code || why.Words() != c.words {
				t.Errorf("got %s %q", why.Code, why.Words())
			}
		})
	}
	t.Run("every code has words, and three are hard", func(t *testing.T) {
		t.Parallel()
		hard := 0
		for _, code := range DeclineCodes() {
			if (Decline{Code: code}).Words() == "" {
				t.Errorf("%s has none", code)
			}
			if code.Hard() {
				hard++
			}
		}
		if hard != 3 || !AccountClosed.Hard() || !MandateRejected.Hard() || !InvalidIBAN.Hard() {
			t.Errorf("%d are hard", hard)
		}
	})
}
