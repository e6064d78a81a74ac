package payment

import (
	"errors"
	"testing"
	"time"
)

// paidFor is a purchase whose money was collected.
func paidFor(t *testing.T, change ...func(*Session)) Debit {
	t.Helper()
	return settle(t, submitted(t, change...), Outcome{Verdict: VerdictApproved, GatewayReference: "GW-1"}, noon).Debit
}

func TestAChargebackIsCompletedFromItsPayment(t *testing.T) {
	t.Parallel()
	later := noon.Add(72 * time.Hour)
	reference := "order-7"
	paid := paidFor(t)
	paid.Transaction.TenantReferenceID = &reference
	c, err := paid.ChargeBack(Chargeback{ReasonCode: "MD06", Source: ChargebackManual}, usual, later)
	if err != nil {
		t.Fatal(err)
	}
	of, got := paid.Transaction, *c.Chargeback
	want := Chargeback{
		ID: got.ID, TenantID: of.TenantID, GatewayID: of.GatewayID, TransactionID: &of.ID, LeadID: of.LeadID,
		TenantReferenceID: &reference, MerchantTransactionID: of.MerchantTransactionID, GatewayReference: "GW-1",
		AmountMinor: 2999, Currency: "EUR", MaskedIBAN: of.MaskedIBAN, BIC: "COBADEFFXXX", Email: "Anna@example.org",
		Country: "DE", ReasonCode: "MD06", Source: ChargebackManual, ReportedAt: later, TransactionAt: of.ProcessedAt,
		CreatedAt: later, UpdatedAt: later,
	}
	if *got.TransactionID != *want.TransactionID || *got.LeadID != *want.LeadID {
		t.Errorf("it is of payment %v and lead %v", got.TransactionID, got.LeadID)
	}
	got.TransactionID, got.LeadID = want.TransactionID, want.LeadID
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}

	said := Chargeback{
		ReasonCode: "AM04", Source: ChargebackImported, AmountMinor: 100, Currency: "EUR", Country: "AT", BIC: "OTHERBIC",
		ReportedAt: noon.Add(time.Hour), TransactionAt: noon.Add(time.Minute), MerchantTransactionID: "THEIRS", GatewayReference: "T-1",
	}
	c, err = paid.ChargeBack(said, usual, later)
	if err != nil {
		t.Fatal(err)
	}
	if got := *c.Chargeback; got.AmountMinor != 100 || got.Country != "AT" || got.BIC != "OTHERBIC" || !got.ReportedAt.Equal(said.ReportedAt) ||
		!got.TransactionAt.Equal(said.TransactionAt) || got.MerchantTransactionID != "THEIRS" || got.GatewayReference != "T-1" {
		t.Errorf("what the report says itself does not stay: %+v", got)
	}
	foreign := paid
	foreign.LeadCountry = ""
	if c, err = foreign.ChargeBack(Chargeback{ReasonCode: "MD06"}, usual, later); err != nil || c.Chargeback.Country != "DE" {
		t.Errorf("without the payer's country it is the account's: %v, %v", c.Chargeback, err)
	}
}

func TestWhatNoChargebackCanSay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		report Chargeback
		field  string
	}{
		"more than was paid":        {Chargeback{AmountMinor: 3000}, "amount"},
		"all that was paid":         {Chargeback{AmountMinor: 2999}, ""},
		"another currency":          {Chargeback{Currency: "CHF"}, "currency"},
		"the day before":            {Chargeback{ReportedAt: noon.AddDate(0, 0, -1)}, "report_date"},
		"the same day":              {Chargeback{ReportedAt: DateOf(noon).Start()}, ""},
		"tomorrow in another zone":  {Chargeback{ReportedAt: noon.AddDate(0, 0, 1)}, ""},
		"the day after tomorrow":    {Chargeback{ReportedAt: noon.AddDate(0, 0, 1).Add(time.Second)}, "report_date"},
		"no day: it is that of now": {Chargeback{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := paidFor(t).ChargeBackByHand(c.report, usual, noon)
			refusal, refused := errors.AsType[*Error](err)
			if refused != (c.field != "") || refused && refusal.Fields[c.field] == "" {
				t.Errorf("it is %v, want a sentence on %q", err, c.field)
			}
		})
	}
	t.Run("a payment that was never processed was made when it was begun", func(t *testing.T) {
		t.Parallel()
		d := paidFor(t)
		d.Transaction.ProcessedAt = time.Time{}
		_, err := d.ChargeBackByHand(Chargeback{ReportedAt: noon.AddDate(0, 0, -1)}, usual, noon)
		if refusal, refused := errors.AsType[*Error](err); !refused || refusal.Fields["report_date"] == "" {
			t.Errorf("it was charged back before it was made: %v", err)
		}
	})
}

func TestWhatIsReportedUnasked(t *testing.T) {
	t.Parallel()
	declined := settle(t, submitted(t, withMaxAttempts(1)), Outcome{Verdict: VerdictDeclined, Decline: Decline{Code: InsufficientFunds}}, noon).Debit
	for name, c := range map[string]struct {
		of      Debit
		verdict Verdict
		changes bool
		err     error
	}{
		"approved of one that is approved":        {paidFor(t), VerdictApproved, false, nil},
		"declined of one that is approved":        {paidFor(t), VerdictDeclined, false, ErrContradicts},
		"pending of one that is approved":         {paidFor(t), VerdictPending, false, nil},
		"approved of one that is declined":        {declined, VerdictApproved, false, ErrContradicts},
		"declined of one that is declined":        {declined, VerdictDeclined, false, nil},
		"pending of one that is pending":          {accepted(t).Debit, VerdictPending, false, nil},
		"approved of one that is pending":         {accepted(t).Debit, VerdictApproved, true, nil},
		"pending of one that is under way":        {submitted(t), VerdictPending, true, nil},
		"pending of one that awaits its payer":    {awaiting(t), VerdictPending, true, nil},
		"declined of one that awaits its payer":   {awaiting(t), VerdictDeclined, true, nil},
		"approved of one that was never answered": {submitted(t), VerdictApproved, true, nil},
	} {
		if changes, err := c.of.Hear(Outcome{Verdict: c.verdict}); changes != c.changes || !errors.Is(err, c.err) {
			t.Errorf("%s: %v, %v", name, changes, err)
		}
	}
}

func TestAClaimOnARebillEndsIt(t *testing.T) {
	t.Parallel()
	o := Outcome{Verdict: VerdictDeclined, Decline: Decline{Code: DeclineUnknown, GatewayCode: "MD06"}}
	if got := o.follows(); got != "end" {
		t.Errorf("a refusal with MD06 is followed by %q", got)
	}
}

func TestBeginCarriesWhatEventsNeed(t *testing.T) {
	t.Parallel()
	profile := NewID()
	d := submitted(t, func(s *Session) { s.WebhookProfileID = &profile })
	if !same(d.WebhookProfileID, &profile) || d.LeadCountry != "DE" {
		t.Errorf("profile %v, country %q", d.WebhookProfileID, d.LeadCountry)
	}
	if !d.Transaction.CreatedAt.Equal(noon) || !d.Transaction.UpdatedAt.Equal(noon) || !d.Transaction.MandateAt.Equal(noon) {
		t.Errorf("the attempt is of %v", d.Transaction.CreatedAt)
	}
}
