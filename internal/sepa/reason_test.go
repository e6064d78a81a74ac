package sepa

import (
	"slices"
	"strings"
	"testing"
)

func TestReasonFor(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		code, decline string
		retryable     bool
	}{
		{"AM04", "insufficient_funds", true},
		{" am04 ", "insufficient_funds", true},
		{"AC01", "invalid_iban", false},
		{"AC04", "account_closed", false},
		{"MD01", "mandate_rejected", false},
		{"MD06", "mandate_rejected", false},
		{"MS02", "do_not_honor", false},
		{"MS03", "do_not_honor", true},
		{"TM01", "gateway_unavailable", true},
		{"FF01", "unknown", false},
		{"AM06", "unknown", false},
		{"ZZ99", "unknown", false},
		{"", "unknown", false},
	} {
		reason := ReasonFor(test.code)
		if reason.Decline != test.decline || reason.Retryable != test.retryable {
			t.Errorf("%q: %+v", test.code, reason)
		}
	}
	if reason := ReasonFor("zz99"); reason.Code != "ZZ99" || reason.Meaning == "" {
		t.Errorf("an unknown code loses itself: %+v", reason)
	}
}

func TestTheReasonTableIsSound(t *testing.T) {
	t.Parallel()
	declines := []string{"insufficient_funds", "invalid_iban", "mandate_rejected", "account_closed", "do_not_honor", "gateway_unavailable", "unknown"}
	seen := map[string]bool{}
	used := map[string]bool{}
	for _, reason := range Reasons() {
		if seen[reason.Code] || len(reason.Code) != 4 || !strings.HasSuffix(reason.Meaning, ".") {
			t.Errorf("%+v comes twice, is no code or has no sentence", reason)
		}
		if !slices.Contains(declines, reason.Decline) {
			t.Errorf("%s: %q is no decline code", reason.Code, reason.Decline)
		}
		if reason.Retryable && slices.Contains([]string{"invalid_iban", "mandate_rejected", "account_closed", "unknown"}, reason.Decline) {
			t.Errorf("%s would be tried again though nothing has been mended", reason.Code)
		}
		seen[reason.Code] = true
		used[reason.Decline] = true
	}
	if len(used) != len(declines) {
		t.Errorf("only %v are used", used)
	}
}
