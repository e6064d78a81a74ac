package setup_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/gateway"
	"sepad/internal/gateway/adapters"
	"sepad/internal/gateway/sandbox"
	"sepad/internal/gateway/sandbox/ledgerdb"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/setup"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// shop is a resource file with one record of each kind. The ids of %[1]s differ
// by their last digits.
const shop = `
tenants:
  - id: %[1]s0001
    name: Bookshop
    creditor: {name: Bookshop GmbH, identifier: DE98ZZZ09999999999}
    api_keys:
      - name: backend
    gateways:
      - id: %[1]s0010
        name: Main
        adapter: picky
        settings: {account: 9007199254740993, nested: {count: 1, name: two}}
    webhook_profiles:
      - id: %[1]s0020
        name: Backend
        url: https://shop.example/hooks
        default: true
    hosted_pages:
      - id: %[1]s0030
        name: Page
        content: {headline: Hello, steps: [1, 2.5]}
    offers:
      - {id: %[1]s0040, name: Book, price: "19.90", currency: EUR, billing_type: ONE_OFF}
    campaigns:
      - id: %[1]s0050
        name: Spring
        offer_id: %[1]s0040
        gateway_id: %[1]s0010
        hosted_page_id: %[1]s0030
        offer_overrides: {badge: 7}
`

// shopRecords counts the tenant, its key and its records.
const shopRecords = 7

type bench struct {
	env     *storetest.Env
	applier *setup.Applier
	prefix  string
}

func newBench(env *storetest.Env) *bench {
	b := &bench{env: env, prefix: payment.NewID().String()[:32]}
	b.applier = b.newApplier(env.Store)
	return b
}

// newApplier has an adapter that looks at its settings.
func (b *bench) newApplier(st *store.Store) *setup.Applier {
	kinds := adapters.All(ledgerdb.New(st.DB, nil), sandbox.Options{})
	picky := kinds[sandbox.Name]
	picky.Name = "picky"
	picky.Settings = append(picky.Settings,
		gateway.Setting{Name: "account", Type: gateway.SettingNumber, Required: true},
		gateway.Setting{Name: "nested", Type: gateway.SettingObject, Fields: []gateway.Setting{
			{Name: "count", Type: gateway.SettingNumber}, {Name: "name", Type: gateway.SettingText},
		}})
	kinds["picky"] = picky
	return &setup.Applier{Store: st, Kinds: kinds, Environment: merchant.Sandbox}
}

func (b *bench) id(last string) uuid.UUID { return uuid.MustParse(b.prefix + last) }

// text is the shop's file with replacements, given in pairs.
func (b *bench) text(changes ...string) string {
	return strings.NewReplacer(changes...).Replace(fmt.Sprintf(shop, b.prefix))
}

func (b *bench) parse(t *testing.T, text string) *merchant.File {
	t.Helper()
	file, err := b.applier.Rules().ParseFile("shop.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func (b *bench) try(t *testing.T, text string) ([]setup.Change, error) {
	t.Helper()
	return b.applier.Apply(t.Context(), b.parse(t, text), b.env.Now)
}

func (b *bench) apply(t *testing.T, text string) []setup.Change {
	t.Helper()
	changes, err := b.try(t, text)
	if err != nil {
		t.Fatal(err)
	}
	return changes
}

func (b *bench) stored(t *testing.T) (*merchant.Setup, int64) {
	t.Helper()
	version, err := b.env.Store.SetupVersion(t.Context(), b.id("0001"))
	if err != nil {
		t.Fatal(err)
	}
	stored, err := b.env.Store.Setup(t.Context(), b.id("0001"), version)
	if err != nil {
		t.Fatal(err)
	}
	return stored, version
}

func only(t *testing.T, changes []setup.Change, action setup.Action) setup.Change {
	t.Helper()
	var found []setup.Change
	for _, c := range changes {
		if c.Action == action {
			found = append(found, c)
		}
	}
	if len(found) != 1 {
		t.Fatalf("want one record %s, got %v", action, changes)
	}
	return found[0]
}

func count(changes []setup.Change, action setup.Action) (n int) {
	for _, c := range changes {
		if c.Action == action {
			n++
		}
	}
	return n
}

func of(t *testing.T, changes []setup.Change, kind merchant.RecordKind) setup.Change {
	t.Helper()
	for _, c := range changes {
		if c.Kind == kind {
			return c
		}
	}
	t.Fatalf("no %s in %v", kind, changes)
	return setup.Change{}
}

func TestApplyCreates(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		b := newBench(env)
		changes := b.apply(t, b.text())
		if count(changes, setup.Created) != shopRecords || len(changes) != shopRecords {
			t.Fatalf("got %v", changes)
		}
		stored, _ := b.stored(t)
		if stored.Tenant.Number == 0 || stored.Tenant.Name != "Bookshop" {
			t.Errorf("tenant is %+v", stored.Tenant)
		}
		if stored.Gateways[b.id("0010")].Settings["account"] != int64(9007199254740993) {
			t.Error("the gateway's settings were not kept")
		}
		key := of(t, changes, setup.KindAPIKey)
		credential, found, err := env.Store.CredentialByKeyHash(t.Context(), merchant.HashAPIKey(key.Secret.Reveal()))
		if err != nil || !found || credential.TenantID != b.id("0001") || credential.KeyID != key.ID {
			t.Errorf("the key shown opens %+v, %v, %v", credential, found, err)
		}
		secret := of(t, changes, merchant.KindWebhookProfile).Secret
		if secret.IsZero() || stored.WebhookProfiles[b.id("0020")].SigningSecret != secret {
			t.Error("the signing secret shown is not the one stored")
		}
	})
}

func TestApplyAgainChangesNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		b := newBench(env)
		b.apply(t, b.text())
		before := env.Dump(t)
		env.Now = env.Now.Add(time.Hour)
		changes := b.apply(t, b.text())
		if count(changes, setup.Unchanged) != shopRecords || setup.AnyChange(changes) {
			t.Errorf("got %v", changes)
		}
		for _, c := range changes {
			if !c.Secret.IsZero() {
				t.Errorf("the secret of %s was shown twice", c.Kind)
			}
		}
		if env.Dump(t) != before {
			t.Error("a row was written")
		}
	})
}

func TestApplyDemoFileTwice(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		b := newBench(env)
		if !setup.AnyChange(b.apply(t, string(merchant.DemoFile))) {
			t.Error("the first time changed nothing")
		}
		if changes := b.apply(t, string(merchant.DemoFile)); setup.AnyChange(changes) {
			t.Errorf("the second time changed %v", changes)
		}
	})
}

func TestApplyChanges(t *testing.T) {
	t.Parallel()
	for _, example := range []struct {
		name, old, changed string
		kind               merchant.RecordKind
	}{
		{"a tenant's name", "name: Bookshop\n", "name: Book Shop\n", merchant.KindTenant},
		{"a setting of a gateway", "count: 1", "count: 2", merchant.KindGateway},
		{"a webhook address", "/hooks", "/events", merchant.KindWebhookProfile},
		{"the content of a page", "headline: Hello", "headline: Welcome", merchant.KindHostedPage},
		{"a price", "19.90", "24.90", merchant.KindOffer},
		{"an override", "badge: 7", "badge: 8", merchant.KindCampaign},
		{"a switch that is turned off", "name: Spring\n", "name: Spring\n        active: false\n", merchant.KindCampaign},
	} {
		t.Run(example.name+" is written alone", func(t *testing.T) {
			t.Parallel()
			b := newBench(storetest.SQLite(t))
			b.apply(t, b.text())
			_, before := b.stored(t)
			changes := b.apply(t, b.text(example.old, example.changed))
			if c := only(t, changes, setup.Changed); c.Kind != example.kind {
				t.Errorf("changed %v", c)
			}
			// One step is the claim, the other the one record.
			if _, after := b.stored(t); after != before+2 {
				t.Errorf("the version went from %d to %d", before, after)
			}
			if again := b.apply(t, b.text(example.old, example.changed)); setup.AnyChange(again) {
				t.Errorf("the change is seen again: %v", again)
			}
		})
	}

	t.Run("a whole number written as a fraction is no change", func(t *testing.T) {
		t.Parallel()
		b := newBench(storetest.SQLite(t))
		b.apply(t, b.text())
		if changes := b.apply(t, b.text("count: 1", "count: 1.0", "badge: 7", "badge: 7.0")); setup.AnyChange(changes) {
			t.Errorf("got %v", changes)
		}
	})

	t.Run("the tenant keeps its number, which is in session tokens", func(t *testing.T) {
		t.Parallel()
		b := newBench(storetest.SQLite(t))
		b.apply(t, b.text())
		before, _ := b.stored(t)
		b.apply(t, b.text("name: Bookshop\n", "name: Book Shop\n"))
		if after, _ := b.stored(t); after.Tenant.Number != before.Tenant.Number {
			t.Error("it has another number")
		}
	})

	t.Run("what the file no longer mentions is left alone", func(t *testing.T) {
		t.Parallel()
		b := newBench(storetest.SQLite(t))
		b.apply(t, b.text())
		short, _, _ := strings.Cut(b.text(), "    gateways:")
		if changes := b.apply(t, short); setup.AnyChange(changes) {
			t.Errorf("got %v", changes)
		}
		if stored, _ := b.stored(t); len(stored.Campaigns) != 1 || !stored.Campaigns[b.id("0050")].Active {
			t.Error("the campaign is gone")
		}
	})
}

