package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"sepad/internal/app/apptest"
	"sepad/internal/merchant"
)

// hearAll has the shop's default profile take every event, with all that can be told.
func hearAll(t *testing.T, s *apptest.Server) {
	t.Helper()
	path := "/admin/v1/tenants/" + apptest.Shop + "/webhook-profiles/" + apptest.Profile + "/"
	s.Do(t, apptest.Request{Method: http.MethodPatch, Path: path, Key: apptest.AdminToken, Body: body{"events": []string{"*"}, "payload": "full"}}).
		Want(t, http.StatusOK, fields{"payload": "full"})
}

// heard is the whole feed of the shop.
func heard(t *testing.T, s *apptest.Server) (all []map[string]any) {
	t.Helper()
	page := s.Do(t, apptest.Request{Path: feed + "?page_size=1000", Key: s.Key}).Want(t, http.StatusOK, fields{"has_more": false})
	for _, entry := range page.Get(t, "results").([]any) {
		all = append(all, entry.(map[string]any))
	}
	return all
}

// further are the kinds of events that only those get who ask for them.
func further(all []map[string]any) (kinds []string) {
	for _, event := range all {
		kind := event["type"].(string)
		if kind != "payment_session.completed" && !strings.HasPrefix(kind, "transaction.") && !strings.HasPrefix(kind, "chargeback.") {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

func subscribe(t *testing.T, s *apptest.Server, iban string) (id string) {
	t.Helper()
	token := s.Create(t, apptest.InCampaign(apptest.MonthlyCampaign).With(apptest.Body{"metadata": apptest.Body{"cart": "4711"}}))
	return s.Pay(t, token, iban).Want(t, http.StatusOK, nil).Text(t, "subscription.id")
}

const days = 24 * time.Hour

// steerBy does one thing after the other to a subscription.
func steerBy(t *testing.T, s *apptest.Server, id string, verbs ...string) {
	t.Helper()
	key := keyWith(t, s, merchant.ScopeSubscriptions)
	for _, verb := range verbs {
		s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/api/v1/subscriptions/" + id + "/" + verb + "/", Key: key}).Want(t, http.StatusOK, nil)
	}
}

func TestFurtherEventsTellWhatHappens(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name  string
		story func(t *testing.T, s *apptest.Server)
		want  []string
	}{
		{"a session that its merchant cancels", func(t *testing.T, s *apptest.Server) {
			s.Cancel(t, s.Create(t, apptest.Direct())).Want(t, http.StatusOK, nil)
		}, []string{"payment_session.expired"}},
		{"a session whose time runs out", func(t *testing.T, s *apptest.Server) {
			s.Create(t, apptest.InCampaign(apptest.ShortCampaign))
			s.Advance(t, 2*time.Hour)
			s.Advance(t, 2*time.Hour)
		}, []string{"payment_session.expired"}},
		{"a session that nobody verified in time", func(t *testing.T, s *apptest.Server) {
			s.Awaiting(t, apptest.InCampaign(apptest.ShortCampaign), apptest.VerificationPage)
			s.Advance(t, 2*time.Hour)
		}, []string{"payment_session.expired"}},
		{"a session that is refused for good", func(t *testing.T, s *apptest.Server) {
			s.Pay(t, s.Create(t, apptest.Direct()), apptest.DeclinedFinal).Want(t, http.StatusOK, fields{"status": "failed"})
		}, []string{"payment_session.failed"}},
		{"a subscription that is renewed", func(t *testing.T, s *apptest.Server) {
			subscribe(t, s, apptest.Approved)
			s.Advance(t, 32*days)
		}, []string{"subscription.created", "subscription.renewed"}},
		{"a subscription that its merchant steers and ends", func(t *testing.T, s *apptest.Server) {
			steerBy(t, s, subscribe(t, s, apptest.Approved), "pause", "resume", "cancel")
		}, []string{"subscription.created", "subscription.changed", "subscription.changed", "subscription.cancelled"}},
		{"a subscription that is not paid", func(t *testing.T, s *apptest.Server) {
			subscribe(t, s, apptest.RebillDeclined)
			s.Advance(t, 60*days)
		}, []string{"subscription.created", "subscription.past_due", "subscription.cancelled"}},
		{"a subscription that is paid at the second try", func(t *testing.T, s *apptest.Server) {
			subscribe(t, s, apptest.RebillDeclinedOnce)
			s.Advance(t, 36*days)
		}, []string{"subscription.created", "subscription.past_due", "subscription.renewed"}},
		{"a mandate that lapses", func(t *testing.T, s *apptest.Server) {
			steerBy(t, s, subscribe(t, s, apptest.Approved), "pause")
			s.Advance(t, 1100*days)
		}, []string{"subscription.created", "subscription.changed", "mandate.lapsed", "subscription.cancelled"}},
		{"a person who is erased", func(t *testing.T, s *apptest.Server) {
			subscribe(t, s, apptest.Approved)
			lead := heard(t, s)[0]["data"].(map[string]any)["ids"].(map[string]any)["lead"].(string)
			s.Do(t, apptest.Request{Path: "/admin/v1/leads/" + lead + "/erase/", Key: apptest.AdminToken, Body: body{}}).Want(t, http.StatusOK, nil)
		}, []string{"subscription.created", "subscription.cancelled"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			apptest.Each(t, func(t *testing.T, s *apptest.Server) {
				hearAll(t, s)
				c.story(t, s)
				told := heard(t, s)
				if got := further(told); !slices.Equal(got, c.want) {
					t.Errorf("told are %v, want %v", got, c.want)
				}
				for _, event := range told {
					if _, has := event["data"].(map[string]any)["ids"]; !has {
						t.Errorf("%s has no ids", event["type"])
					}
				}
			})
		})
	}
}

func TestFurtherEventsAreForThoseWhoAsk(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		subscribe(t, s, apptest.Approved)
		s.Cancel(t, s.Create(t, apptest.Direct())).Want(t, http.StatusOK, nil)
		s.Advance(t, 32*days)
		all := heard(t, s)
		if got := further(all); len(all) < 3 || len(got) != 0 {
			t.Errorf("told are %v", got)
		}
		for _, event := range all {
			if _, has := event["data"].(map[string]any)["ids"]; has {
				t.Errorf("%s has more than the contract says", event["type"])
			}
		}
	})
}

func TestAFullPayloadNamesWhatBelongsTogether(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		hearAll(t, s)
		id := subscribe(t, s, apptest.Approved)
		s.Advance(t, 32*days)
		all := heard(t, s)
		first := all[0]["data"].(map[string]any)["ids"].(map[string]any)
		if first["subscription"] != id || first["session"] == nil || first["order"] == nil || first["lead"] == nil || !strings.HasPrefix(first["mandate"].(string), "MND-") {
			t.Errorf("the first event has %v", first)
		}
		for _, event := range all {
			data := event["data"].(map[string]any)
			ids := data["ids"].(map[string]any)
			for _, name := range []string{"session", "order", "subscription", "lead", "mandate"} {
				if ids[name] != first[name] {
					t.Errorf("%s names the %s %v, want %v", event["type"], name, ids[name], first[name])
				}
			}
			if metadata := data["metadata"].(map[string]any); metadata["cart"] != "4711" {
				t.Errorf("%s has the metadata %v", event["type"], metadata)
			}
		}
		if last := all[len(all)-1]["data"].(map[string]any)["ids"].(map[string]any); last["transaction"] == first["transaction"] {
			t.Error("the rebill has the first payment's id")
		}
	})
}
