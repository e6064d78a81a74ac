package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"sepad/internal/app/apptest"
	"sepad/internal/gateway/sandbox"
)

// outcomes is what pay answers for each outcome of the sandbox; those that give
// no answer are not here.
var outcomes = map[sandbox.Outcome]fields{
	sandbox.Approved:                  approved,
	sandbox.Chargeback:                approved,
	sandbox.ReturnedInsufficientFunds: approved,
	sandbox.ReturnedMandateRejected:   approved,
	sandbox.ReturnedAccountClosed:     approved,
	sandbox.Slow:                      approved,
	sandbox.RebillDeclinedOnce:        approved,
	sandbox.RebillDeclined:            approved,
	sandbox.RebillAccountClosed:       approved,
	sandbox.PendingApproved:           pending,
	sandbox.PendingDeclined:           pending,
	sandbox.VerificationApproved:      awaiting,
	sandbox.VerificationRejected:      awaiting,
	sandbox.VerificationPage:          awaiting,
	sandbox.DeclinedInsufficientFunds: declined("insufficient_funds", "AM04"),
	sandbox.DeclinedInvalidIBAN:       declined("invalid_iban", "AC01"),
	sandbox.DeclinedMandateRejected:   declined("mandate_rejected", "MD01"),
	sandbox.DeclinedAccountClosed:     declined("account_closed", "AC04"),
	sandbox.DeclinedDoNotHonor:        declined("do_not_honor", "MS03"),
	sandbox.DeclinedUnknown:           declined("unknown", "NARR"),
	sandbox.GatewayUnavailable:        with(declined("gateway_unavailable", nil), fields{"processed_at": nil}),
	sandbox.DeclinedFinal: with(declined("unknown", apptest.Any), fields{
		"status": "failed", "retry_allowed": false, "error_details.code": apptest.Any,
	}),
}

var (
	approved = fields{
		"status": "completed", "processed_at": apptest.Any, "verification_url": nil, "error": nil, "error_details": nil, "retry_allowed": nil,
		"transaction.status": "approved", "transaction.gateway_reference": apptest.Any, "order.status": "COMPLETED",
	}
	pending  = with(approved, fields{"transaction.status": "pending", "order.status": "PENDING"})
	awaiting = with(pending, fields{"status": "awaiting_verification", "verification_url": apptest.Any, "processed_at": nil})
)

func declined(code string, gatewayCode any) fields {
	return fields{
		"status": "declined", "processed_at": apptest.Any, "verification_url": nil, "error": apptest.Any, "retry_allowed": true,
		"error_details.code": code, "error_details.message": apptest.Any, "error_details.gateway_code": gatewayCode,
		"transaction.status": "declined", "order.status": "FAILED", "subscription": nil,
	}
}

func with(some, more fields) fields { return fields(body(some).With(body(more))) }

func TestEveryOutcomeOfTheSandbox(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		states := map[string]string{"completed": "COMPLETED", "awaiting_verification": "AWAITING_VERIFICATION", "declined": "PENDING", "failed": "FAILED"}
		for _, account := range sandbox.TestIBANs() {
			want, answered := outcomes[account.Outcome]
			if !answered {
				if account.Outcome != sandbox.TimeoutApproved && account.Outcome != sandbox.TimeoutLost {
					t.Errorf("no test knows the outcome %s", account.Outcome)
				}
				continue
			}
			t.Run(string(account.Outcome)+" from "+account.Country, func(t *testing.T) {
				token := s.Create(t, apptest.InCampaign(apptest.ServerCampaign))
				result := s.Pay(t, token, account.IBAN).Want(t, http.StatusOK, with(envelope(token, account.IBAN), want))
				if number := result.Text(t, "order.order_number"); number != result.Text(t, "order_number") {
					t.Errorf("the order has the number %s too", number)
				}
				status := want["status"].(string)
				s.WantStatus(t, token, states[status])
				if status == "completed" {
					s.WantEvents(t, token, apptest.Completed...)
				} else {
					s.WantEvents(t, token)
				}
				if details := result.Get(t, "error_details"); details != nil && result.Get(t, "error") != details.(map[string]any)["message"] {
					t.Error("error and error_details.message differ")
				}
			})
		}
	})
}

// envelope is what every result of the shop's one-off campaign holds.
func envelope(token, iban string) fields {
	return fields{
		"object": "payment_session.result", "session_token": token, "livemode": false, "created_at": apptest.Any,
		"amount": "19.90", "currency": "EUR", "transaction.type": "sdd_sale", "transaction.tenant_reference_id": nil,
		"subscription": nil, "lead.id": apptest.Any, "payment_method.type": "sepa_debit",
		"payment_method.iban_last4": iban[len(iban)-4:], "payment_method.iban_country": iban[:2], "payment_method.holder_name": apptest.HolderName,
		"sepa.mandate_reference": apptest.Any, "sepa.sequence_type": "FRST", "sepa.creditor_identifier": nil,
		"adapter":         body{"name": "Sandbox"},
		"payment_gateway": body{"id": apptest.Gateway, "name": "Main account", "descriptor": "BERGLADEN", "test_mode": true},
	}
}

