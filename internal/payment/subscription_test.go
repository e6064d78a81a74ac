package payment

import "testing"

func TestSubscribe(t *testing.T) {
	t.Parallel()
	trial := func(unit TrialUnit, period int, frequency BillingFrequency) Terms {
		terms := paidTrial(100)
		terms.TrialUnit, terms.TrialPeriod, terms.Frequency = unit, period, frequency
		return terms
	}
	without := monthly
	without.Frequency = ""
	cases := []struct {
		name                string
		terms               Terms
		anchor, next, trial string
		revenue             Minor
	}{
		{"monthly from the 31st is next due on the 30th", monthly, "2026-03-31", "2026-04-30", "", 2999},
		{"a trial of days is due when it ends", trial(TrialDay, 14, Monthly), "2026-04-14", "2026-04-14", "2026-04-14", 100},
		{"a trial of weeks", trial(TrialWeek, 2, Weekly), "2026-04-14", "2026-04-14", "2026-04-14", 100},
		{"a trial of months stays within the month it reaches", trial(TrialMonth, 1, Yearly), "2026-04-30", "2026-04-30", "2026-04-30", 100},
		{"a free trial has earned nothing", freeTrial, "2026-04-14", "2026-04-14", "2026-04-14", 0},
		{"without a frequency nothing is due", without, "2026-03-31", "", "", 2999},
		{"a trial without a frequency ends and nothing is due", trial(TrialDay, 1, ""), "2026-04-01", "", "2026-04-01", 100},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := settle(t, submitted(t, withTerms(c.terms)), Outcome{Verdict: VerdictApproved}, noon)
			sub := s.Subscription
			if sub.AnchorDate.String() != c.anchor || sub.NextBillingDate.String() != c.next || sub.TrialEndDate.String() != c.trial {
				t.Errorf("anchor %s, next %s, trial end %s", sub.AnchorDate, sub.NextBillingDate, sub.TrialEndDate)
			}
			if sub.RevenueMinor != c.revenue || sub.AmountMinor != 2999 || sub.Status != SubscriptionActive {
				t.Errorf("%s with %s of %s", sub.Status, sub.RevenueMinor, sub.AmountMinor)
			}
			if sub.SuccessfulCount != 0 || sub.FailedCount != 0 || sub.LastBilledAt.IsZero() != (c.revenue == 0) || !sub.CancelledAt.IsZero() || !sub.StartedAt.Equal(noon) {
				t.Errorf("billing has begun: %+v", sub)
			}
			if !sub.CreatedAt.Equal(noon) || !sub.UpdatedAt.Equal(noon) {
				t.Errorf("made at %s, changed at %s", sub.CreatedAt, sub.UpdatedAt)
			}
		})
	}
	t.Run("takes its relations and mandate from the session", func(t *testing.T) {
		t.Parallel()
		offer, campaign, profile := NewID(), NewID(), NewID()
		s := settle(t, submitted(t, withTerms(monthly), func(s *Session) {
			s.OfferID, s.CampaignID, s.WebhookProfileID = &offer, &campaign, &profile
		}), Outcome{Verdict: VerdictPending}, noon)
		sub := s.Subscription
		if sub.TenantID != s.Session.TenantID || sub.SessionID != s.Session.ID || sub.OrderID != s.Order.ID || sub.LeadID != s.Session.LeadID ||
			sub.GatewayID != s.Session.GatewayID || !same(sub.OfferID, &offer) || !same(sub.CampaignID, &campaign) || !same(sub.WebhookProfileID, &profile) {
			t.Errorf("subscription is %+v", sub)
		}
		if sub.MandateReference != s.Session.MandateReference || sub.RevenueMinor != 0 {
			t.Errorf("mandate %s, revenue %s before it is settled", sub.MandateReference, sub.RevenueMinor)
		}
	})
}
