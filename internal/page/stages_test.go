package page_test

import (
	"net/http"
	"testing"

	"sepad/internal/app/apptest"
	"sepad/internal/payment"
	"sepad/internal/store"
)

// stage is something that a payer can meet, made as it comes about.
type stage struct {
	name  string
	stage string
	make  func(t testing.TB, s *shop) (path string)
}

// stages are all of them.
var stages = []stage{
	{"pay-once", "pay", func(t testing.TB, s *shop) string { return path(s.session(t, posterCampaign)) }},
	{"pay-monthly", "pay", func(t testing.TB, s *shop) string { return path(s.session(t, premiumCampaign)) }},
	{"pay-trial", "pay", func(t testing.TB, s *shop) string { return path(s.session(t, trialCampaign)) }},
	{"pay-free-trial", "pay", func(t testing.TB, s *shop) string { return path(s.session(t, freeCampaign)) }},
	{"pay-overrides", "pay", func(t testing.TB, s *shop) string { return path(s.session(t, annualCampaign)) }},
	{"pay-hostile", "pay", func(t testing.TB, s *shop) string { return path(s.session(t, hostileCampaign)) }},
	{"pay-bare", "pay", func(t testing.TB, s *shop) string { return path(s.session(t, bareCampaign)) }},
	{"declined", "pay", func(t testing.TB, s *shop) string {
		return paid(t, s, posterCampaign, apptest.DeclinedInsufficientFunds)
	}},
	{"outage", "pay", func(t testing.TB, s *shop) string {
		return paid(t, s, posterCampaign, apptest.GatewayUnavailable)
	}},
	{"processing", "processing", func(t testing.TB, s *shop) string {
		token := s.session(t, posterCampaign)
		s.submit(t, token, apptest.TimeoutApproved).wantBack(t, token)
		return path(token)
	}},
	{"verify", "verify", func(t testing.TB, s *shop) string { return paid(t, s, posterCampaign, apptest.VerificationPage) }},
	{"paid", "paid", func(t testing.TB, s *shop) string { return paid(t, s, premiumCampaign, apptest.Approved) }},
	{"paid-free-trial", "paid", func(t testing.TB, s *shop) string { return paid(t, s, freeCampaign, apptest.Approved) }},
	{"pending", "pending", func(t testing.TB, s *shop) string { return paid(t, s, premiumCampaign, apptest.PendingApproved) }},
	{"failed", "failed", func(t testing.TB, s *shop) string { return paid(t, s, posterCampaign, apptest.DeclinedFinal) }},
	{"refunded", "refunded", func(t testing.TB, s *shop) string { return changed(t, s, "refunded") }},
	{"returned", "returned", func(t testing.TB, s *shop) string { return changed(t, s, "charged_back") }},
	{"expired", "expired", func(t testing.TB, s *shop) string {
		token := s.session(t, posterCampaign)
		s.Env.Exec(t, `UPDATE sessions SET expires_at = 1 WHERE token = $1`, store.TokenKey(token))
		return path(token)
	}},
	{"cancelled", "cancelled", func(t testing.TB, s *shop) string {
		token := s.session(t, posterCampaign)
		s.Cancel(t, token).Want(t, http.StatusOK, nil)
		return path(token)
	}},
	{"unknown", "", func(testing.TB, *shop) string { return path(payment.NewToken(7)) }},
	{"mandate", "mandate", func(t testing.TB, s *shop) string {
		return paid(t, s, premiumCampaign, apptest.Approved) + "mandate/"
	}},
	{"bank", "bank", func(t testing.TB, s *shop) string {
		_, result := s.Awaiting(t, apptest.InCampaign(posterCampaign), apptest.VerificationPage)
		return result.Text(t, "verification_url")[len(s.URL):]
	}},
}

// paid pays through the page's form.
func paid(t testing.TB, s *shop, campaign, iban string) string {
	t.Helper()
	token := s.session(t, campaign)
	s.submit(t, token, iban).wantBack(t, token)
	return path(token)
}

// changed is a payment whose fate has changed since.
func changed(t testing.TB, s *shop, status string) string {
	t.Helper()
	page := paid(t, s, posterCampaign, apptest.Approved)
	token := page[len("/pay/") : len(page)-1]
	s.Env.Exec(t, `UPDATE transactions SET status = $1 WHERE session_id = (SELECT id FROM sessions WHERE token = $2)`, status, store.TokenKey(token))
	return page
}