func TestTheBankOfTheAccount(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		t.Run("bank and BIC are found by the IBAN", func(t *testing.T) {
			_, result := s.Completed(t, apptest.Direct())
			result.Want(t, http.StatusOK, fields{"payment_method.bic": "COBADEFFXXX", "payment_method.bank_name": "Commerzbank"})
		})
		t.Run("both are null for a bank that nobody knows, and the payment goes on", func(t *testing.T) {
			s.Pay(t, s.Create(t, apptest.Direct()), unknownBank).Want(t, http.StatusOK, fields{
				"status": "completed", "payment_method.bic": nil, "payment_method.bank_name": nil, "payment_method.iban_last4": unknownBank[18:],
			})
		})
		t.Run("spaces, hyphens and lower case are fine, and the holder is as submitted", func(t *testing.T) {
			result := s.Pay(t, s.Create(t, apptest.Direct()), " de89 3704-0044 0532 0130 00 ", body{"iban_holder_name": "  Åsa O’Neil  "})
			result.Want(t, http.StatusOK, fields{"payment_method.iban_last4": "3000", "payment_method.iban_country": "DE", "payment_method.holder_name": "Åsa O’Neil"})
		})
	})
}

func TestRecurringPurchases(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		today := s.Now(t)
		for _, test := range []struct {
			name string
			body body
			next any
			want fields
		}{
			{
				"a monthly one is billed a month later", apptest.InCampaign(apptest.MonthlyCampaign), nextMonth(today),
				fields{"amount": "29.99", "subscription.billing_frequency": "MONTHLY", "sepa.sequence_type": "FRST", "transaction.type": "sdd_sale"},
			},
			{
				"a weekly one is billed a week later", apptest.InCampaign(apptest.MonthlyCampaign).With(body{"billing_frequency": "WEEKLY"}), day(today, 7),
				fields{"subscription.billing_frequency": "WEEKLY"},
			},
			{"a fortnightly one is billed two weeks later", apptest.InCampaign(apptest.MonthlyCampaign).With(body{"billing_frequency": "BIWEEKLY"}), day(today, 14), nil},
			{
				"one without a frequency is not billed by itself", apptest.Direct().With(body{"billing_type": "RECURRING"}), nil,
				fields{"subscription.billing_frequency": nil},
			},
			{
				"a paid trial is billed when it ends", apptest.InCampaign(apptest.TrialCampaign), day(today, 14),
				fields{"amount": "1.00", "transaction.type": "sdd_sale", "sepa.sequence_type": "FRST"},
			},
			{"a free trial sets up the mandate and collects nothing", apptest.InCampaign(apptest.FreeTrialCampaign), day(today, 14), freeTrial},
			{"a trial price of zero is a free trial", apptest.InCampaign(apptest.TrialCampaign).With(body{"trial_price": "0.00"}), day(today, 14), freeTrial},
		} {
			t.Run(test.name, func(t *testing.T) {
				token, result := s.Completed(t, test.body)
				result.Want(t, http.StatusOK, with(approved, fields{
					"subscription.id": apptest.Any, "subscription.status": "ACTIVE", "subscription.next_billing_date": test.next,
				})).Want(t, http.StatusOK, test.want)
				s.WantEvents(t, token, apptest.Completed...)
			})
		}
		t.Run("a declined one has no subscription", func(t *testing.T) {
			token := s.Create(t, apptest.InCampaign(apptest.MonthlyCampaign))
			s.Pay(t, token, apptest.DeclinedInsufficientFunds).Want(t, http.StatusOK, fields{"subscription": nil, "status": "declined"})
			s.Pay(t, token, apptest.Approved).Want(t, http.StatusOK, fields{"subscription.status": "ACTIVE"})
		})
		t.Run("one that awaits verification has its subscription once verified", func(t *testing.T) {
			token, result := s.Awaiting(t, apptest.InCampaign(apptest.MonthlyCampaign), apptest.VerificationApproved)
			result.Want(t, http.StatusOK, fields{"subscription": nil})
			s.Verify(t, token).Want(t, http.StatusOK, fields{"subscription.status": "ACTIVE"})
		})
		t.Run("a free trial is declined and verified like a payment", func(t *testing.T) {
			token := s.Create(t, apptest.InCampaign(apptest.FreeTrialCampaign))
			s.Pay(t, token, apptest.DeclinedMandateRejected).Want(t, http.StatusOK, fields{
				"status": "declined", "transaction.type": "sdd_mandate", "amount": "0.00", "error_details.code": "mandate_rejected",
			})
			s.Pay(t, token, apptest.VerificationApproved).Want(t, http.StatusOK, fields{"status": "awaiting_verification"})
			s.Verify(t, token).Want(t, http.StatusOK, freeTrial)
			s.WantEvents(t, token, apptest.Completed...)[1].Payload.Want(t, 0, fields{"amount": "0.00"})
		})
	})
}

