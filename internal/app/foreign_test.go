package app_test

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"sepad"
	"sepad/internal/app/apptest"
	"sepad/internal/merchant"
	"sepad/internal/people"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// thief works for the rival, has its key, and knows every name of the shop's there is.
type thief struct {
	*testing.T
	server             *apptest.Server
	cookie, token, key string
	names              []string
	// mine are what both know.
	mine map[string]bool
	// refused counts answers to what names the shop's by their status.
	refused map[int]int
}

var nameOfARow = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// namesOf are all ids of a tenant's rows, and its references.
func namesOf(t *testing.T, s *apptest.Server, tenantID string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for line := range strings.Lines(s.Env.Dump(t)) {
		if strings.Contains(line, tenantID) {
			for _, name := range nameOfARow.FindAllString(line, -1) {
				names[name] = true
			}
		}
	}
	for _, column := range []string{"merchant_transaction_id", "mandate_reference"} {
		names[storetest.Scalar[string](t, s.Env, `SELECT MAX(`+column+`) FROM transactions WHERE tenant_id = $1`, tenantID)] = true
	}
	return names
}

// rowsOfShop are what an answer to somebody else must not change; what is being delivered changes by itself.
func rowsOfShop(t *testing.T, s *apptest.Server) (rows []string) {
	t.Helper()
	for line := range strings.Lines(s.Env.Dump(t)) {
		changes := slices.ContainsFunc([]string{"events", "webhook_", "endpoints", "delivery", "api_keys"}, func(table string) bool { return strings.HasPrefix(line, table) })
		if strings.Contains(line, apptest.Shop) && !changes {
			rows = append(rows, line)
		}
	}
	return rows
}

func enter(t *testing.T, s *apptest.Server) thief {
	t.Helper()
	token := s.Create(t, apptest.InCampaign(apptest.MonthlyCampaign))
	s.Pay(t, token, apptest.Approved).Want(t, http.StatusOK, nil)
	sold := s.Pay(t, s.Create(t, apptest.Direct()), apptest.Approved).Want(t, http.StatusOK, nil).Text(t, "transaction.id")
	s.Do(t, apptest.Request{Path: "/admin/v1/chargebacks/", Key: apptest.AdminToken, Body: apptest.Body{"transaction_id": sold}}).Want(t, http.StatusCreated, nil)
	open := s.Create(t, apptest.InCampaign(apptest.MonthlyCampaign))
	rival := s.Do(t, apptest.Request{Path: apptest.Sessions, Key: s.RivalKey, Body: apptest.InCampaign(apptest.RivalCampaign)}).Text(t, "session_token")
	s.Pay(t, rival, apptest.Approved).Want(t, http.StatusOK, nil)
	link, err := s.App.People.DeveloperLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	address, err := url.Parse(link.URL)
	if err != nil {
		t.Fatal(err)
	}
	cookie, err := s.App.People.SignInByLink(t.Context(), merchant.Secret(address.Query().Get("ticket")), "192.0.2.1")
	if err != nil {
		t.Fatal(err)
	}
	who, err := s.App.Store.OperatorByEmail(t.Context(), people.DeveloperEmail)
	if err != nil {
		t.Fatal(err)
	}
	rivals := store.TenantSet{IDs: []uuid.UUID{uuid.MustParse(apptest.Rival)}}
	if _, err := s.App.People.Change(t.Context(), who.ID, func(o *store.Operator) { o.Tenants = rivals }); err != nil {
		t.Fatal(err)
	}
	colleague, _, err := s.App.People.Add(t.Context(), apptest.Email(), store.Administrator, rivals)
	if err != nil {
		t.Fatal(err)
	}
	_, text, err := s.App.People.CreateToken(t.Context(), colleague, "script", colleague.CreatedAt.Add(people.DefaultTokenLife))
	if err != nil {
		t.Fatal(err)
	}
	thief := thief{t, s, "sepad=" + cookie.Text.Reveal(), text.Reveal(), s.RivalKey, []string{token, open}, namesOf(t, s, apptest.Rival), map[int]int{}}
	for name := range namesOf(t, s, apptest.Shop) {
		if !thief.mine[name] {
			thief.names = append(thief.names, name)
		}
	}
	slices.Sort(thief.names)
	return thief
}

