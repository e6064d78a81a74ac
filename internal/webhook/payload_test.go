package webhook

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/gowebpki/jcs"

	"sepad/internal/payment"
	"sepad/internal/record"
)

// aSettlement is an approved payment with fixed facts.
func aSettlement(change ...func(*payment.Change)) payment.Change {
	at := time.Date(2026, 3, 31, 12, 0, 0, 1_000, time.UTC)
	reference := "order-17"
	order := uuid.MustParse("018f0000-0000-7000-8000-000000000002")
	s := payment.Change{Debit: payment.Debit{
		Session: &payment.Session{Token: "ps_token", Status: payment.SessionCompleted},
		Order:   &payment.Order{ID: order, Number: "ORD-ABCDEFGH", Status: payment.OrderCompleted},
		Transaction: payment.Transaction{
			ID: uuid.MustParse("018f0000-0000-7000-8000-000000000001"), OrderID: &order, TenantReferenceID: &reference,
			MerchantTransactionID: "TXN-20260331-ABCDEFGH", Status: payment.TransactionApproved, Type: payment.Sale,
			AmountMinor: 2999, Currency: "EUR", Source: payment.SourceAPI, HolderName: "Ana Müller", Email: "ana@example.org",
			MaskedIBAN: "******************3000", MandateReference: "MND-ABCDEFGHIJKL",
			MandateAt: at, ProcessedAt: at, CreatedAt: at, UpdatedAt: at,
		},
	}}
	for _, c := range change {
		c(&s)
	}
	return s
}

