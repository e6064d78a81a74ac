package merchant

import (
	"errors"
	"flag"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/payment"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var adapters = []string{"sandbox"}

func parse(t *testing.T, text string, environment Environment) (*File, *FileError) {
	t.Helper()
	file, err := Rules{environment, adapters}.ParseFile("shop.yaml", []byte(text))
	if err == nil {
		return file, nil
	}
	wrong, ok := errors.AsType[*FileError](err)
	if !ok || file != nil {
		t.Fatalf("the error is a %T, the file %v", err, file)
	}
	return nil, wrong
}

func testFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func anID(last string) uuid.UUID {
	return uuid.MustParse("018f0000-0000-7000-8000-0000000000" + last)
}

func ptr[T any](value T) *T { return &value }

func TestParseFull(t *testing.T) {
	t.Parallel()
	file, wrong := parse(t, testFile(t, "full.yaml"), Sandbox)
	if wrong != nil {
		t.Fatal(wrong)
	}
	big := file.Tenants[0]
	free := payment.Minor(0)
	for name, c := range map[string]struct{ got, want any }{
		"tenant": {big.Tenant, Tenant{ID: anID("a1"), Name: "Big Shop", Creditor: Creditor{
			Name: "Big Shop GmbH", Address: "Musterstr. 1, 10115 Berlin, DE", Identifier: "DE98ZZZ09999999999",
		}}},
		"keys": {big.APIKeys, []FileAPIKey{
			{Line: 9, Path: "tenants[0].api_keys[0]", Name: "backend", Key: "rk_test_0123456789abcdef", Scopes: DefaultScopes},
			{Line: 11, Path: "tenants[0].api_keys[1]", Name: "reports", Scopes: "refunds reports"},
		}},
		"gateway": {big.Gateways, []Entry[GatewayAccount]{{13, "tenants[0].gateways[0]", GatewayAccount{
			ID: anID("b1"), Name: "Main account", Adapter: "sandbox", Descriptor: "BIG SHOP", Active: true,
			Settings: Settings{
				"merchant": int64(42), "ratio": 0.5, "since": "2026-01-31", "big": ".inf",
				"nested": map[string]any{"list": []any{"a", true, nil}},
			},
		}}}},
		"webhook profile": {big.WebhookProfiles[0].Record, WebhookProfile{
			ID: anID("c1"), Name: "Shop backend", URL: "http://127.0.0.1:9000/hooks", SigningSecret: " keep the blanks ",
			Events: []payment.EventKind{payment.EventSessionCompleted, payment.EventTransactionCreated}, Default: true, Active: true,
		}},
		"hosted page": {big.HostedPages[0].Record, HostedPage{
			ID: anID("d1"), Name: "Standard page", Content: map[string]any{"headline": "Your order"}, Active: true,
			Branding: Branding{LogoURL: ptr("https://shop.example/logo.svg"), LogoDarkURL: ptr("https://shop.example/white.svg"), PrimaryColor: "#aabbcc", AccentColor: "#0e9f6e"},
			Links: Links{
				Shop: ptr("https://shop.example/"), OtherPayment: ptr("https://shop.example/pay"), Terms: ptr("https://shop.example/terms"),
				Privacy: ptr("https://shop.example/privacy"), Imprint: ptr("https://shop.example/imprint"),
			},
			SuccessRedirectURL: ptr("https://shop.example/thanks?x=1"), FailureRedirectURL: ptr("https://shop.example/sorry"),
		}},
		"offer": {big.Offers[0].Record, Offer{
			ID: anID("e1"), Name: "Trial", ProductName: ptr("Premium"), ProductDescription: ptr("All features"),
			Terms: payment.Terms{
				PriceMinor: 2999, Currency: "EUR", BillingType: payment.TrialRecurring, Frequency: payment.Monthly,
				TrialUnit: payment.TrialWeek, TrialPeriod: 2, TrialMinor: &free,
			},
		}},
		"campaign": {big.Campaigns[0].Record, Campaign{
			ID: anID("f1"), Name: "Spring", OfferID: anID("e1"), GatewayID: anID("b1"), HostedPageID: ptr(anID("d1")),
			WebhookProfileID: ptr(anID("c1")), MaxPaymentAttempts: 10, AcceptanceMode: payment.AcceptImplicit, SessionTTL: 90 * time.Minute,
			Dunning: payment.Dunning{5, 10}, KeepsClaimed: new(true), OfferOverrides: map[string]any{"price_label": "only 29.99"}, Active: true,
		}},
		"references": {len(big.Unresolved), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !reflect.DeepEqual(c.got, c.want) {
				t.Errorf("got\n%+v\nwant\n%+v", c.got, c.want)
			}
		})
	}
}

