package page_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"sepad/internal/app/apptest"
)

const (
	greenPage   = "019d0000-0000-7000-8000-000000000230"
	hostilePage = "019d0000-0000-7000-8000-000000000232"
	barePage    = "019d0000-0000-7000-8000-000000000233"
)

func TestPreview(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	operator := []string{"Authorization", "Bearer " + apptest.AdminToken}
	preview := "/pay/preview/" + greenPage + "/"
	for state, words := range map[string]string{
		"": "Pay from your bank account", "pay": "When your account is debited", "mistakes": "This IBAN has 21 characters",
		"declined": "You can try 2 more times.", "outage": "could not be passed on", "processing": "is being processed", "slow": "still under way",
		"verify": "by Bergladen", "paid": "your payment is complete", "pending": "is accepted", "refunded": "was refunded", "returned": "has returned",
		"failed": "did not succeed", "expired": "has expired", "cancelled": "was cancelled", "mandate": "you authorise (A) Bergladen GmbH",
	} {
		t.Run("shows "+state, func(t *testing.T) {
			t.Parallel()
			s.get(t, preview+"?lang=en&state="+state, operator...).want(t, http.StatusOK, words)
			s.get(t, preview+"?lang=hr&state="+state, operator...).want(t, http.StatusOK).without(t, words)
		})
	}
	t.Run("shows a campaign", func(t *testing.T) {
		t.Parallel()
		s.get(t, preview+"?lang=en&campaign="+trialCampaign, operator...).want(t, http.StatusOK, "Start trial for €1.00, then €29.99 per month")
		s.get(t, preview+"?lang=en&state=paid&campaign="+freeCampaign, operator...).want(t, http.StatusOK, "your trial has begun")
	})
	t.Run("shows a page that no campaign uses yet, and what merchants wrote as text", func(t *testing.T) {
		t.Parallel()
		s.get(t, "/pay/preview/"+barePage+"/", operator...).want(t, http.StatusOK, "Pay")
		if page := s.get(t, "/pay/preview/"+hostilePage+"/", operator...); strings.Contains(page.body, "<script>alert") {
			t.Error("a merchant's text is markup")
		}
	})
	t.Run("is for the operator alone", func(t *testing.T) {
		t.Parallel()
		for _, header := range [][]string{nil, {"Authorization", "Bearer wrong"}} {
			if got := s.get(t, preview, header...); got.StatusCode != http.StatusUnauthorized {
				t.Errorf("status %d", got.StatusCode)
			}
		}
	})
	t.Run("says what it does not know", func(t *testing.T) {
		t.Parallel()
		for path, status := range map[string]int{
			preview + "?state=happy": http.StatusBadRequest, preview + "?campaign=" + uuid.NewString(): http.StatusBadRequest,
			"/pay/preview/" + uuid.NewString() + "/": http.StatusNotFound, "/pay/preview/mandate/": http.StatusNotFound,
		} {
			if got := s.get(t, path, operator...); got.StatusCode != status {
				t.Errorf("%s: status %d, want %d: %s", path, got.StatusCode, status, got.text)
			}
		}
	})
	t.Run("may be shown by the operator's own pages", func(t *testing.T) {
		t.Parallel()
		if policy := s.get(t, preview, operator...).Header.Get("Content-Security-Policy"); !strings.Contains(policy, "frame-ancestors 'self'") || !strings.Contains(policy, "script-src 'self';") {
			t.Errorf("the policy is %s", policy)
		}
	})
}