// paths are a pattern with every name of the shop's in every place, beside the shop's tenant and the rival's own.
func (th thief) paths(pattern string) (all []string) {
	all = []string{strings.TrimPrefix(pattern, "https://")}
	fill := func(mark string, with []string) {
		if !strings.Contains(pattern, mark) {
			return
		}
		var filled []string
		for _, path := range all {
			for _, name := range with {
				filled = append(filled, strings.ReplaceAll(path, mark, name))
			}
		}
		all = filled
	}
	fill("{tenant_id}", []string{apptest.Shop, apptest.Rival})
	fill("{kind}", []string{"gateways", "offers", "hosted-pages", "webhook-profiles", "campaigns"})
	for _, mark := range []string{"{id}", "{token}", "{reference}", "{hosted_page_id}"} {
		fill(mark, th.names)
	}
	return all
}

// try asks for one, in every form that a body may have, and looks for what is the shop's in the answer.
func (th thief) try(method, path string) {
	th.Helper()
	r := apptest.Request{Method: method, Path: path, Key: th.key}
	name := th.names[len(path)%len(th.names)]
	switch {
	case strings.HasPrefix(path, "/dashboard/"):
		r.Key, r.Header = "", map[string]string{"Cookie": th.cookie, "Origin": th.server.URL}
		if method == http.MethodPost {
			r.Header["Content-Type"] = "application/x-www-form-urlencoded"
			r.Body = url.Values{"version": {"1"}, "name": {"mine"}, "amount": {"1.00"}, "transaction_id": {name}, "gateway_id": {name}, "offer_id": {name}}.Encode()
		}
	case strings.HasPrefix(path, "/admin/") || strings.HasPrefix(path, "/pay/preview/"):
		r.Key = th.token
		fallthrough
	default:
		if method != http.MethodGet {
			r.Body = apptest.Body{}
		}
	}
	answer := th.server.Do(th.T, r)
	isNamed := slices.ContainsFunc(th.names, func(name string) bool { return strings.Contains(path, name) })
	isForeign := strings.Contains(path, apptest.Shop) || isNamed
	if answer.Status >= http.StatusInternalServerError || isForeign && answer.Status < http.StatusBadRequest {
		th.Errorf("%s %s is answered %d: %.300s", method, path, answer.Status, answer.Raw)
	}
	if isForeign && answer.Status >= http.StatusBadRequest {
		th.refused[answer.Status]++
		return // a refusal may say again what was asked for
	}
	for _, name := range th.names {
		if strings.Contains(string(answer.Raw), name) {
			th.Errorf("%s %s shows %s", method, path, name)
		}
	}
}

// TestAThiefOfNamesFindsNothing knows every id, token and reference of another tenant, and puts them into every route of both
// APIs and of the dashboard, under that tenant and under its own.
func TestAThiefOfNamesFindsNothing(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{})
	th := enter(t, s)
	before := rowsOfShop(t, s)
	asked := 0
	for _, route := range foreignRoutes() {
		method, pattern, _ := strings.Cut(route, " ")
		for _, path := range th.paths(pattern) {
			th.try(method, path)
			asked++
		}
	}
	if th.refused[http.StatusNotFound] < asked/2 {
		t.Errorf("of %d calls these were refused: %v", asked, th.refused)
	}
	after := rowsOfShop(t, s)
	for _, row := range after {
		if !slices.Contains(before, row) {
			t.Errorf("written is %.300s", row)
		}
	}
	if len(after) < len(before) {
		t.Errorf("of %d rows of the shop's there are %d", len(before), len(after))
	}
}

var operationOf = regexp.MustCompile(`(?m)^  (/api/[^:]+):|^    (get|post|patch|put|delete):`)

// foreignRoutes are those of the operators' two sides, and of the merchants' API but for what a payer does by a token: whoever
// has a token is that payer.
func foreignRoutes() (routes []string) {
	for _, right := range people.Rights {
		if !strings.Contains(right.Route, "sign-out") && !strings.Contains(right.Route, "/clock/") && !strings.HasSuffix(right.Route, "/account/tokens/") {
			routes = append(routes, right.Route)
		}
	}
	path := ""
	for _, found := range operationOf.FindAllStringSubmatch(string(sepad.OpenAPI), -1) {
		if found[1] != "" {
			path = found[1]
			continue
		}
		isPayers := strings.HasSuffix(path, "{token}/") || strings.HasSuffix(path, "/pay/") || strings.HasSuffix(path, "/verify/")
		if path != "" && !isPayers {
			routes = append(routes, strings.ToUpper(found[2])+" "+path)
		}
	}
	return routes
}