func TestParseDefaults(t *testing.T) {
	t.Parallel()
	for environment, testMode := range map[Environment]bool{Sandbox: true, Production: false} {
		text := strings.NewReplacer("key: rk_test_0123456789abcdef", "key: null", "http://", "https://").Replace(testFile(t, "full.yaml"))
		file, wrong := parse(t, text, environment)
		if wrong != nil {
			t.Fatal(wrong)
		}
		small := file.Tenants[1]
		if small.Tenant.Creditor != (Creditor{}) || len(small.APIKeys) != 0 {
			t.Errorf("tenant is %+v", small.Tenant)
		}
		if g := small.Gateways[0].Record; g.TestMode != testMode || g.Descriptor != "" || len(g.Settings) != 0 || !g.Active {
			t.Errorf("%s: gateway is in test mode %t, active %t", environment, g.TestMode, g.Active)
		}
		if p := small.WebhookProfiles[0].Record; !slices.Equal(p.Events, payment.UsualEvents) || p.Wants(payment.EventCollectionAnnounced) || p.Default || !p.SigningSecret.IsZero() || !p.Active {
			t.Errorf("profile is %+v", p)
		}
		wantPage := HostedPage{
			ID: anID("d2"), Name: "Page", Branding: Branding{PrimaryColor: DefaultPrimaryColor, AccentColor: DefaultAccentColor},
			Content: map[string]any{}, ShowProductName: true, ShowProductPrice: true, ShowProductDescription: true, Active: true,
		}
		if p := small.HostedPages[0].Record; !reflect.DeepEqual(p, wantPage) {
			t.Errorf("page is %+v", p)
		}
		wantOffer := Offer{ID: anID("e2"), Name: "Thing", Terms: payment.Terms{PriceMinor: 500, Currency: "EUR", BillingType: payment.OneOff}, Active: true}
		if o := small.Offers[0].Record; !reflect.DeepEqual(o, wantOffer) {
			t.Errorf("offer is %+v", o)
		}
		wantCampaign := Campaign{
			ID: anID("f2"), Name: "Known elsewhere", OfferID: uuid.MustParse("018f0000-0000-7000-8000-00000000ffff"), GatewayID: anID("b2"),
			MaxPaymentAttempts: payment.DefaultPaymentAttempts, AcceptanceMode: payment.AcceptCheckbox, OfferOverrides: map[string]any{}, Active: true,
		}
		if c := small.Campaigns[0].Record; !reflect.DeepEqual(c, wantCampaign) {
			t.Errorf("campaign is %+v", c)
		}
	}
}

