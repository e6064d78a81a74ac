package admin_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"sepad/internal/app/apptest"
)

// setupRace is one tenant with a record of each kind, on which changes meet.
type setupRace struct {
	*apptest.Server
	gateway, profile, page, offer, campaign string
	rounds                                  int
}

// changeUnderTest makes one change of a set-up: what is called, where it shows and
// how. Each call of it is another change.
type changeUnderTest struct {
	name string
	make func(t *testing.T, s *setupRace) (call apptest.Request, at string, shows apptest.Fields)
}

func newSetupRace(t *testing.T, s *apptest.Server) *setupRace {
	create := func(kind string, body apptest.Body) string {
		id := s.Do(t, calling("POST", ofShop(kind), body)).Want(t, http.StatusCreated, nil).Text(t, "id")
		return ofShop(kind) + id + "/"
	}
	r := &setupRace{Server: s}
	r.gateway = create("gateways", apptest.Body{"name": "G", "adapter": "sandbox"})
	r.profile = create("webhook-profiles", apptest.Body{"name": "P", "url": "http://127.0.0.1:9/x"})
	r.page = create("hosted-pages", apptest.Body{"name": "H"})
	r.offer = create("offers", apptest.Body{"name": "O", "price": "1.00", "currency": "EUR", "billing_type": "ONE_OFF"})
	r.campaign = create("campaigns", apptest.Body{"name": "C", "offer_id": apptest.PosterOffer, "gateway_id": apptest.Gateway})
	return r
}

// fresh is a value that was not there before.
func (s *setupRace) fresh(format string) string {
	s.rounds++
	return fmt.Sprintf(format, s.rounds)
}

// patch changes one field of a record to something new.
func patch(name, field, format string, at func(*setupRace) string) changeUnderTest {
	return changeUnderTest{name, func(_ *testing.T, s *setupRace) (apptest.Request, string, apptest.Fields) {
		value := s.fresh(format)
		return calling("PATCH", at(s), apptest.Body{field: value}), at(s), apptest.Fields{field: value}
	}}
}

// switchOff deactivates a record that was active.
func switchOff(name string, at func(*setupRace) string) changeUnderTest {
	return changeUnderTest{name, func(t *testing.T, s *setupRace) (apptest.Request, string, apptest.Fields) {
		s.Do(t, calling("PATCH", at(s), apptest.Body{"active": true})).Want(t, http.StatusOK, nil)
		return calling("DELETE", at(s), nil), at(s), apptest.Fields{"active": false}
	}}
}

func adminChanges() []changeUnderTest {
	tenant := func(*setupRace) string { return tenants + apptest.Shop + "/" }
	gateway := func(s *setupRace) string { return s.gateway }
	profile := func(s *setupRace) string { return s.profile }
	page := func(s *setupRace) string { return s.page }
	offer := func(s *setupRace) string { return s.offer }
	campaign := func(s *setupRace) string { return s.campaign }
	return []changeUnderTest{
		patch("the tenant's name", "name", "Shop %d", tenant),
		{"the tenant's creditor", func(_ *testing.T, s *setupRace) (apptest.Request, string, apptest.Fields) {
			name := s.fresh("Creditor %d")
			return calling("PATCH", tenant(s), apptest.Body{"creditor": apptest.Body{"name": name}}), tenant(s), apptest.Fields{"creditor.name": name}
		}},
		patch("a gateway's name", "name", "Gateway %d", gateway),
		patch("a gateway's descriptor", "descriptor", "SHOP %d", gateway),
		switchOff("a gateway switched off", gateway),
		patch("a profile's address", "url", "http://127.0.0.1:9/%d", profile),
		patch("a profile's name", "name", "Profile %d", profile),
		{"a rotated secret", func(t *testing.T, s *setupRace) (apptest.Request, string, apptest.Fields) {
			return calling("POST", profile(s)+"rotate-secret/", nil), profile(s), apptest.Fields{"previous_secret_until": apptest.Any}
		}},
		patch("a page's name", "name", "Page %d", page),
		patch("an offer's name", "name", "Offer %d", offer),
		patch("an offer's price", "price", "%d.00", offer),
		switchOff("an offer switched off", offer),
		patch("a campaign's name", "name", "Campaign %d", campaign),
		patch("a campaign's time", "session_ttl", "%dh0m0s", campaign),
		{"a new offer", func(_ *testing.T, s *setupRace) (apptest.Request, string, apptest.Fields) {
			id := uuid.NewString()
			return calling("POST", ofShop("offers"), apptest.Body{"id": id, "name": "N", "price": "2.00", "currency": "EUR", "billing_type": "ONE_OFF"}),
				ofShop("offers") + id + "/", apptest.Fields{"name": "N"}
		}},
		{"a revoked key", func(t *testing.T, s *setupRace) (apptest.Request, string, apptest.Fields) {
			at := ofShop("api-keys") + s.Do(t, calling("POST", ofShop("api-keys"), apptest.Body{"name": "K"})).Want(t, http.StatusCreated, nil).Text(t, "id") + "/"
			return calling("DELETE", at, nil), at, apptest.Fields{"revoked_at": apptest.Any}
		}},
	}
}

// TestChangesOfASetUpDoNotOverwriteEachOther lets every two changes meet: what
// was answered as done is there afterwards, whichever came first.
func TestChangesOfASetUpDoNotOverwriteEachOther(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, server *apptest.Server) {
		s := newSetupRace(t, server)
		changes := adminChanges()
		for i, one := range changes {
			for _, other := range changes[i+1:] {
				t.Run(one.name+" beside "+other.name, func(t *testing.T) { s.meet(t, one, other) })
			}
		}
	})
}

