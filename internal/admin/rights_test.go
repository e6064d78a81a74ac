package admin_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"sepad/internal/admin"
	"sepad/internal/app/apptest"
	"sepad/internal/page"
	"sepad/internal/payment"
	"sepad/internal/people"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
	"sepad/internal/web"
)

// everyRoute is what the operators' API of a sandbox answers.
func everyRoute(s *apptest.Server) []web.Route {
	api := &admin.Admin{People: s.App.People, Banking: s.App.Banking, Movable: s.App.Movable, Guests: (&page.Page{}).OperatorRoutes()}
	return api.Routes()
}

// tokenOf adds an operator and gives the token of one of their programs.
func tokenOf(t *testing.T, s *apptest.Server, role store.Role, tenants ...string) string {
	t.Helper()
	set := store.TenantSet{All: len(tenants) == 0}
	for _, id := range tenants {
		set.IDs = append(set.IDs, uuid.MustParse(id))
	}
	o, _, err := s.App.People.Add(t.Context(), apptest.Email(), role, set)
	if err != nil {
		t.Fatal(err)
	}
	_, text, err := s.App.People.CreateToken(t.Context(), o, "script", o.CreatedAt.Add(people.DefaultTokenLife))
	if err != nil {
		t.Fatal(err)
	}
	return text.Reveal()
}

// objects are things of the shop, by the pattern that leads to them.
type objects map[string]string

