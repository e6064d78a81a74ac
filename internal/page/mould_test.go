package page

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/checkout"
	"sepad/internal/clock"
	"sepad/internal/merchant"
	"sepad/internal/payment"
)

// TestAMouldedPageIsTheWrittenOne changes every field of a session and its lead, one after the other, and holds the page from
// a mould against the one that the template writes. A field that is shown, and neither part of a mould's key nor a hole,
// shows what another payer was shown.
func TestAMouldedPageIsTheWrittenOne(t *testing.T) {
	t.Parallel()
	logos := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/svg+xml")
		_, _ = w.Write([]byte(`<svg viewBox="0 0 200 40"/>`))
	}))
	t.Cleanup(logos.Close)
	p := &Page{Checkout: &checkout.Checkout{PublicURL: "https://pay.example", Environment: merchant.Sandbox}, Logos: NewLogos(true), Moulds: NewMoulds(), Real: clock.Real{}}
	now := time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)
	plain, own := newVisit(now), newVisit(now)
	logo := logos.URL + "/logo"
	own.SetupVersion++
	own.Page.Branding = merchant.Branding{LogoURL: &logo, LogoDarkURL: &logo}
	own.Page.Content = map[string]any{"mandate_text": "To {creditor}, as {reference}.\n\nOr not."}
	for name, whole := range map[string]visit{"a plain page": plain, "a page of the merchant's own": own} {
		compare := func(what string, v visit) {
			t.Helper()
			comparePages(t, p, name+", "+what, v)
		}
		compare("as it is", whole)
		for _, of := range []string{"Session", "Lead"} {
			eachChange(reflect.ValueOf(&whole).Elem().FieldByName(of), of, func(what string) {
				// A session has an id, and a token of letters that no address needs to be quoted for.
				if whole.Session.ID != uuid.Nil && url.PathEscape(whole.Session.Token) == whole.Session.Token {
					compare(what, whole)
				}
			})
		}
		other := whole
		other.now = now.AddDate(0, 0, 1)
		compare("a day later", other)
		other = whole
		other.EarliestDue = payment.DateOf(now).AddDays(5)
		compare("a bank that takes longer", other)
		for _, l := range languages {
			other = whole
			other.pageLanguage = l
			compare(l.Name, other)
		}
	}
}

func newVisit(now time.Time) visit {
	campaign, offer, page, trial, reference := uuid.New(), uuid.New(), uuid.New(), payment.Minor(100), "order-1"
	return visit{
		pageLanguage: languages[0], now: now,
		View: checkout.View{
			SetupVersion: 1, Status: payment.SessionPending, Tenant: merchant.Tenant{ID: uuid.New(), Name: "Shop & Sons"},
			Campaign: &merchant.Campaign{ID: campaign}, Offer: &merchant.Offer{ID: offer, Name: "Premium"}, Page: &merchant.HostedPage{ID: page, ShowProductName: true, ShowProductPrice: true, ShowProductDescription: true},
			Gateway: merchant.GatewayAccount{Adapter: "sandbox", TestMode: true, Descriptor: "SHOP"},
			Lead:    payment.Lead{FirstName: "Erika", LastName: "Mustermann", Email: "erika@shop.example", Address: "Musterstr. 1", City: "Berlin", PostalCode: "10115"},
			Session: payment.Session{
				ID: uuid.New(), Token: "ps_one", Status: payment.SessionPending, CampaignID: &campaign, OfferID: &offer, HostedPageID: &page, TenantReferenceID: &reference,
				Terms:          payment.Terms{PriceMinor: 29_99, Currency: "EUR", BillingType: payment.TrialRecurring, Frequency: payment.Monthly, TrialUnit: payment.TrialDay, TrialPeriod: 14, TrialMinor: &trial},
				AcceptanceMode: payment.AcceptCheckbox, MandateReference: "MND-0123456789AB", MaxAttempts: 3, ExpiresAt: now.Add(time.Hour), CreatedAt: now, UpdatedAt: now,
			},
		},
	}
}

// eachChange calls with a field changed, and changes it back.
func eachChange(value reflect.Value, name string, call func(what string)) {
	if value.Kind() == reflect.Struct && value.Type() != reflect.TypeFor[time.Time]() {
		for i := range value.NumField() {
			eachChange(value.Field(i), name+"."+value.Type().Field(i).Name, call)
		}
		return
	}
	before := reflect.New(value.Type()).Elem()
	before.Set(value)
	for _, other := range otherValues(value) {
		value.Set(other)
		call(name)
	}
	value.Set(before)
}

func otherValues(value reflect.Value) []reflect.Value {
	if value.Kind() == reflect.Pointer {
		all := []reflect.Value{reflect.Zero(value.Type())}
		target := reflect.New(value.Type().Elem())
		for _, other := range otherValues(target.Elem()) {
			pointer := reflect.New(value.Type().Elem())
			pointer.Elem().Set(other)
			all = append(all, pointer)
		}
		return all
	}
	var samples []any
	switch value.Interface().(type) {
	case uuid.UUID:
		samples = []any{uuid.New(), uuid.Nil}
	case time.Time:
		samples = []any{time.Unix(1, 0)}
	case bool:
		samples = []any{true, false}
	case payment.BillingType:
		samples = []any{payment.OneOff, payment.Recurring}
	case payment.AcceptanceMode:
		samples = []any{payment.AcceptImplicit}
	default:
		if value.Kind() == reflect.String {
			samples = []any{"", "x", "<b a=\"1\" b='2'>Ä+\x00&amp;</b>"}
		} else {
			samples = []any{0, 7}
		}
	}
	all := make([]reflect.Value, len(samples))
	for i, sample := range samples {
		all[i] = reflect.ValueOf(sample).Convert(value.Type())
	}
	return all
}

func comparePages(t *testing.T, p *Page, what string, v visit) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
	written, err := render("page.html", p.withForm(r, v, v.form()))
	if err != nil {
		t.Fatal(err)
	}
	moulded := httptest.NewRecorder()
	if err := p.showFirst(moulded, r, http.StatusOK, v); err != nil {
		t.Fatal(err)
	}
	got, want := moulded.Body.String(), string(written)
	if got == want {
		return
	}
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	from := max(0, at-100)
	t.Errorf("%s:\nmoulded %s\nwritten %s", what, got[from:min(at+100, len(got))], want[from:min(at+100, len(want))])
}
