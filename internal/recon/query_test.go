package recon

import (
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"sepad/internal/payment"
	"sepad/internal/store/listing"
	"sepad/internal/vault"
)

var (
	somebody  = uuid.MustParse("018f0000-0000-7000-8000-000000000001")
	gatewayID = uuid.MustParse("018f0000-0000-7000-8000-00000000000b")
)

func newVault(t testing.TB, keys ...string) *vault.Vault {
	t.Helper()
	if len(keys) == 0 {
		keys = []string{vault.GenerateKey()}
	}
	v, err := vault.New(strings.Join(keys, ","))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// said gives the sentences of a refusal by parameter.
func said(t testing.TB, err error) payment.Fields {
	t.Helper()
	refusal, ok := errors.AsType[*payment.Error](err)
	if err != nil && (!ok || refusal.Kind != payment.Invalid) {
		t.Fatalf("got %v", err)
	}
	if err == nil {
		return payment.Fields{}
	}
	return refusal.Fields
}

func TestParse(t *testing.T) {
	t.Parallel()
	v := newVault(t)

	t.Run("what is not given has its default", func(t *testing.T) {
		t.Parallel()
		for _, text := range []string{
			"start_date=2026-03-01", "start_date=%202026-03-01&end_date=&status=&type=&payment_gateway_id=&format=&page_size=&cursor=+",
			"start_date=2026-03-01&colour=blue&colour=red&next_billing_date_from=nonsense",
		} {
			q, err := Transactions.Parse(text, somebody, v)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if q.Start.String() != "2026-03-01" || q.End.String() != "2026-05-30" || q.Format != JSON || q.PageSize != 100 ||
				q.cursor != nil || q.Filters.GatewayID != nil || q.Filters.Statuses != nil || q.Filters.Types != nil {
				t.Errorf("%s: %+v", text, q)
			}
		}
	})

	t.Run("all parameters are understood", func(t *testing.T) {
		t.Parallel()
		q, err := Transactions.Parse("start_date=2026-03-01&end_date=2026-05-30&status=pending,+approved,pending&type=sdd_sale,other_type"+
			"&payment_gateway_id="+gatewayID.String()+"&format=csv&page_size=1000", somebody, v)
		if err != nil {
			t.Fatal(err)
		}
		if q.End.String() != "2026-05-30" || !slices.Equal(q.Filters.Statuses, []string{"approved", "pending"}) ||
			!slices.Equal(q.Filters.Types, []string{"other_type", "sdd_sale"}) || *q.Filters.GatewayID != gatewayID ||
			q.Format != CSV || q.PageSize != 1000 || q.TenantID != somebody {
			t.Errorf("%+v", q)
		}
		s, err := Subscriptions.Parse("start_date=2026-03-01&status=ACTIVE&next_billing_date_from=2026-04-01&next_billing_date_to=2026-04-01", somebody, v)
		if err != nil {
			t.Fatal(err)
		}
		if s.Filters.NextBillingFrom.String() != "2026-04-01" || s.Filters.NextBillingTo.String() != "2026-04-01" {
			t.Errorf("%+v", s.Filters)
		}
	})
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	const start = "start_date=2026-03-01&"
	for _, c := range []struct{ query, parameter, sentence string }{
		{"", "start_date", "start_date is required."},
		{"start_date=", "start_date", "start_date is required."},
		{"start_date=01.03.2026", "start_date", "start_date must be a date in the form YYYY-MM-DD."},
		{"start_date=2026-02-30", "start_date", "start_date must be a date in the form YYYY-MM-DD."},
		{"start_date=2026-3-1", "start_date", "start_date must be a date in the form YYYY-MM-DD."},
		{"start_date=2026-03-01T00:00:00Z", "start_date", "start_date must be a date in the form YYYY-MM-DD."},
		{"start_date=0001-01-01", "start_date", "start_date must be a date in the form YYYY-MM-DD."},
		{"start_date=2026-03-01&start_date=2026-03-02", "start_date", "start_date may be given once only."},
		{start + "end_date=tomorrow", "end_date", "end_date must be a date in the form YYYY-MM-DD."},
		{start + "end_date=2026-02-28", "end_date", "end_date may not be before start_date."},
		{start + "end_date=2026-05-31", "end_date", "end_date may be at most 90 days after start_date."},
		{start + "status=APPROVED", "status", "status must be one or several of pending, approved, declined, refunded, charged_back, separated by commas."},
		{start + "status=approved,", "status", "status must be one or several of pending, approved, declined, refunded, charged_back, separated by commas."},
		{start + "status=approved&status=declined", "status", "status may be given once only."},
		{start + "type=sdd_rebill", "type", "type must be one or several of sdd_sale, sdd_refund, other_type, separated by commas."},
		{start + "payment_gateway_id=7", "payment_gateway_id", "payment_gateway_id must be a UUID."},
		{start + "payment_gateway_id=%7B018f0000-0000-7000-8000-00000000000b%7D", "payment_gateway_id", "payment_gateway_id must be a UUID."},
		{start + "format=JSON", "format", "format must be one of json, xml, csv."},
		{start + "page_size=0", "page_size", "page_size must be a whole number from 1 to 1000."},
		{start + "page_size=1001", "page_size", "page_size must be a whole number from 1 to 1000."},
		{start + "page_size=ten", "page_size", "page_size must be a whole number from 1 to 1000."},
		{start + "page_size=99999999999999999999", "page_size", "page_size must be a whole number from 1 to 1000."},
		{start + "cursor=nonsense", "cursor", badCursor},
		{start + "cursor=main.AAAA", "cursor", badCursor},
		{start + "cursor=" + strings.Repeat("a", 5000), "cursor", badCursor},
	} {
		_, err := Transactions.Parse(c.query, somebody, v)
		if got := said(t, err); len(got) != 1 || got[c.parameter] != c.sentence {
			t.Errorf("%q is answered %v", c.query, got)
		}
	}
}

func TestParseRefusesAsAWhole(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	const start = "start_date=2026-03-01&"

	t.Run("each endpoint has its own statuses and parameters", func(t *testing.T) {
		t.Parallel()
		_, err := Subscriptions.Parse(start+"status=active&type=anything&next_billing_date_from=2026-04-02&next_billing_date_to=2026-04-01", somebody, v)
		if got := slices.Sorted(maps.Keys(said(t, err))); !slices.Equal(got, []string{"next_billing_date_to", "status"}) {
			t.Errorf("refused are %v", got)
		}
		_, err = Chargebacks.Parse(start+"status=approved&type=sdd_sale", somebody, v)
		if got := slices.Sorted(maps.Keys(said(t, err))); !slices.Equal(got, []string{"status", "type"}) {
			t.Errorf("refused are %v", got)
		}
		if _, err = Chargebacks.Parse(start+"status=charged_back&type=chargeback", somebody, v); err != nil {
			t.Errorf("refused: %v", err)
		}
	})

	t.Run("everything that is wrong is said at once", func(t *testing.T) {
		t.Parallel()
		_, err := Subscriptions.Parse("end_date=x&status=x&payment_gateway_id=x&format=x&page_size=x&cursor=x&next_billing_date_from=x&next_billing_date_to=x", somebody, v)
		want := []string{
			"cursor", "end_date", "format", "next_billing_date_from", "next_billing_date_to", "page_size", "payment_gateway_id", "start_date", "status",
		}
		if got := slices.Sorted(maps.Keys(said(t, err))); !slices.Equal(got, want) {
			t.Errorf("refused are %v", got)
		}
	})

	t.Run("a query string that cannot be taken apart is refused as a whole", func(t *testing.T) {
		t.Parallel()
		for _, text := range []string{start + "status=%zz", start + "a;b"} {
			if _, err := Transactions.Parse(text, somebody, v); payment.KindOf(err) != payment.Invalid {
				t.Errorf("%s: %v", text, err)
			}
		}
	})
}

// parsed is a query of transactions for a day in March.
func parsed(t testing.TB, v *vault.Vault, more string) *Query {
	t.Helper()
	q, err := Transactions.Parse("start_date=2026-03-01&end_date=2026-03-31"+more, somebody, v)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// here is some cursor.
var here = cursor{listing.Position{At: time.UnixMicro(1_772_000_000_123_456).UTC(), ID: gatewayID}, true}

func TestCursor(t *testing.T) {
	t.Parallel()

	t.Run("is good for its own query, whatever the format and page size", func(t *testing.T) {
		t.Parallel()
		v := newVault(t)
		text, err := here.seal(v, parsed(t, v, "&status=approved,pending"))
		if err != nil {
			t.Fatal(err)
		}
		for _, same := range []string{"&status=approved,pending", "&status=pending,approved,pending&format=csv&page_size=7"} {
			q := parsed(t, v, same+"&cursor="+url.QueryEscape(text))
			if *q.cursor != here {
				t.Errorf("%s: opened as %+v", same, *q.cursor)
			}
		}
	})

	t.Run("is bad for every other query", func(t *testing.T) {
		t.Parallel()
		v := newVault(t)
		text, err := here.seal(v, parsed(t, v, "&status=approved"))
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range []string{
			"start_date=2026-03-01&end_date=2026-03-31", "start_date=2026-03-01&end_date=2026-03-31&status=declined",
			"start_date=2026-03-02&end_date=2026-03-31&status=approved", "start_date=2026-03-01&end_date=2026-03-30&status=approved",
			"start_date=2026-03-01&status=approved", "start_date=2026-03-01&end_date=2026-03-31&status=approved&type=sdd_sale",
			"start_date=2026-03-01&end_date=2026-03-31&status=approved&payment_gateway_id=" + gatewayID.String(),
		} {
			if _, err := Transactions.Parse(other+"&cursor="+text, somebody, v); said(t, err)[paramCursor] == "" {
				t.Errorf("%s: the cursor is taken", other)
			}
		}
		const same = "start_date=2026-03-01&end_date=2026-03-31&status=approved&cursor="
		if _, err := Transactions.Parse(same+text, gatewayID, v); said(t, err)[paramCursor] == "" {
			t.Error("the cursor of another tenant is taken")
		}
		if _, err := Transactions.Parse(same+text, somebody, newVault(t)); said(t, err)[paramCursor] == "" {
			t.Error("the cursor of another installation is taken")
		}
		for i := range text {
			changed := []byte(text)
			if changed[i]++; string(changed) != text {
				if _, err := Transactions.Parse(same+url.QueryEscape(string(changed)), somebody, v); said(t, err)[paramCursor] == "" {
					t.Errorf("a cursor that was changed at %d is taken", i)
				}
			}
		}
	})
}

func TestCursorElsewhere(t *testing.T) {
	t.Parallel()

	t.Run("is bad for another endpoint", func(t *testing.T) {
		t.Parallel()
		v := newVault(t)
		text, err := here.seal(v, parsed(t, v, ""))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Chargebacks.Parse("start_date=2026-03-01&end_date=2026-03-31&cursor="+text, somebody, v); said(t, err)[paramCursor] == "" {
			t.Error("the cursor is taken")
		}
	})

	t.Run("outlives the rotation of the key", func(t *testing.T) {
		t.Parallel()
		old := vault.GenerateKey()
		before := newVault(t, old)
		text, err := here.seal(before, parsed(t, before, ""))
		if err != nil {
			t.Fatal(err)
		}
		if q := parsed(t, newVault(t, vault.GenerateKey(), old), "&cursor="+text); *q.cursor != here {
			t.Errorf("opened as %+v", *q.cursor)
		}
	})

	t.Run("whatever else is sent is refused", func(t *testing.T) {
		t.Parallel()
		v := newVault(t)
		q := parsed(t, v, "")
		rapid.Check(t, func(t *rapid.T) {
			text := rapid.OneOf(rapid.String(), rapid.StringMatching(`key-[0-9a-f]{8}\.[A-Za-z0-9_-]{60,80}`)).Draw(t, "text")
			if _, err := openCursor(v, q, text); err == nil {
				t.Errorf("%q is taken", text)
			}
		})
	})
}

func TestNothingLiesBetweenNeighbours(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := listing.Position{At: drawInstant(t), ID: drawID(t)}
		if rapid.Bool().Draw(t, "at an end") {
			p.ID = rapid.SampledFrom([]uuid.UUID{{}, uuid.Max}).Draw(t, "end")
		}
		if p.Below().Above() != p || p.Above().Below() != p || compare(p.Below(), p) >= 0 || compare(p.Above(), p) <= 0 {
			t.Errorf("%+v lies between %+v and %+v", p, p.Below(), p.Above())
		}
	})
}

func compare(a, b listing.Position) int {
	if order := a.At.Compare(b.At); order != 0 {
		return order
	}
	return slices.Compare(a.ID[:], b.ID[:])
}
