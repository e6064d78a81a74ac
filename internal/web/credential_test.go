package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"sepad/internal/limit"
)

func TestCredentialsAreToldApartByTheirPrefix(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]Credential{
		"":                      {},
		"Bearer rk_test_abc":    {APIKeyCredential, "rk_test_abc"},
		"bearer  rk_live_abc  ": {APIKeyCredential, "rk_live_abc"},
		"Bearer ps_abc":         {SessionCredential, "ps_abc"},
		"Bearer something":      {OtherCredential, "something"},
		"Bearer RK_test":        {OtherCredential, "RK_test"},
		"Bearer":                {},
		"Bearer   ":             {},
		"Basic cmtfOg==":        {},
		"rk_test_abc":           {},
		"Bearerrk_test_abc":     {},
	} {
		r := &http.Request{Header: http.Header{}}
		if header != "" {
			r.Header.Set("Authorization", header)
		}
		if got := ReadCredential(r); got != want {
			t.Errorf("%q was read as kind %d", header, got.Kind)
		}
	}
}

func TestACredentialDoesNotPrintItsSecret(t *testing.T) {
	t.Parallel()
	if got := fmt.Sprintf("%v %s", Credential{APIKeyCredential, "rk_test_abc"}, Credential{SessionCredential, "ps_x"}); strings.Contains(got, "_") {
		t.Errorf("got %s", got)
	}
}

func TestThrottleAnswersOneCallTooMany(t *testing.T) {
	t.Parallel()
	limiter, err := limit.New(t.Context(), limit.Settings{}, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(100, 0)
	if err := Throttle(t.Context(), limiter, limit.BrowserPay, ClientKey(t.Context()), now); err != nil {
		t.Errorf("the first call: %v", err)
	}
	err = Throttle(t.Context(), limiter, limit.BrowserPay, ClientKey(t.Context()), now.Add(time.Millisecond))
	if got := statusOf(err); got != http.StatusTooManyRequests {
		t.Errorf("the second call: %d, %v", got, err)
	}
	if err := Throttle(t.Context(), limiter, limit.BrowserRead, ClientKey(t.Context()), now); err != nil {
		t.Errorf("another scope: %v", err)
	}
}