// TestProductionIsReachedOverHTTPSAlone gives each address that a file can have by http.
// Calls of the admin API are read by the same rules.
func TestProductionIsReachedOverHTTPSAlone(t *testing.T) {
	t.Parallel()
	whole := strings.NewReplacer("key: rk_test_0123456789abcdef", "key: null", "http://", "https://").Replace(testFile(t, "full.yaml"))
	const tenant = "tenants[0]."
	for field, value := range map[string]string{
		"webhook_profiles[0].url":                "https://127.0.0.1:9000/hooks",
		"hosted_pages[0].branding.logo_url":      "https://shop.example/logo.svg",
		"hosted_pages[0].branding.logo_dark_url": "https://shop.example/white.svg",
		"hosted_pages[0].links.shop":             "https://shop.example/,",
		"hosted_pages[0].links.other_payment":    "https://shop.example/pay",
		"hosted_pages[0].links.terms":            "https://shop.example/terms",
		"hosted_pages[0].links.privacy":          "https://shop.example/privacy",
		"hosted_pages[0].links.imprint":          "https://shop.example/imprint",
		"hosted_pages[0].success_redirect_url":   "https://shop.example/thanks?x=1",
		"hosted_pages[0].failure_redirect_url":   "https://shop.example/sorry",
	} {
		if !strings.Contains(whole, value) {
			t.Errorf("the file lacks %s", field)
		}
		_, wrong := parse(t, strings.Replace(whole, value, strings.Replace(value, "https:", "http:", 1), 1), Production)
		if wrong == nil || !strings.HasSuffix(wrong.Error(), ": "+tenant+field+": In production an address begins with https://.") {
			t.Errorf("%s: got %v", field, wrong)
		}
	}
	if got := strings.Count(whole, "https://"); got != 11 { // and the other tenant's webhook
		t.Errorf("the file has %d addresses: a new one belongs into the table", got)
	}
}

// TestEventsThatAreOptIn: they go to those who name them, or name all.
func TestEventsThatAreOptIn(t *testing.T) {
	t.Parallel()
	for events, want := range map[string]bool{
		`["*"]`: true, `[collection.announced]`: true, `[transaction.created, collection.announced]`: true, `[transaction.created]`: false,
	} {
		file, wrong := parse(t, "tenants:\n- {id: 018f0000-0000-7000-8000-000000000001, name: T, webhook_profiles: [{id: 018f0000-0000-7000-8000-000000000002,"+
			" name: P, url: 'https://x.example', events: "+events+"}]}\n", Sandbox)
		if wrong != nil {
			t.Fatal(events, wrong)
		}
		if p := file.Tenants[0].WebhookProfiles[0].Record; p.Wants(payment.EventCollectionAnnounced) != want {
			t.Errorf("%s wants it: %t", events, !want)
		}
	}
	_, wrong := parse(t, "tenants:\n- {id: 018f0000-0000-7000-8000-000000000001, name: T, webhook_profiles: [{id: 018f0000-0000-7000-8000-000000000002,"+
		" name: P, url: 'https://x.example', events: ['*', transaction.created]}]}\n", Sandbox)
	if wrong == nil || !strings.Contains(wrong.Error(), "name no other beside it") {
		t.Errorf("all and one: %v", wrong)
	}
}

func TestUnresolvedReferences(t *testing.T) {
	t.Parallel()
	file, wrong := parse(t, testFile(t, "full.yaml"), Sandbox)
	if wrong != nil {
		t.Fatal(wrong)
	}
	want := []Reference{{Line: 77, Path: "tenants[1].campaigns[0].offer_id", Kind: KindOffer, ID: uuid.MustParse("018f0000-0000-7000-8000-00000000ffff")}}
	got := file.Tenants[1].Unresolved
	if !slices.Equal(got, want) {
		t.Fatalf("got %+v", got)
	}
}