func TestApplySigningSecret(t *testing.T) {
	t.Parallel()
	const place = "url: https://shop.example/hooks"
	withSecret := func(secret string) string { return place + "\n        signing_secret: " + secret }

	t.Run("a replaced one signs for another 24 hours", func(t *testing.T) {
		t.Parallel()
		b := newBench(storetest.SQLite(t))
		made := of(t, b.apply(t, b.text()), merchant.KindWebhookProfile).Secret
		change := only(t, b.apply(t, b.text(place, withSecret("second-secret"))), setup.Changed)
		if change.Note == "" || !change.Secret.IsZero() {
			t.Errorf("told %+v", change)
		}
		stored, _ := b.stored(t)
		profile := stored.WebhookProfiles[b.id("0020")]
		if profile.SigningSecret != "second-secret" || profile.PreviousSecret != made ||
			!profile.PreviousSecretUntil.Equal(b.env.Now.Add(24*time.Hour)) {
			t.Error("the secrets are not those expected")
		}
	})

	t.Run("the overlap outlives another apply", func(t *testing.T) {
		t.Parallel()
		b := newBench(storetest.SQLite(t))
		b.apply(t, b.text(place, withSecret("first-secret")))
		b.apply(t, b.text(place, withSecret("second-secret")))
		for _, text := range []string{b.text(place, withSecret("second-secret")), b.text()} {
			if changes := b.apply(t, text); setup.AnyChange(changes) {
				t.Errorf("got %v", changes)
			}
		}
		if stored, _ := b.stored(t); stored.WebhookProfiles[b.id("0020")].PreviousSecret != "first-secret" {
			t.Error("the previous secret is gone")
		}
	})
}

func TestApplyMistakes(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		b := newBench(env)
		other := env.Shop(t)
		_, otherKey := env.APIKey(t, other.ID)
		before := env.Dump(t)
		for _, example := range []struct{ name, old, changed, want string }{
			{"a gateway of another tenant is not taken over", b.prefix + "0010", other.Gateway.ID.String(), "gateways[0].id: This id is already taken by another tenant's gateway."},
			{"an id of another kind is not taken over", b.prefix + "0040", other.Campaign.ID.String(), "offers[0].id: This id is already taken by another tenant's campaign."},
			{"a tenant's id is not a record's", b.prefix + "0030", other.ID.String(), "hosted_pages[0].id: This id is already taken by a tenant."},
			{"a record's id is not a tenant's", b.prefix + "0001", other.Offer.ID.String(), "tenants[0].id: This id is already taken by another tenant's offer."},
			{"a reference to another tenant's record leads nowhere", "offer_id: " + b.prefix + "0040", "offer_id: " + other.Offer.ID.String(), "campaigns[0].offer_id: The tenant has no offer with this id."},
			{"an offer in a currency that nobody collects is refused", "currency: EUR", "currency: CHF", "offers[0].currency: No gateway collects this currency: SEPA collects EUR."},
			{"a setting that is missing is named", "account: 9007199254740993, ", "", "gateways[0].settings.account: This setting is required."},
			{"a setting that nobody knows is named, and the one that was meant", "{count: 1, ", "{cuont: 1, ", "gateways[0].settings.nested.cuont: This setting is not known. Did you mean count?"},
			{"another tenant's key is refused", "- name: backend", "- {name: backend, key: " + otherKey + "}", "api_keys[0].key: This key is already that of another tenant."},
		} {
			t.Run(example.name, func(t *testing.T) {
				t.Parallel()
				_, err := b.try(t, b.text(example.old, example.changed))
				wrong, ok := errors.AsType[*merchant.FileError](err)
				if !ok || len(wrong.Mistakes) != 1 || !strings.HasSuffix(err.Error(), example.want) {
					t.Fatalf("got %v", err)
				}
				if wrong.Mistakes[0].Line == 0 || strings.Contains(err.Error(), otherKey) {
					t.Errorf("got %v", err)
				}
				if env.Dump(t) != before {
					t.Error("a row was written")
				}
			})
		}
	})
}