// meet makes two changes at once.
func (s *setupRace) meet(t *testing.T, changes ...changeUnderTest) {
	var group sync.WaitGroup
	begin := make(chan struct{})
	shown := map[*apptest.Fields]string{}
	for _, change := range changes {
		call, at, shows := change.make(t, s)
		shown[&shows] = at
		group.Go(func() {
			<-begin
			if answer, err := s.TryDo(t, call); err != nil || answer.Status >= http.StatusMultipleChoices {
				t.Errorf("%s: %v %s", change.name, err, answer.Raw)
			}
		})
	}
	close(begin)
	group.Wait()
	for shows, at := range shown {
		s.Do(t, operator(at, nil)).Want(t, http.StatusOK, *shows)
	}
}

// TestARotatedSecretIsTheOneThatSigns also where the profile's address changes
// at the same time.
func TestARotatedSecretIsTheOneThatSigns(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, server *apptest.Server) {
		s := newSetupRace(t, server)
		const rounds = 10
		for range rounds {
			var group sync.WaitGroup
			var rotated apptest.Answer
			group.Go(func() { rotated, _ = s.TryDo(t, calling("POST", s.profile+"rotate-secret/", nil)) })
			url := s.fresh("http://127.0.0.1:9/%d")
			group.Go(func() { _, _ = s.TryDo(t, calling("PATCH", s.profile, apptest.Body{"url": url})) })
			group.Wait()
			id := uuid.MustParse(rotated.Text(t, "id"))
			version, err := s.Env.Store.SetupVersion(t.Context(), uuid.MustParse(apptest.Shop))
			if err != nil {
				t.Fatal(err)
			}
			stored, err := s.Env.Store.Setup(t.Context(), uuid.MustParse(apptest.Shop), version)
			if err != nil {
				t.Fatal(err)
			}
			if profile := stored.WebhookProfiles[id]; profile.SigningSecret.Reveal() != rotated.Text(t, "signing_secret") || profile.URL != url {
				t.Fatalf("the profile has the address %s", profile.URL)
			}
		}
	})
}

func TestAChangeCanNameTheVersionItIsMeantFor(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, server *apptest.Server) {
		s := newSetupRace(t, server)
		meant := func(r apptest.Request, version string) apptest.Request {
			r.Header = map[string]string{"If-Match": version}
			return r
		}
		for _, at := range []string{tenants + apptest.Shop + "/", s.gateway, s.profile, s.page, s.offer, s.campaign} {
			rename := func(name string) apptest.Request { return calling("PATCH", at, apptest.Body{"name": name}) }
			seen := s.Do(t, operator(at, nil)).Want(t, http.StatusOK, nil).Header.Get("ETag")
			changed := s.Do(t, meant(rename("First"), seen)).Want(t, http.StatusOK, nil).Header.Get("ETag")
			if seen == "" || changed == seen {
				t.Errorf("%s: the version went from %s to %s", at, seen, changed)
			}
			s.Do(t, meant(rename("Second"), seen)).WantDetail(t, http.StatusPreconditionFailed, "This has changed since it was read: read it again.")
			s.Do(t, meant(rename(""), seen)).Want(t, http.StatusPreconditionFailed, nil)
			unchanged := s.Do(t, operator(at, nil)).Want(t, http.StatusOK, apptest.Fields{"name": "First"})
			if got := unchanged.Header.Get("ETag"); got != changed {
				t.Errorf("%s: a refused change left the version %s, not %s", at, got, changed)
			}
			if got := s.Do(t, meant(rename("First"), `"0", `+changed)).Want(t, http.StatusOK, nil).Header.Get("ETag"); got != changed {
				t.Errorf("%s: a change of nothing left the version %s, not %s", at, got, changed)
			}
			s.Do(t, meant(rename("Third"), "*")).Want(t, http.StatusOK, nil)
			if !strings.Contains(at, "s/"+apptest.Shop+"/") || at == tenants+apptest.Shop+"/" {
				continue // a tenant stays
			}
			s.Do(t, meant(calling("DELETE", at, nil), changed)).Want(t, http.StatusPreconditionFailed, nil)
			s.Do(t, operator(at, nil)).Want(t, http.StatusOK, apptest.Fields{"active": true})
			s.Do(t, calling("DELETE", at, nil)).Want(t, http.StatusNoContent, nil)
		}
		key := ofShop("api-keys") + s.Do(t, calling("POST", ofShop("api-keys"), apptest.Body{"name": "K"})).Want(t, http.StatusCreated, nil).Text(t, "id") + "/"
		working := s.Do(t, operator(key, nil)).Want(t, http.StatusOK, nil).Header.Get("ETag")
		s.Do(t, meant(calling("DELETE", key, nil), working)).Want(t, http.StatusNoContent, nil)
		s.Do(t, meant(calling("DELETE", key, nil), working)).Want(t, http.StatusPreconditionFailed, nil)
		s.Do(t, meant(calling("POST", s.profile+"rotate-secret/", nil), `"1"`)).Want(t, http.StatusPreconditionFailed, nil)
		s.Do(t, meant(calling("PATCH", ofShop("offers")+uuid.NewString()+"/", apptest.Body{}), `"1"`)).Want(t, http.StatusNotFound, nil)
	})
}