// own makes one thing of every kind, all of them the shop's.
func own(t *testing.T, s *apptest.Server) objects {
	t.Helper()
	first := func(list string) string {
		t.Helper()
		return s.Do(t, operator("/admin/v1/"+list+"/?tenant_id="+apptest.Shop, nil)).Want(t, http.StatusOK, nil).Text(t, "results.0.id")
	}
	_, sale := paid(t, s, apptest.InCampaign(apptest.MonthlyCampaign), apptest.Approved)
	_, returned := paid(t, s, apptest.Direct(), apptest.Approved)
	s.Do(t, operator("/admin/v1/chargebacks/", apptest.Body{"transaction_id": returned})).Want(t, http.StatusCreated, nil)
	reference := storetest.Scalar[string](t, s.Env, `SELECT mandate_reference FROM transactions WHERE id = $1`, sale)
	s.Env.Exec(t, `UPDATE transactions SET source = 'hosted_page' WHERE id = '`+sale+`'`)
	s.Env.Exec(t, `INSERT INTO mandate_acceptances (tenant_id, transaction_id, session_id, acceptance_mode, language, text_version,
		text, text_hash, client_ip, user_agent, accepted_at)
		SELECT tenant_id, id, session_id, 'checkbox', 'de', '2', '…', 'ab12', '192.0.2.7', '', mandate_at FROM transactions WHERE id = '`+sale+`'`)
	file := s.Do(t, importing(t, "transactions", header, nil)).Want(t, http.StatusCreated, nil).Text(t, "id")
	shop, gateway, at := uuid.MustParse(apptest.Shop), uuid.MustParse(apptest.Gateway), s.Env.Now
	bank := store.BankFile{TenantID: shop, ID: payment.NewID(), GatewayID: gateway, Kind: "collections", State: store.BankFileOpen}
	statement := store.BankStatement{TenantID: shop, ID: payment.NewID(), GatewayID: gateway, Name: "x", ContentHash: "x", State: "read"}
	mail := store.Mail{Plan: payment.Plan{DueDate: payment.DateOf(at)}, TenantID: shop, ID: payment.NewID(), Key: "x", Kind: store.MailAnnounced, TransactionID: uuid.MustParse(sale)}
	if err := s.Env.Store.Write(t.Context(), at, func(tx *store.Tx) error {
		tx.AddBankFile(bank)
		tx.PutBankStatement(statement)
		tx.AddBankLines(statement, []store.BankLine{{Currency: "EUR", BookingDate: "2026-01-01", Result: store.LineUnmatched}})
		tx.AddMail(mail, payment.Transaction{}, false)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	key := s.Do(t, operator(ofShop("api-keys"), nil)).Want(t, http.StatusOK, nil).Text(t, "results.0.id")
	return objects{
		"sessions": first("sessions"), "leads": first("leads"), "transactions": sale, "chargebacks": first("chargebacks"),
		"subscriptions": first("subscriptions"), "webhook-deliveries": first("webhook-deliveries"), "mandates": reference, "imports": file,
		"bank-files": bank.ID.String(), "bank-statements": statement.ID.String(), "mails": mail.ID.String(),
		"bank-entries": storetest.Scalar[string](t, s.Env, `SELECT CAST(id AS TEXT) FROM bank_lines`),
		"api-keys":     key, "gateways": apptest.Gateway, "webhook-profiles": apptest.Profile, "hosted-pages": apptest.Page,
		"offers": apptest.PosterOffer, "campaigns": apptest.MonthlyCampaign, "preview": apptest.Page,
	}
}

// address fills a pattern in.
func (o objects) address(pattern string) string {
	parts := strings.Split(pattern, "/")
	for i, part := range parts {
		switch part {
		case "{tenant_id}":
			parts[i] = apptest.Shop
		case "{id}", "{reference}", "{hosted_page_id}":
			if parts[i] = o[parts[i-1]]; parts[i] == "" {
				parts[i] = uuid.NewString()
			}
		}
	}
	return strings.Join(parts, "/")
}

// call asks for a route, with a body that names things of the shop.
func (o objects) call(t *testing.T, route web.Route, key string) apptest.Request {
	t.Helper()
	r := apptest.Request{Method: route.Method, Path: o.address(route.Pattern), Key: key}
	switch {
	case route.Method == http.MethodPost && strings.HasSuffix(route.Pattern, "/imports/") || strings.HasSuffix(route.Pattern, "/reconciliations/") ||
		route.Method == http.MethodPost && strings.HasSuffix(route.Pattern, "/bank-statements/"):
		r = upload(t, route.Pattern, "transactions", header, nil)
		r.Key = key
	case route.Method == http.MethodPost || route.Method == http.MethodPatch:
		r.Body = apptest.Body{"transaction_id": o["transactions"], "gateway_id": apptest.Gateway, "webhook_profile_id": apptest.Profile}
	case strings.HasSuffix(route.Pattern, "/bank-files/preview/"):
		r.Path += "?gateway_id=" + apptest.Gateway
	}
	return r
}

// TestEveryRouteHasItsRight walks every route with every role. Making the routes alone
// fails for one that the table does not name.
func TestEveryRouteHasItsRight(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{})
	routes, named := everyRoute(s), map[string]bool{}
	for _, route := range routes {
		named[route.Method+" "+route.Pattern] = true
	}
	for _, right := range people.Rights {
		if !named[right.Route] && !strings.Contains(right.Route, " /dashboard/") {
			t.Errorf("the rights table names %s, and there is no such route", right.Route)
		}
	}
	nothing := objects{}
	for _, role := range store.Roles {
		everywhere, bound := tokenOf(t, s, role), tokenOf(t, s, role, apptest.Shop)
		for _, route := range routes {
			right := people.RightTo(route.Method, route.Pattern)
			for key, mayBe := range map[string]bool{
				everywhere: role.Includes(right.Least), bound: role.Includes(right.Least) && !right.Everywhere,
			} {
				answer := s.Do(t, nothing.call(t, route, key))
				if isRefused := answer.Status == http.StatusForbidden; isRefused == mayBe || answer.Status == http.StatusUnauthorized {
					t.Errorf("%s %s answers a %s with %d: %s", route.Method, route.Pattern, role, answer.Status, answer.Raw)
				}
				if !mayBe {
					answer.Want(t, http.StatusForbidden, apptest.Fields{"detail": apptest.Any, "status_code": http.StatusForbidden})
				}
			}
		}
	}
	for _, route := range routes {
		s.Do(t, nothing.call(t, route, "")).Want(t, http.StatusUnauthorized, nil)
	}
}

// TestAForeignTenantIsNotThere walks every route as somebody who works for the rival, and
// asks for what is the shop's.
func TestAForeignTenantIsNotThere(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		shop := own(t, s)
		rival, colleague := tokenOf(t, s, store.Administrator, apptest.Rival), tokenOf(t, s, store.Administrator, apptest.Shop)
		before := s.Footprint(t)
		for _, route := range everyRoute(s) {
			request := shop.call(t, route, rival)
			answer := s.Do(t, request)
			isNamed := strings.Contains(route.Pattern, "{") && !strings.Contains(route.Pattern, "/operators/") && !strings.Contains(route.Pattern, "/tokens/")
			switch {
			case people.RightTo(route.Method, route.Pattern).Everywhere:
				answer.Want(t, http.StatusForbidden, nil)
			case isNamed && answer.Status != http.StatusNotFound:
				t.Errorf("%s %s is answered %d, want 404: %s", route.Method, request.Path, answer.Status, answer.Raw)
			case answer.Status < http.StatusMultipleChoices:
				for _, id := range shop {
					if strings.Contains(string(answer.Raw), id) || strings.Contains(string(answer.Raw), apptest.Shop) {
						t.Errorf("%s %s shows %s", route.Method, request.Path, answer.Raw)
					}
				}
			}
			if route.Method != http.MethodGet {
				continue
			}
			if request.Key = colleague; isNamed { // whose answer proves that there is something to be seen
				if seen := s.Do(t, request); seen.Status != http.StatusOK && seen.Status != http.StatusConflict {
					t.Errorf("%s %s is answered %d to a colleague: %s", route.Method, request.Path, seen.Status, seen.Raw)
				}
			}
		}
		if after := s.Footprint(t); after != before {
			t.Errorf("there are %s, and were %s", after, before)
		}
		for _, list := range []string{"sessions", "transactions", "webhook-deliveries"} {
			s.Do(t, apptest.Request{Path: "/admin/v1/" + list + "/?tenant_id=" + apptest.Shop, Key: rival}).Want(t, http.StatusNotFound, nil)
			if mine := s.Do(t, apptest.Request{Path: "/admin/v1/" + list + "/", Key: colleague}).Want(t, http.StatusOK, nil); !strings.Contains(string(mine.Raw), apptest.Shop) {
				t.Errorf("a colleague sees no %s: %s", list, mine.Raw)
			}
		}
		s.Do(t, apptest.Request{Path: "/admin/v1/exports/transactions/?tenant_id=" + apptest.Shop, Key: rival}).Want(t, http.StatusNotFound, nil)
		if noted := storetest.Scalar[int](t, s.Env, `SELECT COUNT(*) FROM audit_entries WHERE tenant_id = '`+apptest.Shop+`' AND action = 'list.export'`); noted > 0 {
			t.Error("the trail of the one tells that the other took its records away")
		}
		mine := apptest.Body{"id": apptest.PosterOffer, "name": "Mine", "price": "1.00", "currency": "EUR", "billing_type": "ONE_OFF"}
		s.Do(t, apptest.Request{Method: "POST", Path: "/admin/v1/tenants/" + apptest.Rival + "/offers/", Key: rival, Body: mine}).
			WantBad(t, map[string]string{"id": "This id is already taken."})
		mine["id"] = apptest.Shop
		s.Do(t, apptest.Request{Method: "POST", Path: "/admin/v1/tenants/" + apptest.Rival + "/offers/", Key: rival, Body: mine}).
			WantBad(t, map[string]string{"id": "This id is already taken by a tenant."})
	})
}