// TestMistakes holds the whole list of what is said of a file in which nearly
// everything is wrong, in both environments.
func TestMistakes(t *testing.T) {
	t.Parallel()
	for _, environment := range []Environment{Sandbox, Production} {
		t.Run("in "+string(environment), func(t *testing.T) {
			t.Parallel()
			_, wrong := parse(t, testFile(t, "mistakes.yaml"), environment)
			if wrong == nil {
				t.Fatal("the file was taken")
			}
			golden := "testdata/mistakes." + string(environment) + ".txt"
			if *update {
				if err := os.WriteFile(golden, []byte(wrong.Error()+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want := testFile(t, "mistakes."+string(environment)+".txt"); wrong.Error()+"\n" != want {
				t.Errorf("got\n%s\nwant\n%s", wrong, want)
			}
			for _, secret := range []string{"0123456789abcdef", "secret@"} {
				if strings.Contains(wrong.Error(), secret) {
					t.Errorf("the list gives %q away", secret)
				}
			}
		})
	}
}

func TestFileAsAWhole(t *testing.T) {
	t.Parallel()
	bomb := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for previous := 'a'; previous < 'i'; previous++ {
		next := string(previous + 1)
		bomb += next + ": &" + next + " [" + strings.TrimSuffix(strings.Repeat("*"+string(previous)+",", 10), ",") + "]\n"
	}
	const tenant = "tenants:\n  - id: 018f0000-0000-7000-8000-000000000001\n    name: Shop\n"
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "shop.yaml: The file is empty."},
		{"only a comment", "# nothing\n", "shop.yaml: The file is empty."},
		{"null", "null\n", "shop.yaml:1: Give an object with its fields, not nothing."},
		{"a list", "- 1\n", "shop.yaml:1: Give an object with its fields, not a list."},
		{"no tenants", "{}\n", "shop.yaml:1: tenants: tenants is required."},
		{"an empty list of tenants", "tenants: []\n", "shop.yaml:1: tenants: The file lists no tenant."},
		{"tenants that are no list", "tenants: shop\n", "shop.yaml:1: tenants: Give a list, not a text."},
		{"two documents", tenant + "---\n" + tenant, "shop.yaml:4: A resource file is one YAML document, and another one begins here."},
		{"a broken second document", tenant + "---\n\t[", "shop.yaml:5: This is no YAML: found character that cannot start any token."},
		{"broken indentation", "tenants:\n  - id: 1\n name: x\n", "shop.yaml:2: This is no YAML: did not find expected key."},
		{"a tab", "tenants:\n\t- x\n", "shop.yaml:2: This is no YAML: found character that cannot start any token."},
		{"an unknown anchor", "tenants: *nobody\n", "shop.yaml: This is no YAML: unknown anchor 'nobody' referenced."},
		{"no UTF-8", "tenants: \xff\n", "shop.yaml: This is no YAML: invalid leading UTF-8 octet."},
		{"an alias bomb", bomb, "shop.yaml:1: The file is too large once its aliases are followed."},
		{"an alias within itself", "tenants: &a [*a]\n", "shop.yaml:1: The file is nested deeper than 32 levels."},
		{"deep nesting", "tenants: " + strings.Repeat("[", 100) + strings.Repeat("]", 100), "shop.yaml:1: The file is nested deeper than 32 levels."},
		{"too many bytes", "#" + strings.Repeat("x", maxFileBytes), "shop.yaml: The file is larger than 8 MiB."},
		{"merge keys", "tenants:\n  - <<: {name: x}\n    id: 018f0000-0000-7000-8000-000000000001\n    name: Shop\n", "shop.yaml:2: tenants[0]: Merge keys (<<) are not supported: write the fields out."},
		{"an odd key", "\"a\\eb\": 1\ntenants: []\n", "shop.yaml:1: \"a\\x1bb\": This field is not known.\nshop.yaml:2: tenants: The file lists no tenant."},
		{"a key of many letters", strings.Repeat("k", 100) + ": 1\ntenants: []\n", "shop.yaml:1: " + strings.Repeat("k", 64) + "...: This field is not known.\nshop.yaml:2: tenants: The file lists no tenant."},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, wrong := parse(t, c.text, Sandbox)
			if wrong == nil || wrong.Error() != c.want {
				t.Errorf("got %v\nwant %s", wrong, c.want)
			}
		})
	}
	t.Run("aliases are followed", func(t *testing.T) {
		t.Parallel()
		file, wrong := parse(t, tenant+"    hosted_pages:\n"+
			"      - {id: 018f0000-0000-7000-8000-000000000030, name: A, branding: &colours {primary_color: \"#000000\"}}\n"+
			"      - {id: 018f0000-0000-7000-8000-000000000031, name: B, branding: *colours}\n", Sandbox)
		if wrong != nil {
			t.Fatal(wrong)
		}
		if got := file.Tenants[0].HostedPages[1].Record.Branding.PrimaryColor; got != "#000000" {
			t.Errorf("the colour is %s", got)
		}
	})
	t.Run("a long name is refused by its characters, not its bytes", func(t *testing.T) {
		t.Parallel()
		if _, wrong := parse(t, strings.Replace(tenant, "Shop", strings.Repeat("ä", 255), 1), Sandbox); wrong != nil {
			t.Errorf("255: %v", wrong)
		}
		if _, wrong := parse(t, strings.Replace(tenant, "Shop", strings.Repeat("ä", 256), 1), Sandbox); wrong == nil {
			t.Error("256 were taken")
		}
	})
}