func payload(t *testing.T, s payment.Change, e payment.Event) string {
	t.Helper()
	text, err := Payload(s, e)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestCompletedPayload(t *testing.T) {
	t.Parallel()
	completed := payment.Event{Kind: payment.EventSessionCompleted}
	cases := []struct {
		name   string
		change func(*payment.Change)
		want   string
	}{
		{
			"carries six fields and the reference, sorted and compact", func(*payment.Change) {},
			`{"amount":"29.99","currency":"EUR","email":"ana@example.org","order_number":"ORD-ABCDEFGH","session_token":"ps_token","status":"COMPLETED","tenant_reference_id":"order-17"}`,
		},
		{
			"has a null where no reference was given", func(s *payment.Change) { s.Transaction.TenantReferenceID = nil },
			`{"amount":"29.99","currency":"EUR","email":"ana@example.org","order_number":"ORD-ABCDEFGH","session_token":"ps_token","status":"COMPLETED","tenant_reference_id":null}`,
		},
		{
			"tells a free trial by its amount", func(s *payment.Change) { s.Transaction.AmountMinor = 0 },
			`{"amount":"0.00","currency":"EUR","email":"ana@example.org","order_number":"ORD-ABCDEFGH","session_token":"ps_token","status":"COMPLETED","tenant_reference_id":"order-17"}`,
		},
		{"escapes nothing that JSON does not demand", func(s *payment.Change) {
			odd := "<b>R&D</b>\u2028\u2029 Größe 😀 \"q\" \\ \t\x01/"
			s.Transaction.TenantReferenceID = &odd
		}, `{"amount":"29.99","currency":"EUR","email":"ana@example.org","order_number":"ORD-ABCDEFGH","session_token":"ps_token","status":"COMPLETED","tenant_reference_id":"<b>R&D</b>` +
			"\u2028\u2029" + ` Größe 😀 \"q\" \\ \t\u0001/"}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := payload(t, aSettlement(c.change), completed); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestTransactionPayloads(t *testing.T) {
	t.Parallel()
	const created = `{"adapter_unique_id":null,"amount":"29.99","bic":null,"created_at":"2026-03-31T12:00:00.000001Z","currency":"EUR",` +
		`"customer_email_csv":"ana@example.org","customer_name_csv":"Ana Müller","date_processed":"2026-03-31T12:00:00.000001Z",` +
		`"iban":"******************3000","id":"018f0000-0000-7000-8000-000000000001","lead_id":null,"mandate_date":"2026-03-31T12:00:00.000001Z",` +
		`"mandate_reference_id":"MND-ABCDEFGHIJKL","merchant_transaction_id":"TXN-20260331-ABCDEFGH","order_id":"018f0000-0000-7000-8000-000000000002",` +
		`"payment_gateway_id":"00000000-0000-0000-0000-000000000000",PREVIOUS"source":"api_submission","status":"approved","subscription_id":null,` +
		`"tenant_reference_id":"order-17","transaction_id":null,"type":"sdd_sale","updated_at":"2026-03-31T12:00:00.000001Z"}`
	t.Run("created is the public record", func(t *testing.T) {
		t.Parallel()
		want := strings.Replace(created, "PREVIOUS", "", 1)
		if got := payload(t, aSettlement(), payment.Event{Kind: payment.EventTransactionCreated}); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
	t.Run("status_changed adds the status before", func(t *testing.T) {
		t.Parallel()
		want := strings.Replace(created, "PREVIOUS", `"previous_status":"pending",`, 1)
		event := payment.Event{Kind: payment.EventTransactionStatusChanged, PreviousStatus: payment.TransactionPending}
		if got := payload(t, aSettlement(), event); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
	t.Run("holds the record's columns and no others", func(t *testing.T) {
		t.Parallel()
		var fields map[string]any
		if err := json.Unmarshal([]byte(payload(t, aSettlement(), payment.Event{Kind: payment.EventTransactionCreated})), &fields); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, column := range record.Transactions {
			names = append(names, column.Name)
		}
		slices.Sort(names)
		if got := slices.Sorted(maps.Keys(fields)); !slices.Equal(got, names) {
			t.Errorf("fields are %v", got)
		}
	})
}

func TestAnnouncedPayload(t *testing.T) {
	t.Parallel()
	plan := payment.Plan{DueDate: payment.DateOf(time.Date(2026, 4, 2, 0, 0, 0, 0, time.UTC)), CreditorName: "R&D <GmbH>", CreditorIdentifier: "DE98ZZZ09999999999"}
	const want = `{"amount":"29.99","creditor_identifier":"DE98ZZZ09999999999","creditor_name":"R&D <GmbH>","currency":"EUR","due_date":"2026-04-02",` +
		`"iban":"******************3000","mandate_reference_id":"MND-ABCDEFGHIJKL","merchant_transaction_id":"TXN-20260331-ABCDEFGH",` +
		`"subscription_id":null,"tenant_reference_id":"order-17","transaction_id":"018f0000-0000-7000-8000-000000000001"}`
	announced := payment.Event{Kind: payment.EventCollectionAnnounced}
	if got := payload(t, aSettlement(func(s *payment.Change) { s.Plan = plan }), announced); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestPayloadsAreCanonical(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"R&D <GmbH>", "a\u2028b", "😀 Äöü ß", "tab\tquote\"back\\slash", "\x00\x1f", "cut\xff", "𝔘nicode", "é composed e\u0301"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := aSettlement(func(s *payment.Change) {
				s.Transaction.HolderName, s.Transaction.Email, s.Transaction.TenantReferenceID = name, name, &name
			})
			for _, kind := range []payment.EventKind{payment.EventSessionCompleted, payment.EventTransactionCreated, payment.EventTransactionStatusChanged} {
				body := payload(t, s, payment.Event{Kind: kind, PreviousStatus: payment.TransactionPending})
				again, err := jcs.Transform([]byte(body))
				if err != nil || string(again) != body {
					t.Errorf("%s is not canonical: %v\n%s", kind, err, body)
				}
				var fields map[string]any
				if err := json.Unmarshal([]byte(body), &fields); err != nil || fields["tenant_reference_id"] != strings.ToValidUTF8(name, "\uFFFD") {
					t.Errorf("%s says %q: %v", kind, fields["tenant_reference_id"], err)
				}
			}
		})
	}
}

func TestEventsThatASettlementDoesNotReport(t *testing.T) {
	t.Parallel()
	for _, kind := range []payment.EventKind{payment.EventChargebackCreated, payment.EventCollectionAnnounced, "something.else", ""} {
		if text, err := Payload(aSettlement(), payment.Event{Kind: kind}); err == nil {
			t.Errorf("%q gives %s", kind, text)
		}
	}
}
