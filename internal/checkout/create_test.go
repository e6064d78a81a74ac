package checkout_test

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/checkout"
	"sepad/internal/checkout/checkouttest"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// order is a request of the till's campaign for a customer of its own.
func order(till *checkouttest.Till, change ...func(*checkout.CreateRequest)) checkout.CreateRequest {
	req := checkout.CreateRequest{
		HasCampaign: true, CampaignID: &till.Shop.Campaign.ID, CustomerIP: "192.0.2.9",
		Lead: payment.Lead{FirstName: "Anna", LastName: "Müller", Email: uuid.NewString() + "@example.org", Country: "DE"},
	}
	for _, c := range change {
		c(&req)
	}
	return req
}

// direct is a request that names everything itself.
func direct(till *checkouttest.Till) func(*checkout.CreateRequest) {
	return func(r *checkout.CreateRequest) {
		r.HasCampaign, r.CampaignID = false, nil
		r.GatewayID, r.AmountMinor, r.Currency, r.BillingType = &till.Shop.Gateway.ID, new(payment.Minor(5_00)), new("EUR"), new(payment.OneOff)
	}
}

func create(t *testing.T, till *checkouttest.Till, req checkout.CreateRequest) payment.Session {
	t.Helper()
	created, err := till.Create(t.Context(), till.Setup(t, till.Shop), req, payment.Fields{})
	if err != nil {
		t.Fatalf("create: %v", err)
	}
	if want := "https://pay.example/pay/" + created.Token + "/"; created.PaymentURL != want {
		t.Errorf("the page is at %s", created.PaymentURL)
	}
	return till.Env.Find(t, created.Token).Session
}

func TestASessionIsWhatItsCampaignSays(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		s, shop := create(t, till, order(till, func(r *checkout.CreateRequest) { r.TenantReferenceID = new("order 17") })), till.Shop
		storetest.Equal(t, s.Terms, shop.Offer.Terms)
		if *s.CampaignID != shop.Campaign.ID || *s.OfferID != shop.Offer.ID || s.GatewayID != shop.Gateway.ID || *s.HostedPageID != shop.HostedPage.ID || *s.WebhookProfileID != shop.Profile.ID {
			t.Error("it refers to other records")
		}
		if s.MaxAttempts != shop.Campaign.MaxPaymentAttempts || s.AcceptanceMode != shop.Campaign.AcceptanceMode || !s.ExpiresAt.Equal(till.Time.Now().Add(shop.Campaign.SessionTTL)) {
			t.Errorf("%d attempts, %s, until %s", s.MaxAttempts, s.AcceptanceMode, s.ExpiresAt)
		}
		if s.TenantReferenceID == nil || *s.TenantReferenceID != "order 17" {
			t.Error("it does not go by its merchant's reference")
		}
		if s.Status != payment.SessionPending || !s.HoldsLead || s.CustomerIP != "192.0.2.9" || s.MandateReference == "" || !s.CreatedAt.Equal(till.Time.Now()) {
			t.Errorf("it is %s, made at %s", s.Status, s.CreatedAt)
		}
	})
}

func TestACampaignMayLeaveTheTimeOfItsSessionsToTheDeployment(t *testing.T) {
	t.Parallel()
	till := checkouttest.Open(t, storetest.SQLite(t))
	campaign := till.Env.Campaign(t, till.Shop.ID, func(c *merchant.Campaign) {
		c.OfferID, c.GatewayID, c.SessionTTL = till.Shop.Offer.ID, till.Shop.Gateway.ID, 0
	})
	s := create(t, till, order(till, func(r *checkout.CreateRequest) { r.CampaignID = &campaign.ID }))
	if want := till.Time.Now().Add(checkout.DefaultSessionTTL); !s.ExpiresAt.Equal(want) {
		t.Errorf("it can be paid until %s, want %s", s.ExpiresAt, want)
	}
}

