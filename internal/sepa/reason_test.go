package sepa

import (
	"slices"
	"strings"
	"testing"
)

func TestReasonFor(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, codes string
		side        Side
		decline     string
		follows     Consequence
	}{
		{"too little money is a failed billing", "AM04 AG07", SidePayer, "insufficient_funds", FollowsRetry},
		{"a code is read in any case and trimmed", " am04 ", SidePayer, "insufficient_funds", FollowsRetry},
		{"a refusal without a reason is a failed billing", "MS02", SidePayer, "do_not_honor", FollowsRetry},
		{"so is one by the bank", "MS03 SL01", SideBank, "do_not_honor", FollowsRetry},
		{"a wrong account ends", "AC01 BE06", SidePayer, "invalid_iban", FollowsEnd},
		{"a closed or blocked account ends", "AC04 AC06 MD07", SidePayer, "account_closed", FollowsEnd},
		{"a missing mandate ends", "MD01 AC13", SidePayer, "mandate_rejected", FollowsEnd},
		{"an account without direct debits ends", "AG01", SidePayer, "do_not_honor", FollowsEnd},
		{"money that the payer took back is a claim", "MD06", SidePayer, "mandate_rejected", FollowsClaim},
		{"what clearing could not do is tried again", "TM01 AB05 TECH", SideTechnical, "gateway_unavailable", FollowsRetry},
		{"the creditor's own mistakes are not the payer's", "AC03 AC07 BE05 CNOR RC04 RR03", SideCreditor, "unknown", FollowsCreditor},
		{"nor are those of the file", "FF01 AM05 AM06 AG02", SideCreditor, "unknown", FollowsCreditor},
		{"a reason in words says nothing by itself", "NARR", SideBank, "unknown", FollowsUnsaid},
		{"nor does a code that nobody knows", "ZZ99", SideBank, "unknown", FollowsUnsaid},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			for _, code := range strings.Split(test.codes, " ") {
				if code == "" {
					continue
				}
				reason := ReasonFor(" " + code)
				if reason.Side != test.side || reason.Decline != test.decline || reason.Follows != test.follows {
					t.Errorf("%q: %+v", code, reason)
				}
			}
		})
	}
	if reason := ReasonFor("zz99"); reason.Code != "ZZ99" || reason.Meaning == "" {
		t.Errorf("an unknown code loses itself: %+v", reason)
	}
}

func TestWhatACodeLeavesUnsaidDependsOnTheMoney(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"", "ZZ99", "NARR"} {
		reason := ReasonFor(code)
		if reason.AfterRefusal() != FollowsRetry || reason.AfterReturn() != FollowsClaim {
			t.Errorf("%q: %s after a refusal, %s after a return", code, reason.AfterRefusal(), reason.AfterReturn())
		}
	}
	for _, reason := range Reasons() {
		if reason.Follows != FollowsUnsaid && (reason.AfterRefusal() != reason.Follows || reason.AfterReturn() != reason.Follows) {
			t.Errorf("%s says %s and means something else", reason.Code, reason.Follows)
		}
	}
}

func TestTheReasonTableIsSound(t *testing.T) {
	t.Parallel()
	declines := []string{"insufficient_funds", "invalid_iban", "mandate_rejected", "account_closed", "do_not_honor", "gateway_unavailable", "unknown"}
	hard := declines[1:4]
	seen, used := map[string]bool{}, map[string]bool{}
	for _, reason := range Reasons() {
		if seen[reason.Code] || len(reason.Code) != 4 || !strings.HasSuffix(reason.Meaning, ".") {
			t.Errorf("%+v comes twice, is no code or has no sentence", reason)
		}
		if !slices.Contains(declines, reason.Decline) {
			t.Errorf("%s: %q is no decline code", reason.Code, reason.Decline)
		}
		if slices.Contains(hard, reason.Decline) != (reason.Follows == FollowsEnd || reason.Follows == FollowsClaim) && reason.Decline != declineDoNotHonor {
			t.Errorf("%s: merchants are told %s, and %s follows", reason.Code, reason.Decline, reason.Follows)
		}
		if (reason.Side == SideCreditor) != (reason.Follows == FollowsCreditor) || reason.Side == SideCreditor && reason.Decline != declineUnknown {
			t.Errorf("%s: our own mistake must be nobody else's, and only ours: %+v", reason.Code, reason)
		}
		if (reason.Side == SideTechnical) != (reason.Decline == declineGatewayUnavailable) {
			t.Errorf("%s: %s is no %s", reason.Code, reason.Decline, reason.Side)
		}
		seen[reason.Code], used[reason.Decline] = true, true
	}
	if len(used) != len(declines) {
		t.Errorf("only %v are used", used)
	}
}