// FuzzParseFile checks that no file breaks the reader, and that mistakes come
// in the order of their lines.
func FuzzParseFile(f *testing.F) {
	f.Add(DemoFile)
	for _, name := range []string{"full.yaml", "mistakes.yaml"} {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Rules{Sandbox, adapters}.ParseFile("fuzz.yaml", data)
		wrong, ok := errors.AsType[*FileError](err)
		if (file == nil) != ok || ok && len(wrong.Mistakes) == 0 {
			t.Fatalf("file %v, error %v", file, err)
		}
		if ok && !slices.IsSortedFunc(wrong.Mistakes, func(a, b Mistake) int { return a.Line - b.Line }) {
			t.Fatalf("out of order:\n%s", wrong)
		}
	})
}

func TestCreditorIdentifier(t *testing.T) {
	t.Parallel()
	full := testFile(t, "full.yaml")
	file, wrong := parse(t, strings.Replace(full, "identifier: DE98ZZZ09999999999", "identifier: de98 zzz 09999999999", 1), Sandbox)
	if wrong != nil || file.Tenants[0].Tenant.Creditor.Identifier != "DE98ZZZ09999999999" {
		t.Errorf("not read in its electronic form: %v", wrong)
	}
	for identifier, want := range map[string]string{
		"DE97ZZZ09999999999": "The check digits of this creditor identifier are wrong",
		"US98ZZZ09999999999": "it is no country of SEPA",
		"DE98ZZZ0999":        "one of DE has 18",
	} {
		if _, wrong := parse(t, strings.Replace(full, "DE98ZZZ09999999999", identifier, 1), Sandbox); wrong == nil || !strings.Contains(wrong.Error(), want) {
			t.Errorf("%s: %v", identifier, wrong)
		}
	}
}

func TestDunningDaysOfACampaign(t *testing.T) {
	t.Parallel()
	full := testFile(t, "full.yaml")
	for days, want := range map[string]payment.Dunning{"[]": {}, "[1]": {1}, "null": nil} {
		file, wrong := parse(t, strings.Replace(full, "dunning_days: [5, 10]", "dunning_days: "+days, 1), Sandbox)
		if wrong != nil {
			t.Fatal(wrong)
		}
		if got := file.Tenants[0].Campaigns[0].Record.Dunning; !reflect.DeepEqual(got, want) {
			t.Errorf("%s is read as %#v", days, got)
		}
	}
	for _, days := range []string{"[0]", "[91]", "[x]", "[1.5]", "7"} {
		if _, wrong := parse(t, strings.Replace(full, "dunning_days: [5, 10]", "dunning_days: "+days, 1), Sandbox); wrong == nil {
			t.Errorf("%s is taken", days)
		}
	}
}

