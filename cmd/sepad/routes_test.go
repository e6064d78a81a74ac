package main

import (
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"sepad/internal/people"
)

// commandsOfRoutes name the command that does what a route of the admin API does. The
// five kinds of set-up share theirs.
var commandsOfRoutes = map[string]string{
	"GET me/":                                         "admin",
	"GET tokens/":                                     "operators tokens",
	"POST tokens/":                                    "operators token",
	"DELETE tokens/{id}/":                             "operators revoke-token",
	"GET audit/":                                      "audit list",
	"GET operators/":                                  "operators list",
	"POST operators/":                                 "operators add",
	"GET operators/{id}/":                             "operators list",
	"PATCH operators/{id}/":                           "operators role",
	"DELETE operators/{id}/":                          "operators remove",
	"POST operators/{id}/reset/":                      "operators reset",
	"GET sessions/":                                   "sessions list",
	"GET sessions/{id}/":                              "sessions show",
	"GET sessions/{id}/timeline/":                     "sessions timeline",
	"GET leads/":                                      "leads list",
	"GET leads/{id}/":                                 "leads show",
	"GET leads/{id}/timeline/":                        "leads timeline",
	"GET leads/{id}/export/":                          "leads export",
	"POST leads/{id}/erase/":                          "leads erase",
	"GET transactions/":                               "transactions list",
	"GET transactions/{id}/":                          "transactions show",
	"GET transactions/{id}/timeline/":                 "transactions timeline",
	"POST transactions/{id}/refunds/":                 "transactions refund",
	"POST transactions/{id}/hold/":                    "bank hold",
	"POST transactions/{id}/release/":                 "bank release",
	"GET chargebacks/":                                "chargebacks list",
	"POST chargebacks/":                               "chargebacks add",
	"GET chargebacks/{id}/":                           "chargebacks show",
	"GET chargebacks/{id}/timeline/":                  "chargebacks timeline",
	"GET subscriptions/":                              "subscriptions list",
	"GET subscriptions/{id}/":                         "subscriptions show",
	"GET subscriptions/{id}/timeline/":                "subscriptions timeline",
	"GET subscriptions/{id}/preview/":                 "subscriptions preview",
	"POST subscriptions/{id}/cancel/":                 "subscriptions cancel",
	"POST subscriptions/{id}/pause/":                  "subscriptions pause",
	"POST subscriptions/{id}/resume/":                 "subscriptions resume",
	"POST subscriptions/{id}/change/":                 "subscriptions change",
	"GET rebill-pauses/":                              "gateways paused",
	"GET mandates/{reference}/":                       "mandates show",
	"GET mandates/{reference}/timeline/":              "mandates timeline",
	"GET webhook-deliveries/":                         "events list",
	"GET webhook-deliveries/{id}/":                    "events show",
	"GET webhook-deliveries/{id}/timeline/":           "events timeline",
	"POST webhook-deliveries/{id}/resend/":            "events resend",
	"POST webhook-deliveries/resend/":                 "events resend",
	"GET mails/":                                      "mails list",
	"GET mails/{id}/":                                 "mails show",
	"POST mails/{id}/resend/":                         "mails resend",
	"POST imports/":                                   "import transactions",
	"GET imports/":                                    "import list",
	"GET imports/{id}/":                               "import show",
	"GET imports/{id}/timeline/":                      "import timeline",
	"GET imports/{id}/rejected/":                      "import show",
	"POST reconciliations/":                           "reconcile",
	"GET exports/transactions/":                       "export",
	"GET exports/chargebacks/":                        "export",
	"GET exports/subscriptions/":                      "export",
	"GET totals/":                                     "totals",
	"GET payouts/":                                    "payouts",
	"GET bank-files/":                                 "bank list",
	"POST bank-files/":                                "bank write",
	"GET bank-files/preview/":                         "bank preview",
	"POST bank-files/adopt/":                          "bank adopt",
	"GET bank-files/{id}/":                            "bank show",
	"GET bank-files/{id}/content/":                    "bank show",
	"GET bank-statements/":                            "bank statement",
	"POST bank-statements/":                           "bank read",
	"GET bank-statements/{id}/":                       "bank statement",
	"GET bank-entries/":                               "bank unmatched",
	"POST bank-entries/{id}/assign/":                  "bank assign",
	"POST bank-connections/test/":                     "bank test",
	"POST bank-connections/resume/":                   "bank resume",
	"GET adapters/":                                   "gateways adapters",
	"GET tenants/":                                    "tenants list",
	"POST tenants/":                                   "tenants add",
	"GET tenants/{tenant_id}/":                        "tenants show",
	"PATCH tenants/{tenant_id}/":                      "tenants change",
	"GET tenants/{tenant_id}/api-keys/":               "keys list",
	"POST tenants/{tenant_id}/api-keys/":              "keys create",
	"GET tenants/{tenant_id}/api-keys/{id}/":          "keys list",
	"DELETE tenants/{tenant_id}/api-keys/{id}/":       "keys revoke",
	"GET tenants/{tenant_id}/gateways/{id}/settings/": "gateways settings",
	"POST tenants/{tenant_id}/gateways/{id}/resume/":  "gateways resume",
	"POST tenants/{tenant_id}/webhook-profiles/{id}/rotate-secret/": "webhooks rotate-secret",
	"GET tenants/{tenant_id}/KIND/":                                 "setup list",
	"POST tenants/{tenant_id}/KIND/":                                "setup add",
	"GET tenants/{tenant_id}/KIND/{id}/":                            "setup show",
	"PATCH tenants/{tenant_id}/KIND/{id}/":                          "setup change",
	"DELETE tenants/{tenant_id}/KIND/{id}/":                         "setup deactivate",
	"GET clock/":                                                    "clock",
	"POST clock/":                                                   "clock",
}

// TestEveryRouteOfTheAdminAPIHasItsCommand holds the commands to the table of rights,
// which names every route.
func TestEveryRouteOfTheAdminAPIHasItsCommand(t *testing.T) {
	t.Parallel()
	parser, err := kong.New(&commands{}, kong.Name("sepad"))
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, leaf := range parser.Model.Leaves(true) {
		known[commandName(leaf)] = true
	}
	used := map[string]bool{}
	for _, right := range people.Rights {
		route := strings.Replace(right.Route, " /admin/v1/", " ", 1)
		if route == right.Route {
			continue // it is a page
		}
		command, named := commandsOfRoutes[route]
		if kind := ofKind(route); !named {
			route = kind
			command, named = commandsOfRoutes[kind]
		}
		used[route] = true
		if !named || !known[command] {
			t.Errorf("%s has the command %q, which is known: %t", right.Route, command, known[command])
		}
	}
	for route := range commandsOfRoutes {
		if !used[route] {
			t.Errorf("%s is no route", route)
		}
	}
}

// ofKind is the route of a kind of set-up as the table has it.
func ofKind(route string) string {
	for _, kind := range []string{"gateways", "webhook-profiles", "hosted-pages", "offers", "campaigns"} {
		route = strings.Replace(route, "{tenant_id}/"+kind+"/", "{tenant_id}/KIND/", 1)
	}
	return route
}
