package record

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"sepad/internal/payment"
)

// at has microseconds and comes from another time zone, as instants may.
var at = time.Date(2026, 3, 31, 14, 0, 0, 1_234_000, time.FixedZone("Berlin", 7200))

func TestAppendJSON(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		got  func() []byte
		want string
	}{
		{"a full transaction", func() []byte { row := fullTransaction(); return Transactions.AppendJSON(nil, &row) }, `{
			"id":"018f0000-0000-7000-8000-000000000001","adapter_unique_id":"GW-1","merchant_transaction_id":"TXN-20260331-ABCDEFGH",
			"transaction_id":"GW-1","tenant_reference_id":"order-17","status":"approved","type":"sdd_sale","amount":"29.99","currency":"EUR",
			"date_processed":"2026-03-31T12:00:00.001234Z","iban":"******************3000","bic":"COBADEFFXXX",
			"customer_email_csv":"ana@example.org","customer_name_csv":"Ana_Müller","mandate_reference_id":"MND-ABCDEFGHIJKL",
			"mandate_date":"2026-03-31T12:00:00.001234Z","source":"api_submission","order_id":"018f0000-0000-7000-8000-000000000002",
			"subscription_id":"018f0000-0000-7000-8000-000000000003","lead_id":"018f0000-0000-7000-8000-000000000004",
			"payment_gateway_id":"018f0000-0000-7000-8000-000000000005","created_at":"2026-03-31T12:00:00.001234Z",
			"updated_at":"2026-03-31T12:00:00.001234Z"}`},
		{"a transaction of which little is known", func() []byte {
			row := payment.Transaction{ID: id(1), GatewayID: id(5), Type: payment.Mandate, Status: payment.TransactionPending, CreatedAt: at, UpdatedAt: at}
			return Transactions.AppendJSON(nil, &row)
		}, `{
			"id":"018f0000-0000-7000-8000-000000000001","adapter_unique_id":null,"merchant_transaction_id":null,"transaction_id":null,
			"tenant_reference_id":null,"status":"pending","type":"other_type","amount":"0.00","currency":null,"date_processed":null,
			"iban":null,"bic":null,"customer_email_csv":null,"customer_name_csv":null,"mandate_reference_id":null,"mandate_date":null,
			"source":null,"order_id":null,"subscription_id":null,"lead_id":null,"payment_gateway_id":"018f0000-0000-7000-8000-000000000005",
			"created_at":"2026-03-31T12:00:00.001234Z","updated_at":"2026-03-31T12:00:00.001234Z"}`},
		{"a full subscription", func() []byte { row := fullSubscription(); return Subscriptions.AppendJSON(nil, &row) }, `{
			"id":"018f0000-0000-7000-8000-000000000001","status":"ACTIVE","billing_amount":"29.99","currency":"EUR",
			"billing_frequency":"MONTHLY","start_date":"2026-03-31T12:00:00.001234Z","next_billing_date":"2026-03-31",
			"last_billing_date":"2026-03-31T12:00:00.001234Z","cancelled_at":"2026-03-31T12:00:00.001234Z","trial_end_date":"2026-03-31",
			"billing_anchor_date":"2026-03-31","successful_billing_count":3,"failed_billing_count":1,"total_revenue":"89.97",
			"order_id":"018f0000-0000-7000-8000-000000000002","lead_id":"018f0000-0000-7000-8000-000000000004",
			"offer_id":"018f0000-0000-7000-8000-000000000006","payment_gateway_id":"018f0000-0000-7000-8000-000000000005",
			"created_at":"2026-03-31T12:00:00.001234Z","updated_at":"2026-03-31T12:00:00.001234Z"}`},
		{"a full chargeback", func() []byte { row := fullChargeback(); return Chargebacks.AppendJSON(nil, &row) }, `{
			"id":"018f0000-0000-7000-8000-000000000001","adapter_unique_id":"CB-1","merchant_transaction_id":"TXN-20260331-ABCDEFGH",
			"tenant_reference_id":"order-17","status":"charged_back","type":"chargeback","amount":"29.99","currency":"EUR",
			"report_date":"2026-03-31T12:00:00.001234Z","transaction_date":"2026-03-31T12:00:00.001234Z","reason_code":"MD06",
			"reason_message":"Refund_request","report_type":"R","report_message":"M","report_info":"I","arn":"74",
			"iban":"******************3000","bic":"COBADEFFXXX","email":"ana@example.org","country":"DE","source":"manual",
			"cb_bank_fee":"3.50","transaction_id":"018f0000-0000-7000-8000-000000000002","lead_id":"018f0000-0000-7000-8000-000000000004",
			"payment_gateway_id":"018f0000-0000-7000-8000-000000000005","created_at":"2026-03-31T12:00:00.001234Z",
			"updated_at":"2026-03-31T12:00:00.001234Z"}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			// The expectation is broken into lines; a blank within a value is written as _.
			want := strings.ReplaceAll(strings.Join(strings.Fields(c.want), ""), "_Müller", " Müller")
			want = strings.ReplaceAll(want, "Refund_request", "Refund request")
			if got := string(c.got()); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestAppendJSONText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                  `""`,
		"plain":             `"plain"`,
		`say "hi" \ bye`:    `"say \"hi\" \\ bye"`,
		"a\nb\rc\td":        `"a\nb\rc\td"`,
		"\x00\x1f\x7f":      `"\u0000\u001f` + "\x7f" + `"`,
		"<a href='x'>&</a>": `"<a href='x'>&</a>"`,
		"line\u2028sep":     "\"line\u2028sep\"",
		"Größe 😀":           `"Größe 😀"`,
		"bad\xff\xfebytes":  `"bad` + "\uFFFD\uFFFD" + `bytes"`,
		"cut\xe2\x80":       `"cut` + "\uFFFD\uFFFD" + `"`,
		"kept \uFFFD":       "\"kept \uFFFD\"",
	} {
		if got := string(AppendJSONText(nil, text)); got != want {
			t.Errorf("%q is written %s, want %s", text, got, want)
		}
	}
}

func TestTextsComeBackFromJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "text")
		written := AppendJSONText([]byte("x"), text)[1:]
		var back string
		if err := json.Unmarshal(written, &back); err != nil || !utf8.Valid(written) {
			t.Fatalf("%q is written %q: %v", text, written, err)
		}
		if want := string([]rune(text)); back != want {
			t.Fatalf("%q came back as %q", text, back)
		}
	})
}

func TestInstantsAreWrittenAsByTheLibrary(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		instant := time.Unix(rapid.Int64Range(-1e9, 2e11).Draw(t, "seconds"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanoseconds"))
		if got, want := string(ofInstant(instant).Append(nil)), instant.UTC().Format("2006-01-02T15:04:05.000000Z"); got != want {
			t.Fatalf("%s, want %s", got, want)
		}
		if got, want := string(ofDate(payment.DateOf(instant)).Append(nil)), instant.UTC().Format(time.DateOnly); got != want {
			t.Fatalf("%s, want %s", got, want)
		}
	})
}

func TestValuesAreWrittenBare(t *testing.T) {
	t.Parallel()
	for want, value := range map[string]Value{
		"":             {},
		`a "text"`:     ofText(`a "text"`),
		"29.99":        ofMinor(2999),
		"-7":           ofInteger(-7),
		"2026-03-31":   ofDate(payment.DateOf(at)),
		id(9).String(): ofID(id(9)),
	} {
		if got := string(value.Append(nil)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