var freeTrial = fields{"amount": "0.00", "transaction.type": "sdd_mandate", "sepa.sequence_type": nil, "order.status": "COMPLETED"}

func day(from time.Time, days int) string { return from.AddDate(0, 0, days).Format(time.DateOnly) }

// nextMonth is the same day of the next month, or its last one.
func nextMonth(from time.Time) string {
	first := time.Date(from.Year(), from.Month()+1, 1, 0, 0, 0, 0, time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(from.Day(), last)-1).Format(time.DateOnly)
}

func TestPayOutsideTheEEA(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{})
	const swiss = "CH9300762011623852957"
	at := func(address body) string {
		return s.Create(t, apptest.Direct().With(body{"lead": apptest.Lead().With(address)}))
	}
	s.Pay(t, at(body{"city": "Bern"}), swiss).WantBad(t, map[string]string{"iban": ""})
	s.Pay(t, at(body{"address": "Gasse 1", "city": "Bern"}), swiss).Want(t, http.StatusOK, fields{"status": "completed", "payment_method.iban_country": "CH"})
}

func TestPayRefusesBadInput(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		token := s.Create(t, apptest.InCampaign(apptest.OneTryCampaign))
		for _, test := range []struct {
			name   string
			change body
			want   map[string]string
		}{
			{
				"both fields missing",
				body{"iban": nil, "iban_holder_name": nil},
				map[string]string{"iban": "iban is required.", "iban_holder_name": "iban_holder_name is required."},
			},
			{"both blank", body{"iban": " ", "iban_holder_name": ""}, map[string]string{"iban": "", "iban_holder_name": ""}},
			{
				"wrong types",
				body{"iban": 7, "iban_holder_name": []any{}, "tenant_reference_id": 5},
				map[string]string{"iban": "", "iban_holder_name": "", "tenant_reference_id": ""},
			},
			{
				"a wrong checksum and a blank reference",
				body{"iban": "DE89370400440532013001", "tenant_reference_id": "  "},
				map[string]string{"iban": "Invalid checksum: a character of this IBAN is wrong, or two are swapped.", "tenant_reference_id": ""},
			},
			{"an unknown country", body{"iban": "ZZ89370400440532013000"}, map[string]string{"iban": "Unknown country code: no IBAN starts with ZZ."}},
			{"a wrong length", body{"iban": "DE8937040044053201300"}, map[string]string{"iban": "This IBAN has 21 characters; a German one has 22."}},
			{"other characters", body{"iban": "DE89_3704_0044_0532_0130_00"}, map[string]string{"iban": ""}},
			{"a tab within", body{"iban": "DE89\t370400440532013000"}, map[string]string{"iban": ""}},
			{"a country outside the SEPA schemes", body{"iban": "TR330006100519786457841326"}, map[string]string{"iban": ""}},
			{"a Swiss account of a payer without an address", body{"iban": "CH9300762011623852957"}, map[string]string{
				"iban": "An account outside the European Economic Area is debited only with the payer's address: give lead.address and lead.city when creating the session.",
			}},
			{"a holder of 256 characters", body{"iban_holder_name": strings.Repeat("ü", 256)}, map[string]string{"iban_holder_name": ""}},
			{
				"a control character",
				body{"iban_holder_name": "A\u0007", "tenant_reference_id": "a\u0000"},
				map[string]string{"iban_holder_name": "", "tenant_reference_id": ""},
			},
			{"an endless IBAN", body{"iban": strings.Repeat("DE", 5000)}, map[string]string{"iban": ""}},
		} {
			t.Run(test.name, func(t *testing.T) { s.Pay(t, token, apptest.Approved, test.change).WantBad(t, test.want) })
		}
		t.Run("a 400 costs no attempt and reaches no gateway", func(t *testing.T) {
			s.Retrieve(t, token).Want(t, http.StatusOK, fields{"status": "PENDING", "attempts_remaining": 1})
			s.WantLedger(t, token, 0, 0)
			s.Pay(t, token, apptest.Approved, body{"iban_holder_name": strings.Repeat("ü", 255)}).Want(t, http.StatusOK, fields{"status": "completed"})
		})
	})
}