func TestApplyTellsEveryMistakeInOrder(t *testing.T) {
	t.Parallel()
	b := newBench(storetest.SQLite(t))
	unknown := payment.NewID().String()
	_, err := b.try(t, b.text("account: 9007199254740993, ", "", "offer_id: "+b.prefix+"0040", "offer_id: "+unknown,
		"hosted_page_id: "+b.prefix+"0030", "hosted_page_id: "+unknown))
	wrong, ok := errors.AsType[*merchant.FileError](err)
	if !ok || len(wrong.Mistakes) != 3 {
		t.Fatalf("got %v", err)
	}
	if !slices.IsSortedFunc(wrong.Mistakes, func(a, b merchant.Mistake) int { return a.Line - b.Line }) {
		t.Errorf("got %v", err)
	}
	if b.env.Count(t, "tenants") != 0 {
		t.Error("a tenant was made")
	}
}

func TestApplyRefersToWhatIsStored(t *testing.T) {
	t.Parallel()
	b := newBench(storetest.SQLite(t))
	b.apply(t, b.text())
	more := fmt.Sprintf(`{tenants: [{id: %[1]s0001, name: Bookshop, creditor: {name: Bookshop GmbH, identifier: DE98ZZZ09999999999},
		campaigns: [{id: %[1]s0051, name: Autumn, offer_id: %[1]s0040, gateway_id: %[1]s0010}]}]}`, b.prefix)
	if c := only(t, b.apply(t, strings.ReplaceAll(more, "\t", " ")), setup.Created); c.Name != "Autumn" {
		t.Errorf("created %v", c)
	}
}

func TestApplyAllowsOneDefaultProfile(t *testing.T) {
	t.Parallel()
	b := newBench(storetest.SQLite(t))
	b.apply(t, b.text())
	_, err := b.try(t, b.text(b.prefix+"0020", b.prefix+"0021"))
	if err == nil || !strings.Contains(err.Error(), "webhook_profiles[0].default: Webhook profile "+b.prefix+"0020 is the default already") {
		t.Errorf("got %v", err)
	}
}

// TestApplyAtOnce lets applies of one file meet: they all succeed, and one of
// them does the work, whether the file holds a key that must be unique or not.
func TestApplyAtOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		b := newBench(env)
		b.applyAtOnce(t, b.text())
		if env.Count(t, "tenants") != 1 || env.Count(t, "api_keys") != 1 || env.Count(t, "setup_records") != 5 {
			t.Errorf("%d tenants, %d keys", env.Count(t, "tenants"), env.Count(t, "api_keys"))
		}
		b.applyAtOnce(t, b.text("/hooks", "/events"))
	})
}

// applyAtOnce applies a text in several processes and fails unless one of them
// did the work.
func (b *bench) applyAtOnce(t *testing.T, text string) {
	t.Helper()
	env, file := b.env, b.parse(t, text)
	const processes, each = 3, 3
	var group sync.WaitGroup
	results := make(chan []setup.Change, processes*each)
	for range processes {
		applier := b.newApplier(env.Reopen(t))
		for range each {
			group.Go(func() {
				changes, err := applier.Apply(t.Context(), file, env.Now)
				if err != nil {
					t.Error(err)
				}
				results <- changes
			})
		}
	}
	group.Wait()
	close(results)
	working := 0
	for changes := range results {
		if setup.AnyChange(changes) {
			working++
		}
	}
	if working != 1 {
		t.Errorf("%d applies worked", working)
	}
}