func TestNoticesOfATenant(t *testing.T) {
	t.Parallel()
	tenant := func(notices string) string {
		return "tenants:\n- {id: 018f0000-0000-7000-8000-000000000001, name: T, notices: " + notices + "}\n"
	}
	for notices, want := range map[string]Notices{
		`{sender: billing@shop.example}`:                                           {Sender: "billing@shop.example", Send: SendAll},
		`{sender: My Shop <b@shop.example>, reply_to: h@shop.example, send: none}`: {Sender: `"My Shop" <b@shop.example>`, ReplyTo: "h@shop.example", Send: SendNone},
		`{sender: b@shop.example, send: first_and_changes}`:                        {Sender: "b@shop.example", Send: SendFirstAndChanges},
	} {
		file, wrong := parse(t, tenant(notices), Sandbox)
		if wrong != nil {
			t.Fatal(notices, wrong)
		}
		got := file.Tenants[0].Tenant
		if got.Notices != want || got.Notices.Sends() == (want.Send == SendNone) {
			t.Errorf("%s gives %+v", notices, got.Notices)
		}
		again, err := Rules{Environment: Sandbox}.ReadTenant(TenantFields(got))
		if err != nil || again != got {
			t.Errorf("%s is read again as %+v: %v", notices, again.Notices, err)
		}
	}
	for notices, field := range map[string]string{
		`{reply_to: h@shop.example}`: "notices.sender", `{sender: nobody}`: "notices.sender", `{sender: a@localhost}`: "notices.sender",
		`{sender: "a@b.example, c@d.example"}`: "notices.sender", `{sender: "=?utf-8?q?A=0AB?= <a@b.example>"}`: "notices.sender", `{sender: a@b.example, send: some}`: "notices.send",
	} {
		if _, wrong := parse(t, tenant(notices), Sandbox); wrong == nil || !strings.Contains(wrong.Error(), field) {
			t.Errorf("%s: %v", notices, wrong)
		}
	}
}

func TestIDsAreMadeFromNames(t *testing.T) {
	t.Parallel()
	rules := Rules{Environment: Sandbox, Adapters: []string{"sandbox"}}
	const shop = `tenants:
  - name: Corner Shop
    gateways:
      - {name: Main, adapter: sandbox}
    offers:
      - {name: Poster, price: "19.90", currency: EUR, billing_type: ONE_OFF}
    campaigns:
      - {name: Spring, offer_id: Poster, gateway_id: Main}
`
	read := func(t *testing.T, text string) FileTenant {
		t.Helper()
		file, err := rules.ParseFile("shop.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return file.Tenants[0]
	}
	first, again := read(t, shop), read(t, shop)
	campaign := first.Campaigns[0].Record
	if first.Tenant.ID != again.Tenant.ID || first.Gateways[0].Record.ID != again.Gateways[0].Record.ID || campaign.ID != again.Campaigns[0].Record.ID {
		t.Error("the same file gives other ids")
	}
	if campaign.OfferID != first.Offers[0].Record.ID || campaign.GatewayID != first.Gateways[0].Record.ID || len(first.Unresolved) != 0 {
		t.Error("names do not lead to their records")
	}
	ids := map[uuid.UUID]bool{first.Tenant.ID: true, first.Gateways[0].Record.ID: true, first.Offers[0].Record.ID: true, campaign.ID: true}
	other := read(t, strings.Replace(shop, "Corner Shop", "Other Shop", 1))
	if len(ids) != 4 || ids[other.Tenant.ID] || ids[other.Gateways[0].Record.ID] {
		t.Error("an id is given twice")
	}
	same := read(t, strings.ReplaceAll(shop, "Poster", "Main"))
	if same.Campaigns[0].Record.OfferID != same.Offers[0].Record.ID || same.Campaigns[0].Record.GatewayID != same.Gateways[0].Record.ID {
		t.Error("records of two kinds with one name are mixed up")
	}
	for text, want := range map[string]string{
		strings.Replace(shop, "adapter: sandbox}", "adapter: sandbox}\n      - {name: Main, adapter: sandbox}", 1): "has the same name",
		strings.Replace(shop, "offer_id: Poster", "offer_id: Postre", 1):                                           "Give a UUID",
	} {
		if _, err := rules.ParseFile("shop.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