func TestARequestMayNameOtherTerms(t *testing.T) {
	t.Parallel()
	till := checkouttest.Open(t, storetest.SQLite(t))
	trial := payment.Terms{
		PriceMinor: 9_00, Currency: "EUR", BillingType: payment.TrialRecurring, Frequency: payment.Monthly,
		TrialUnit: payment.TrialWeek, TrialPeriod: 2, TrialMinor: new(payment.Minor(1)),
	}
	till.Env.Offer(t, till.Shop.ID, func(o *merchant.Offer) { *o = till.Shop.Offer; o.Terms = trial })
	recurring := trial
	recurring.BillingType, recurring.TrialUnit, recurring.TrialPeriod, recurring.TrialMinor = payment.Recurring, "", 0, nil
	oneOff := recurring
	oneOff.BillingType, oneOff.Frequency = payment.OneOff, ""
	other := trial
	other.PriceMinor, other.Frequency, other.TrialUnit, other.TrialPeriod, other.TrialMinor = 8_00, payment.Yearly, payment.TrialDay, 3, new(payment.Minor(2))
	for _, c := range []struct {
		name   string
		change func(*checkout.CreateRequest)
		want   payment.Terms
	}{
		{"none: the offer's hold", func(*checkout.CreateRequest) {}, trial},
		{"the same billing type keeps the trial", func(r *checkout.CreateRequest) { r.BillingType = new(payment.TrialRecurring) }, trial},
		{"another billing type drops the trial", func(r *checkout.CreateRequest) { r.BillingType = new(payment.Recurring) }, recurring},
		{"one that is not repeated drops the rhythm", func(r *checkout.CreateRequest) { r.BillingType = new(payment.OneOff) }, oneOff},
		{"each of them", func(r *checkout.CreateRequest) {
			r.AmountMinor, r.Currency, r.Frequency = new(payment.Minor(8_00)), new("EUR"), new(payment.Yearly)
			r.TrialUnit, r.TrialPeriod, r.TrialMinor = new(payment.TrialDay), new(3), new(payment.Minor(2))
		}, other},
	} {
		t.Run(c.name, func(t *testing.T) {
			storetest.Equal(t, create(t, till, order(till, c.change)).Terms, c.want)
		})
	}
}

func TestADirectRequestNamesEverythingItself(t *testing.T) {
	t.Parallel()
	till := checkouttest.Open(t, storetest.SQLite(t))
	s := create(t, till, order(till, direct(till), func(r *checkout.CreateRequest) {
		r.MaxAttempts, r.HostedPageID, r.WebhookProfileID = new(7), &till.Shop.HostedPage.ID, &till.Shop.Profile.ID
	}))
	if s.CampaignID != nil || s.OfferID != nil || s.GatewayID != till.Shop.Gateway.ID || s.MaxAttempts != 7 || *s.HostedPageID != till.Shop.HostedPage.ID || *s.WebhookProfileID != till.Shop.Profile.ID {
		t.Errorf("it is %+v", s.Terms)
	}
	if s.AcceptanceMode != payment.AcceptCheckbox || !s.ExpiresAt.Equal(till.Time.Now().Add(24*time.Hour)) {
		t.Errorf("accepted by %s until %s", s.AcceptanceMode, s.ExpiresAt)
	}
}

func TestWhatIsWrongWithARequestIsSaidAtOnce(t *testing.T) {
	t.Parallel()
	till := checkouttest.Open(t, storetest.SQLite(t))
	rival, shop := till.NewShop(t), till.Shop
	off := till.Env.Campaign(t, shop.ID, func(c *merchant.Campaign) { *c = shop.Campaign; c.ID, c.Active = payment.NewID(), false })
	noOffer := till.Env.Campaign(t, shop.ID, func(c *merchant.Campaign) { *c = shop.Campaign; c.ID, c.OfferID = payment.NewID(), payment.NewID() })
	noGateway := till.Env.Campaign(t, shop.ID, func(c *merchant.Campaign) { *c = shop.Campaign; c.ID, c.GatewayID = payment.NewID(), payment.NewID() })
	for _, c := range []struct {
		name   string
		change []func(*checkout.CreateRequest)
		want   []string
	}{
		{"a campaign of another tenant", []func(*checkout.CreateRequest){func(r *checkout.CreateRequest) { r.CampaignID = &rival.Campaign.ID }}, []string{"campaign_id"}},
		{"one that is switched off", []func(*checkout.CreateRequest){func(r *checkout.CreateRequest) { r.CampaignID = &off.ID }}, []string{"campaign_id"}},
		{"one whose offer is gone", []func(*checkout.CreateRequest){func(r *checkout.CreateRequest) { r.CampaignID = &noOffer.ID }}, []string{"campaign_id"}},
		{"one whose gateway is gone", []func(*checkout.CreateRequest){func(r *checkout.CreateRequest) { r.CampaignID = &noGateway.ID }}, []string{"campaign_id"}},
		{"that gateway replaced", []func(*checkout.CreateRequest){func(r *checkout.CreateRequest) { r.CampaignID, r.GatewayID = &noGateway.ID, &shop.Gateway.ID }}, nil},
		{"nothing but a customer", []func(*checkout.CreateRequest){func(r *checkout.CreateRequest) { r.HasCampaign, r.CampaignID = false, nil }}, []string{"amount", "billing_type", "currency", "gateway_id"}},
		{"records of another tenant", []func(*checkout.CreateRequest){func(r *checkout.CreateRequest) {
			r.GatewayID, r.HostedPageID, r.WebhookProfileID = &rival.Gateway.ID, &rival.HostedPage.ID, &rival.Profile.ID
		}}, []string{"gateway_id", "hosted_page_id", "webhook_profile_id"}},
		{"a currency that the gateway cannot collect", []func(*checkout.CreateRequest){func(r *checkout.CreateRequest) { r.Currency = new("SEK") }}, []string{"currency"}},
		{"a trial without one", []func(*checkout.CreateRequest){func(r *checkout.CreateRequest) { r.TrialPeriod = new(3) }}, []string{"trial_period"}},
		{"a trial that is not described", []func(*checkout.CreateRequest){direct(till), func(r *checkout.CreateRequest) { r.BillingType = new(payment.TrialRecurring) }}, []string{"trial_interval_unit", "trial_period"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			bad := payment.Fields{}
			_, err := till.Create(t.Context(), till.Setup(t, till.Shop), order(till, c.change...), bad)
			if got := slices.Sorted(maps.Keys(bad)); !slices.Equal(got, c.want) || (err != nil) != (len(c.want) > 0) {
				t.Errorf("wrong are %v, want %v: %v", got, c.want, err)
			}
		})
	}
}

