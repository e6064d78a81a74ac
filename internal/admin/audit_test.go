package admin_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"sepad/internal/app/apptest"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

const audit = "/admin/v1/audit/"

// audited asks for entries by filters.
func audited(t *testing.T, s *apptest.Server, key string, filters ...string) []map[string]any {
	t.Helper()
	query := url.Values{}
	for i := 0; i < len(filters); i += 2 {
		query.Set(filters[i], filters[i+1])
	}
	answer := s.Do(t, apptest.Request{Path: audit + "?" + query.Encode(), Key: key}).Want(t, http.StatusOK, nil)
	var entries []map[string]any
	for _, entry := range answer.Get(t, "results").([]any) {
		entries = append(entries, entry.(map[string]any))
	}
	return entries
}

func TestWhoDidWhatIsKept(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		finance, root := tokenOf(t, s, store.Finance), apptest.AdminToken
		_, sale := paid(t, s, apptest.InCampaign(apptest.MonthlyCampaign), apptest.Approved)
		refund := refunds(sale, apptest.Body{"amount": "1.00"})
		refund.Key = finance
		s.Do(t, refund).Want(t, http.StatusCreated, nil)
		key := s.Do(t, calling("POST", ofShop("api-keys"), apptest.Body{"name": "care", "scopes": []string{"refunds", "subscriptions"}})).Want(t, http.StatusCreated, nil)
		s.Do(t, apptest.Request{Path: "/api/v1/transactions/" + sale + "/refunds/", Key: key.Text(t, "key"), Body: apptest.Body{"amount": "2.00"}}).Want(t, http.StatusCreated, nil)
		subscription := storetest.Scalar[string](t, s.Env, `SELECT CAST(id AS TEXT) FROM subscriptions`)
		s.Do(t, calling("POST", "/admin/v1/subscriptions/"+subscription+"/cancel/", nil)).Want(t, http.StatusOK, nil)
		s.Do(t, calling("PATCH", ofShop("offers")+apptest.PosterOffer+"/", apptest.Body{"price": "21.00"})).Want(t, http.StatusOK, nil)
		s.Do(t, calling("PATCH", ofShop("gateways")+apptest.Gateway+"/", apptest.Body{"settings": apptest.Body{"notification_secret": "hush"}})).Want(t, http.StatusOK, nil)
		s.Do(t, calling("DELETE", ofShop("api-keys")+key.Text(t, "id")+"/", nil)).Want(t, http.StatusNoContent, nil)

		t.Run("refunds name their makers", func(t *testing.T) {
			made := audited(t, s, root, "action", "refund.create", "object_id", sale)
			if len(made) != 2 || made[0]["actor"] != "key:"+key.Text(t, "id") || made[1]["actor"] != "token:script" || made[1]["operator_id"] == nil {
				t.Fatalf("kept is %v", made)
			}
			if after := made[1]["after"].(map[string]any); after["amount"] != "1.00" || made[1]["tenant_id"] != apptest.Shop || made[1]["address"] != "127.0.0.1" {
				t.Errorf("kept is %v", made[1])
			}
		})
		t.Run("a change says what was and what became", func(t *testing.T) {
			made := audited(t, s, root, "actor", "root", "object_type", "offer")
			if len(made) != 1 || made[0]["action"] != "offer.update" {
				t.Fatalf("kept is %v", made)
			}
			before, after := made[0]["before"].(map[string]any), made[0]["after"].(map[string]any)
			if len(after) != 1 || before["price"] != "19.90" || after["price"] != "21.00" {
				t.Errorf("kept is %v", made)
			}
			cancelled := audited(t, s, root, "object_id", subscription)
			if len(cancelled) != 1 || cancelled[0]["action"] != "subscription.cancel" || cancelled[0]["after"].(map[string]any)["status"] != "CANCELLED" {
				t.Errorf("kept is %v", cancelled)
			}
		})
		t.Run("secrets are not kept", func(t *testing.T) {
			whole := s.Do(t, operator(audit+"?page_size=1000", nil)).Want(t, http.StatusOK, nil)
			for _, secret := range []string{"hush", key.Text(t, "key"), finance, apptest.Approved, apptest.LastName} {
				if strings.Contains(string(whole.Raw), secret) {
					t.Errorf("the trail keeps %s", secret)
				}
			}
			for _, action := range []string{"api_key.create", "api_key.revoke", "gateway.update", "token.create", "operator.create"} {
				if !strings.Contains(string(whole.Raw), `"`+action+`"`) {
					t.Errorf("there is no %s", action)
				}
			}
		})
		t.Run("the chain is whole, and a day that is none is refused", func(t *testing.T) {
			if length, _, err := s.App.Store.VerifyAudit(t.Context()); err != nil || length < 10 {
				t.Errorf("%d entries: %v", length, err)
			}
			for _, entry := range audited(t, s, root) {
				if entry["hash"] == nil || entry["place"] == nil {
					t.Errorf("%v is in no chain", entry)
				}
			}
			s.Do(t, operator(audit+"?from=soon&tenant_id=x", nil)).WantBad(t, map[string]string{"from": "", "tenant_id": ""})
		})
	})
}

func TestTheTrailOfAnotherTenantIsNotThere(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.Do(t, calling("PATCH", ofShop("offers")+apptest.PosterOffer+"/", apptest.Body{"price": "21.00"})).Want(t, http.StatusOK, nil)
		rival := tokenOf(t, s, store.Administrator, apptest.Rival)
		for _, entry := range audited(t, s, rival) {
			if entry["tenant_id"] != apptest.Rival {
				t.Errorf("sees %v", entry)
			}
		}
		if mine := audited(t, s, tokenOf(t, s, store.Administrator, apptest.Shop), "action", "offer.update"); len(mine) != 1 {
			t.Errorf("a colleague sees %d", len(mine))
		}
	})
}

func TestALookAtEvidenceIsKept(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		shop, support := own(t, s), tokenOf(t, s, store.Support)
		s.Do(t, apptest.Request{Path: mandates + shop["mandates"] + "/", Key: support}).Want(t, http.StatusOK, nil)
		s.Do(t, operator("/admin/v1/leads/"+shop["leads"]+"/export/", nil)).Want(t, http.StatusOK, nil)
		if seen := audited(t, s, apptest.AdminToken, "action", "mandate.view"); len(seen) != 1 || seen[0]["actor"] != "token:script" || seen[0]["object_id"] != shop["mandates"] {
			t.Errorf("kept is %v", seen)
		}
		if seen := audited(t, s, apptest.AdminToken, "action", "lead.export"); len(seen) != 1 || seen[0]["actor"] != "root" || seen[0]["object_id"] != shop["leads"] {
			t.Errorf("kept is %v", seen)
		}
	})
}