func TestOperatorsAreManaged(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		const people = "/admin/v1/operators/"
		email := apptest.Email()
		made := s.Do(t, operator(people, apptest.Body{"email": email, "role": "support", "tenants": []string{apptest.Shop}})).
			Want(t, http.StatusCreated, apptest.Fields{"email": email, "role": "support", "all_tenants": false, "tenants": []string{apptest.Shop}, "status": "invited"})
		if link := made.Text(t, "link"); !strings.HasPrefix(link, s.URL+"/dashboard/welcome/?ticket=") {
			t.Errorf("the link is %s", link)
		}
		one := people + made.Text(t, "id") + "/"
		s.Do(t, operator(people, apptest.Body{"email": strings.ToUpper(email), "role": "viewer"})).WantBad(t, map[string]string{"email": "There is an operator with this address."})
		s.Do(t, operator(people, apptest.Body{"email": "nobody", "role": "king", "tenants": []string{"x"}})).
			WantBad(t, map[string]string{"email": "", "tenants": ""})
		s.Do(t, operator(people, apptest.Body{"email": apptest.Email(), "role": "king", "tenants": []string{uuid.NewString()}})).
			WantBad(t, map[string]string{"role": "", "tenants": ""})
		s.Do(t, calling("PATCH", one, apptest.Body{"role": "finance"})).Want(t, http.StatusOK, apptest.Fields{"role": "finance", "tenants": []string{apptest.Shop}})
		s.Do(t, calling("PATCH", one, apptest.Body{"tenants": []string{"*"}})).Want(t, http.StatusOK, apptest.Fields{"role": "finance", "all_tenants": true})
		again := s.Do(t, calling("POST", one+"reset/", nil)).Want(t, http.StatusOK, nil).Text(t, "link")
		if shown := s.Do(t, operator(one, nil)).Want(t, http.StatusOK, nil); again == made.Text(t, "link") || strings.Contains(string(shown.Raw), "link") {
			t.Errorf("shows %s", shown.Raw)
		}
		s.Do(t, calling("DELETE", one, nil)).Want(t, http.StatusNoContent, nil)
		s.Do(t, operator(one, nil)).WantDetail(t, http.StatusNotFound, "Operator not found")
	})
}