func TestACreateIsRepeatedUnderItsKey(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		setup := till.Setup(t, till.Shop)
		req := order(till, func(r *checkout.CreateRequest) {
			r.Key = store.RequestKey{Scope: till.Shop.ID, Key: "key", RequestHash: "hash", At: till.Time.Now()}
		})
		again := func() (checkout.Created, error) {
			return till.Create(t.Context(), setup, req, payment.Fields{})
		}
		first, err := again()
		if err != nil {
			t.Fatal(err)
		}
		if second, err := again(); err != nil || second != first {
			t.Errorf("repeated: %v, %v", second, err)
		}
		req.Key.RequestHash = "another"
		if _, err := again(); payment.KindOf(err) != payment.Conflict {
			t.Errorf("with another request: %v", err)
		}
		till.Time.Pass(24 * time.Hour)
		req.Key.At = till.Time.Now()
		if second, err := again(); err != nil || second == first {
			t.Errorf("a day later: %v", err)
		}
		till.Env.Exec(t, `UPDATE sessions SET token_sealed = 'broken'`)
		if repeated, err := again(); err == nil {
			t.Errorf("the token cannot be read, and %+v is told", repeated)
		}
	})
}

func TestTwinsAtOnceGetOneSession(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		setup := till.Setup(t, till.Shop)
		req := order(till, func(r *checkout.CreateRequest) {
			r.Key = store.RequestKey{Scope: till.Shop.ID, Key: "twins", RequestHash: "hash", At: till.Time.Now()}
		})
		tokens := make([]string, 4)
		var twins sync.WaitGroup
		for i := range tokens {
			twins.Go(func() {
				created, err := till.Create(context.WithoutCancel(t.Context()), setup, req, payment.Fields{})
				if tokens[i] = created.Token; err != nil {
					t.Errorf("a twin: %v", err)
				}
			})
		}
		twins.Wait()
		if len(slices.Compact(slices.Sorted(slices.Values(tokens)))) != 1 || till.Env.Count(t, "sessions") != 1 {
			t.Errorf("%d sessions were made", till.Env.Count(t, "sessions"))
		}
	})
}

func TestACustomerHasOneSessionAtATime(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		req := order(till)
		first := create(t, till, req)
		if _, err := till.Create(t.Context(), till.Setup(t, till.Shop), req, payment.Fields{}); payment.KindOf(err) != payment.Conflict {
			t.Errorf("a second one: %v", err)
		}
		till.Time.Set(first.ExpiresAt)
		if second := create(t, till, req); second.LeadID != first.LeadID {
			t.Error("the customer is another one")
		}
	})
}

func TestCancelEndsAMerchantsOwnSession(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		found := till.Session(t)
		if _, err := till.Cancel(t.Context(), till.NewShop(t).ID, found.Session.Token); payment.KindOf(err) != payment.NotFound {
			t.Errorf("by another tenant: %v", err)
		}
		if _, err := till.Cancel(t.Context(), till.Shop.ID, found.Session.Token); err != nil {
			t.Fatal(err)
		}
		if _, err := till.Cancel(t.Context(), till.Shop.ID, found.Session.Token); payment.KindOf(err) != payment.Gone {
			t.Errorf("a second time: %v", err)
		}
		if _, err := till.Cancel(t.Context(), till.Shop.ID, till.Unknown(t).Session.Token); payment.KindOf(err) != payment.Conflict {
			t.Errorf("while a payment is under way: %v", err)
		}
	})
}

