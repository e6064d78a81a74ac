package payment

import (
	"slices"
	"testing"
	"time"
)

// optIn are the events of a change that are told to those alone who ask for them.
func optIn(c Change) (kinds []EventKind) {
	for _, e := range c.News()[len(c.Events):] {
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

func TestNewsOfASession(t *testing.T) {
	t.Parallel()
	final := Outcome{Verdict: VerdictDeclined, Final: true}
	unverified, late := inPhase(t, PhaseExpire)
	for name, test := range map[string]struct {
		change Change
		want   []EventKind
	}{
		"paid":                 {settle(t, submitted(t), Outcome{Verdict: VerdictApproved}, noon), nil},
		"refused, to be tried": {settle(t, submitted(t), noMoney, noon), nil},
		"refused for good":     {settle(t, submitted(t), final, noon), []EventKind{EventSessionFailed}},
		"never verified":       {settle(t, unverified, Outcome{Verdict: VerdictVerify}, late), []EventKind{EventSessionExpired}},
	} {
		got := optIn(test.change)
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
		for _, e := range test.change.News()[len(test.change.Events):] {
			if e.Key != string(e.Kind)+":"+test.change.Session.ID.String() {
				t.Errorf("%s: the key is %s", name, e.Key)
			}
		}
	}
}

func TestNewsOfASubscription(t *testing.T) {
	t.Parallel()
	sub, first := subscribed(t, monthly)
	bought := settle(t, submitted(t, withTerms(monthly)), Outcome{Verdict: VerdictApproved}, noon)
	renewed := rebill(t, sub, first, "2026-04-30", collected)
	refused := rebill(t, sub, first, "2026-04-30", noMoney)
	ended := rebill(t, sub, first, "2026-04-30", Outcome{Verdict: VerdictDeclined, Decline: Decline{Code: "AC04"}, Final: true})
	for name, test := range map[string]struct {
		change Change
		want   string
	}{
		"bought":            {bought, "subscription.created:" + bought.Subscription.ID.String()},
		"billed":            {renewed, "subscription.renewed:" + renewed.Transaction.ID.String()},
		"refused":           {refused, "subscription.past_due:" + refused.Transaction.ID.String() + ":1"},
		"refused once more": {Change{Debit: refused.Debit, Before: refused.Debit}, ""},
		"ended":             {ended, "subscription.cancelled:" + ended.Subscription.ID.String()},
	} {
		news := test.change.News()[len(test.change.Events):]
		switch {
		case test.want == "" && len(news) > 0, test.want != "" && (len(news) != 1 || news[0].Key != test.want):
			t.Errorf("%s: %+v, want %s", name, news, test.want)
		case len(news) > 0 && news[0].TransactionID != test.change.Transaction.ID:
			t.Errorf("%s: it is told of transaction %s", name, news[0].TransactionID)
		}
	}
}

func TestNewsOfASteeredSubscription(t *testing.T) {
	t.Parallel()
	profile := NewID()
	before := january(t)
	before.WebhookProfileID = &profile
	now := on(t, "2026-02-10")
	paused, err := PauseSubscription(before, now)
	if err != nil {
		t.Fatal(err)
	}
	c := SubscriptionChange(before, paused)
	if news := c.News(); len(news) != 1 || news[0].Key != "subscription.changed:"+before.ID.String()+":1770681600000000" {
		t.Errorf("paused: %+v", news)
	}
	if !same(c.WebhookProfileID, &profile) {
		t.Error("nobody would be told")
	}
	lapsed := before
	lapsed.Status, lapsed.CancelReason, lapsed.SteeredAt = SubscriptionCancelled, CancelledByLapse, now
	if got := optIn(SubscriptionChange(before, lapsed)); !slices.Equal(got, []EventKind{EventMandateLapsed, EventSubscriptionCancelled}) {
		t.Errorf("lapsed: %v", got)
	}
}

func TestTheEndOfASessionThatNobodyPaid(t *testing.T) {
	t.Parallel()
	reference, profile := "order-7", NewID()
	before := aSession(withTerms(monthly), func(s *Session) { s.TenantReferenceID, s.WebhookProfileID = &reference, &profile })
	expired, err := Expire(before, noon.Add(2*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	order, lead := Order{ID: NewID()}, aLead(before)
	c := SessionChange(before, expired, lead, &order)
	if got := optIn(c); !slices.Equal(got, []EventKind{EventSessionExpired}) {
		t.Errorf("told are %v", got)
	}
	if c.Order != &order || c.Before.Order != &order || !same(c.WebhookProfileID, &profile) {
		t.Errorf("order %v, before %v, profile %v", c.Order, c.Before.Order, c.WebhookProfileID)
	}
	told := c.Transaction
	if told.AmountMinor != 2999 || told.Currency != "EUR" || told.Email != lead.Email || !same(told.LeadID, &before.LeadID) ||
		told.TenantReferenceID != &reference || told.MandateReference != before.MandateReference {
		t.Errorf("it is told of %s %s of %s, reference %v, mandate %s", told.AmountMinor, told.Currency, told.Email, told.TenantReferenceID, told.MandateReference)
	}
}

func TestEventsThatAreKeptUnasked(t *testing.T) {
	t.Parallel()
	kept := map[EventKind]bool{
		EventSessionCompleted: true, EventTransactionCreated: true, EventTransactionStatusChanged: true, EventChargebackCreated: true,
		EventCollectionAnnounced: true,
	}
	for _, kind := range EventKinds {
		if kind.IsKept() != kept[kind] {
			t.Errorf("%s is kept: %t", kind, kind.IsKept())
		}
	}
}

func TestMetadataIsAnObject(t *testing.T) {
	t.Parallel()
	for want, pairs := range map[string]map[string]string{
		"{}":                nil,
		`{"a":"1","b":"2"}`: {"b": "2", "a": "1"},
	} {
		m := NewMetadata(pairs)
		if string(m.JSON()) != want || (m == "") != (pairs == nil) {
			t.Errorf("%v is written as %q, %s", pairs, m, m.JSON())
		}
	}
}