func TestPersonalTokensActForTheirOwner(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		const tokens, me = "/admin/v1/tokens/", "/admin/v1/me/"
		as := func(key, path string, body any) apptest.Request {
			return apptest.Request{Path: path, Key: key, Body: body}
		}
		s.Do(t, operator(me, nil)).Want(t, http.StatusOK, apptest.Fields{"actor": "root", "role": "admin", "all_tenants": true, "email": nil})
		s.Do(t, operator(tokens, nil)).Want(t, http.StatusForbidden, apptest.Fields{"detail": apptest.Any})
		first := tokenOf(t, s, store.Viewer, apptest.Shop)
		s.Do(t, as(first, me, nil)).Want(t, http.StatusOK, apptest.Fields{"actor": "token:script", "role": "viewer", "tenants": []string{apptest.Shop}})
		made := s.Do(t, as(first, tokens, apptest.Body{"name": "second", "expires_at": "2999-01-01"})).Want(t, http.StatusCreated, apptest.Fields{"name": "second"})
		second := made.Text(t, "token")
		listed := s.Do(t, as(second, tokens, nil)).Want(t, http.StatusOK, apptest.Fields{"results.1.name": "script"})
		if strings.Contains(string(listed.Raw), second) || !strings.HasPrefix(second, "sat_") || made.Text(t, "expires_at") != listed.Text(t, "results.1.expires_at") {
			t.Errorf("listed are %s", listed.Raw)
		}
		s.Do(t, apptest.Request{Method: "DELETE", Path: tokens + made.Text(t, "id") + "/", Key: first}).Want(t, http.StatusNoContent, nil)
		s.Do(t, as(second, me, nil)).WantDetail(t, http.StatusUnauthorized, "Invalid admin token")
		s.Do(t, apptest.Request{Method: "DELETE", Path: tokens + made.Text(t, "id") + "/", Key: first}).WantDetail(t, http.StatusNotFound, "Token not found")
		s.Do(t, as(first, tokens, apptest.Body{"expires_at": "yesterday"})).WantBad(t, map[string]string{"name": "", "expires_at": ""})
		s.Env.Exec(t, `UPDATE operator_tokens SET expires_at = 1`)
		s.Do(t, as(first, me, nil)).Want(t, http.StatusUnauthorized, nil)
		if log := s.Log(); !strings.Contains(log, `"actor":"token:`) || !strings.Contains(log, `"actor":"root"`) {
			t.Error("the log does not name who called")
		}
	})
}

// TestPlacesOfTheMachine has administrators say where a bank's files lie. A folder may be
// another tenant's: who works for some tenants alone may not name it, and learns nothing
// about what is there.
func TestPlacesOfTheMachine(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{})
	bound, free := tokenOf(t, s, store.Administrator, apptest.Shop), tokenOf(t, s, store.Administrator)
	account := func(place apptest.Body) apptest.Body {
		settings := apptest.Body{"account_iban": "DE89370400440532013000"}
		maps.Copy(settings, place)
		return apptest.Body{"name": "House bank", "adapter": "bank", "test_mode": true, "descriptor": "SHOP", "settings": settings}
	}
	folder := apptest.Body{"folder": t.TempDir()}
	for name, place := range map[string]apptest.Body{
		"settings.folder": folder,
		"settings.sftp":   {"sftp": apptest.Body{"host": "10.0.0.1", "user": "x", "private_key_file": "/etc/shadow", "host_key": "ssh-ed25519 AAAA"}},
	} {
		for _, active := range []bool{true, false} {
			body := account(place)
			body["active"] = active
			s.Do(t, apptest.Request{Method: "POST", Path: ofShop("gateways"), Key: bound, Body: body}).
				WantBad(t, map[string]string{name: "Only an administrator of all tenants may say where files lie."})
		}
	}
	made := s.Do(t, apptest.Request{Method: "POST", Path: ofShop("gateways"), Key: free, Body: account(folder)}).Want(t, http.StatusCreated, nil).Text(t, "id")
	t.Run("nor by way of another adapter, to which a folder means nothing", func(t *testing.T) {
		other := account(apptest.Body{"folder": t.TempDir()})
		other["adapter"], other["active"] = "sandbox", false
		id := s.Do(t, apptest.Request{Method: "POST", Path: ofShop("gateways"), Key: bound, Body: other}).Want(t, http.StatusCreated, nil).Text(t, "id")
		s.Do(t, apptest.Request{Method: "PATCH", Path: ofShop("gateways") + id + "/", Key: bound, Body: apptest.Body{"adapter": "bank", "active": true}}).
			WantBad(t, map[string]string{"adapter": "This account is at sandbox and stays there, with its payments: set up another account."})
	})
	t.Run("what is set up already can be kept", func(t *testing.T) {
		change := apptest.Request{Method: "PATCH", Path: ofShop("gateways") + made + "/", Key: bound, Body: apptest.Body{"descriptor": "NEW"}}
		s.Do(t, change).Want(t, http.StatusOK, nil)
		change.Body = apptest.Body{"settings": apptest.Body{"account_iban": "DE89370400440532013000", "folder": "/"}}
		s.Do(t, change).Want(t, http.StatusBadRequest, nil)
	})
}