// TestASpoiltTokenIsToldOf: a session whose token cannot be opened any more is found by its id, and somebody is called;
// nobody is for one that is sound.
func TestASpoiltTokenIsToldOf(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		for _, spoilt := range []bool{false, true} {
			id := till.Session(t).Session.ID.String()
			if spoilt {
				till.Env.Exec(t, `UPDATE sessions SET token_sealed = 'spoilt' WHERE id = $1`, id)
			}
			if _, err := till.Cancel(t.Context(), till.Shop.ID, id); err != nil {
				t.Error(err)
			}
			if told := strings.Contains(till.Log(), "a sealed token cannot be read and needs a person"); told != spoilt {
				t.Errorf("spoilt: %t, and somebody is told: %t", spoilt, told)
			}
		}
	})
}

func TestWhatIsShownOfASession(t *testing.T) {
	t.Parallel()
	till := checkouttest.Open(t, storetest.SQLite(t))
	shop := till.Shop
	inCampaign, err := till.Retrieve(t.Context(), create(t, till, order(till)).Token)
	if err != nil {
		t.Fatal(err)
	}
	if inCampaign.CampaignName() != shop.Campaign.Name || inCampaign.OfferName() != shop.Offer.Name || inCampaign.Page.ID != shop.HostedPage.ID ||
		inCampaign.Gateway.ID != shop.Gateway.ID || inCampaign.Tenant.ID != shop.ID || inCampaign.Lead.FirstName != "Anna" || inCampaign.Status != payment.SessionPending {
		t.Errorf("in a campaign: %s, %s", inCampaign.CampaignName(), inCampaign.OfferName())
	}
	onPage, err := till.Retrieve(t.Context(), create(t, till, order(till, direct(till), func(r *checkout.CreateRequest) { r.HostedPageID = &shop.HostedPage.ID })).Token)
	if err != nil || onPage.CampaignName() != shop.Name || onPage.OfferName() != shop.HostedPage.Name {
		t.Errorf("on a page: %s, %s, %v", onPage.CampaignName(), onPage.OfferName(), err)
	}
	token := create(t, till, order(till, direct(till))).Token
	till.Time.Pass(24 * time.Hour)
	plain, err := till.Retrieve(t.Context(), token)
	if err != nil || plain.OfferName() != shop.Name || plain.Status != payment.SessionExpired || plain.Session.Status != payment.SessionPending {
		t.Errorf("without: %s, %s, %v", plain.OfferName(), plain.Status, err)
	}
	if _, err := till.Retrieve(t.Context(), payment.NewToken(shop.Number)); payment.KindOf(err) != payment.NotFound {
		t.Errorf("of nobody's: %v", err)
	}
}

// TestARhythmThatIsTooFastForItsBank: the next debit would have to be told before the one ahead of it was collected.
func TestARhythmThatIsTooFastForItsBank(t *testing.T) {
	t.Parallel()
	till := checkouttest.Open(t, storetest.SQLite(t), checkouttest.WithNotice(14))
	for rhythm, fits := range map[payment.BillingFrequency]bool{payment.Weekly: false, payment.Biweekly: false, payment.Monthly: true} {
		_, err := till.Create(t.Context(), till.Setup(t, till.Shop), order(till, direct(till), func(r *checkout.CreateRequest) {
			r.BillingType, r.Frequency = new(payment.Recurring), &rhythm
		}), payment.Fields{})
		refused, _ := errors.AsType[*payment.Error](err)
		if (err == nil) != fits || !fits && (refused == nil || refused.Fields["billing_frequency"] == "") {
			t.Errorf("%s: %v", rhythm, err)
		}
	}
}

// TestAGatewayThatIsNotUsedAnyMoreIsNamed: its currency is not what is wrong.
func TestAGatewayThatIsNotUsedAnyMoreIsNamed(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		till.SetGateway(t, till.Shop, func(a *merchant.GatewayAccount) { a.Adapter = "gone" })
		for name, req := range map[string]checkout.CreateRequest{"by campaign": order(till), "by itself": order(till, direct(till))} {
			_, err := till.Create(t.Context(), till.Setup(t, till.Shop), req, payment.Fields{})
			refused, ok := errors.AsType[*payment.Error](err)
			if want := (payment.Fields{"gateway_id": "This gateway is not in use here any more."}); !ok || !reflect.DeepEqual(refused.Fields, want) {
				t.Errorf("%s: got %v", name, err)
			}
		}
	})
}
