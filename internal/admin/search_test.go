package admin_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"sepad/internal/app/apptest"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

const (
	sessions = "/admin/v1/sessions/"
	leads    = "/admin/v1/leads/"
)

// searched reads a page of a list and gives what it holds by a field.
func searched(t *testing.T, s *apptest.Server, address, field string) (values []string, page apptest.Answer) {
	t.Helper()
	page = s.Do(t, operator(address, nil)).Want(t, http.StatusOK, nil)
	for _, one := range page.Get(t, "results").([]any) {
		value, _ := one.(map[string]any)[field].(string)
		values = append(values, value)
	}
	return values, page
}

// wantFound expects a list to hold exactly the records with these ids, newest
// first.
func wantFound(t *testing.T, s *apptest.Server, address string, ids ...string) {
	t.Helper()
	if got, _ := searched(t, s, address, "id"); !slices.Equal(got, ids) {
		t.Errorf("GET %s found %v, want %v", address, got, ids)
	}
}

// neighbour is the path of the next or the previous page, "" where there is none.
func neighbour(t *testing.T, s *apptest.Server, page apptest.Answer, which string) string {
	t.Helper()
	address, _ := page.Get(t, which).(string)
	return strings.TrimPrefix(address, s.URL)
}

// market is a shop with purchases of several kinds, and a rival with one.
type market struct {
	email                              string
	session, failed, monthly, rival    string // sessions
	sale, declined, first, rivalSale   string // transactions
	reference, processor, order        string // of the sale
	chargeback, subscription, reported string
}

func openMarket(t *testing.T, s *apptest.Server) market {
	t.Helper()
	m := market{email: apptest.Email()}
	lead := apptest.Lead().With(apptest.Body{"email": strings.ToUpper(m.email)})
	token := s.Create(t, apptest.Direct().With(apptest.Body{"lead": lead}))
	m.sale = s.Pay(t, token, apptest.Approved, apptest.Body{"tenant_reference_id": "order-7"}).Want(t, http.StatusOK, nil).Text(t, "transaction.id")
	sold := wantTransaction(t, s, m.sale, nil)
	m.reference, m.processor = sold.Text(t, "merchant_transaction_id"), sold.Text(t, "adapter_unique_id")
	m.order = sold.Text(t, "order.order_number")
	failed := s.Create(t, apptest.InCampaign(apptest.OneTryCampaign))
	m.declined = s.Pay(t, failed, apptest.DeclinedInsufficientFunds).Text(t, "transaction.id")
	monthly, first := paid(t, s, apptest.InCampaign(apptest.MonthlyCampaign), apptest.Approved)
	m.first = first
	m.chargeback = s.Do(t, operator(chargebacks, apptest.Body{"transaction_id": first, "reason_code": "MD06"})).Text(t, "id")
	m.reported = wantTransaction(t, s, first, nil).Text(t, "merchant_transaction_id")
	m.subscription = storetest.Scalar[string](t, s.Env, `SELECT CAST(id AS TEXT) FROM subscriptions`)
	rival := s.Do(t, apptest.Request{Path: apptest.Sessions, Key: s.RivalKey, Body: apptest.InCampaign(apptest.RivalCampaign)}).Text(t, "session_token")
	m.rivalSale = s.Pay(t, rival, apptest.Approved).Want(t, http.StatusOK, nil).Text(t, "transaction.id")
	id := func(token string) string {
		return storetest.Scalar[string](t, s.Env, `SELECT CAST(id AS TEXT) FROM sessions WHERE token = $1`, store.TokenKey(token))
	}
	m.session, m.failed, m.monthly, m.rival = id(token), id(failed), id(monthly), id(rival)
	return m
}

func TestOperatorsSearch(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		m := openMarket(t, s)
		ofShop, email := "?tenant_id="+apptest.Shop, "email="+url.QueryEscape(m.email)
		for address, want := range map[string][]string{
			sessions:                                           {m.rival, m.monthly, m.failed, m.session},
			sessions + ofShop:                                  {m.monthly, m.failed, m.session},
			sessions + ofShop + "&status=COMPLETED":            {m.monthly, m.session},
			sessions + "?status=FAILED":                        {m.failed},
			sessions + "?" + email:                             {m.session},
			sessions + "?" + email + "&status=FAILED":          {},
			sessions + "?order_number=" + m.order:              {m.session},
			sessions + "?campaign_id=" + apptest.RivalCampaign: {m.rival},
			sessions + "?tenant_id=" + m.sale:                  {}, // there is no such tenant

			transactions: {m.rivalSale, m.first, m.declined, m.sale},
			transactions + "?tenant_id=" + apptest.Rival:                 {m.rivalSale},
			transactions + ofShop + "&status=declined":                   {m.declined},
			transactions + "?merchant_transaction_id=" + m.reference:     {m.sale},
			transactions + "?adapter_unique_id=" + m.processor:           {m.sale},
			transactions + "?tenant_reference_id=order-7":                {m.sale},
			transactions + "?order_number=" + m.order:                    {m.sale},
			transactions + "?session_id=" + m.monthly:                    {m.first},
			transactions + "?subscription_id=" + m.subscription:          {m.first},
			transactions + "?" + email:                                   {m.sale},
			transactions + "?type=sdd_refund":                            {},
			transactions + "?payment_gateway_id=" + apptest.RivalGateway: {m.rivalSale},
			transactions + "?to=2020-01-01":                              {},

			chargebacks: {m.chargeback},
			chargebacks + ofShop + "&reason_code=MD06":             {m.chargeback},
			chargebacks + "?source=csv_import":                     {},
			chargebacks + "?tenant_id=" + apptest.Rival:            {},
			chargebacks + "?transaction_id=" + m.first:             {m.chargeback},
			chargebacks + "?merchant_transaction_id=" + m.reported: {m.chargeback},

			subscriptions + ofShop:                        {m.subscription},
			subscriptions + "?status=CANCELLED":           {m.subscription},
			subscriptions + "?status=ACTIVE":              {},
			subscriptions + "?" + email:                   {},
			subscriptions + "?tenant_id=" + apptest.Rival: {},
		} {
			wantFound(t, s, address, want...)
		}
		got, page := searched(t, s, leads+"?"+email, "email")
		if len(got) != 1 || !strings.EqualFold(got[0], m.email) {
			t.Errorf("the leads with the address are %s", page.Raw)
		}
		if got, _ := searched(t, s, leads+"?tenant_id="+apptest.Rival, "tenant_id"); !slices.Equal(got, []string{apptest.Rival}) {
			t.Errorf("the rival's leads are %v", got)
		}
	})
}

func TestOperatorsLook(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		m := openMarket(t, s)
		session := s.Do(t, operator(sessions+m.session+"/", nil)).Want(t, http.StatusOK, apptest.Fields{
			"id": m.session, "tenant_id": apptest.Shop, "status": "COMPLETED", "payment_in_flight": false, "amount": "49.00", "price": "49.00",
			"currency": "EUR", "billing_type": "ONE_OFF", "billing_frequency": nil, "campaign_id": nil, "payment_gateway_id": apptest.Gateway,
			"attempts_used": 1, "last_transaction_id": m.sale, "order.order_number": m.order, "order.status": "COMPLETED",
			"lead.first_name": apptest.FirstName, "mandate_reference_id": apptest.Any, "expires_at": apptest.Any,
		})
		s.Do(t, operator(leads+session.Text(t, "lead.id")+"/", nil)).Want(t, http.StatusOK, apptest.Fields{
			"tenant_id": apptest.Shop, "last_name": apptest.LastName, "country": "DE", "address": nil, "phone": nil, "created_at": apptest.Any,
		})
		s.Do(t, operator(chargebacks+m.chargeback+"/", nil)).Want(t, http.StatusOK, apptest.Fields{"tenant_id": apptest.Shop, "transaction_id": m.first})
		s.Do(t, operator(subscriptions+m.subscription+"/", nil)).Want(t, http.StatusOK, apptest.Fields{"tenant_id": apptest.Shop, "status": "CANCELLED"})
		s.Do(t, operator(transactions+"?tenant_id="+apptest.Shop+"&status=declined", nil)).Want(t, http.StatusOK, apptest.Fields{"next": nil, "previous": nil})
		t.Run("and a session is expired as soon as its time has run out", func(t *testing.T) {
			token := s.Create(t, apptest.InCampaign(apptest.ShortCampaign))
			id := storetest.Scalar[string](t, s.Env, `SELECT CAST(id AS TEXT) FROM sessions WHERE token = $1`, store.TokenKey(token))
			wantFound(t, s, sessions+"?status=PENDING", id)
			s.MoveClock(t, 2*time.Hour)
			wantFound(t, s, sessions+"?status=PENDING")
			wantFound(t, s, sessions+"?status=EXPIRED", id)
			s.Do(t, operator(sessions+id+"/", nil)).Want(t, http.StatusOK, apptest.Fields{"status": "EXPIRED"})
		})
	})
}

// TestSearchesShowNoSecrets: whoever has a token can pay, and an account number
// is never shown in full.
func TestSearchesShowNoSecrets(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		m := openMarket(t, s)
		token := s.Token(t, m.session)
		for _, address := range []string{
			sessions, sessions + m.session + "/", leads, transactions, transactions + m.sale + "/", chargebacks, subscriptions,
			subscriptions + m.subscription + "/",
		} {
			text := string(s.Do(t, operator(address, nil)).Want(t, http.StatusOK, nil).Raw)
			for name, secret := range map[string]string{"a session's token": token[:12], "an account number": apptest.Approved} {
				if strings.Contains(text, secret) {
					t.Errorf("GET %s shows %s", address, name)
				}
			}
		}
		listed, _ := searched(t, s, transactions+"?merchant_transaction_id="+m.reference, "iban")
		if want := strings.Repeat("*", 18) + apptest.Approved[18:]; !slices.Equal(listed, []string{want}) {
			t.Errorf("the account is shown as %v", listed)
		}
		for _, address := range []string{sessions, leads, transactions, chargebacks, subscriptions} {
			s.Do(t, apptest.Request{Path: address}).Want(t, http.StatusUnauthorized, nil)
			s.Do(t, apptest.Request{Path: address, Key: s.Key}).WantDetail(t, http.StatusUnauthorized, "Invalid admin token")
		}
	})
}

func TestSearchPages(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		var want []string
		for i := range 7 {
			body, key := apptest.InCampaign(apptest.ServerCampaign), s.Key
			if i%3 == 0 {
				body, key = apptest.InCampaign(apptest.RivalCampaign), s.RivalKey
			}
			token := s.Do(t, apptest.Request{Path: apptest.Sessions, Key: key, Body: body}).Want(t, http.StatusCreated, nil).Text(t, "session_token")
			want = append(want, storetest.Scalar[string](t, s.Env, `SELECT CAST(id AS TEXT) FROM sessions WHERE token = $1`, store.TokenKey(token)))
		}
		slices.Reverse(want)
		for _, filter := range []string{"", "&status=PENDING"} {
			var forward []string
			address, last := sessions+"?page_size=3"+filter, ""
			for address != "" {
				ids, page := searched(t, s, address, "id")
				forward = append(forward, ids...)
				last, address = address, neighbour(t, s, page, "next")
			}
			if !slices.Equal(forward, want) {
				t.Errorf("forward%s: %v, want %v", filter, forward, want)
			}
			_, page := searched(t, s, last, "id")
			backward := forward[6:]
			for address = neighbour(t, s, page, "previous"); address != ""; address = neighbour(t, s, page, "previous") {
				var ids []string
				ids, page = searched(t, s, address, "id")
				backward = append(ids, backward...)
			}
			if !slices.Equal(backward, want) {
				t.Errorf("backward%s: %v, want %v", filter, backward, want)
			}
		}
		t.Run("and a cursor is good for its own filters only", func(t *testing.T) {
			_, page := searched(t, s, sessions+"?page_size=3", "id")
			s.Do(t, operator(neighbour(t, s, page, "next")+"&status=FAILED", nil)).WantBad(t, map[string]string{"cursor": ""})
		})
	})
}

func TestSearchesAreRefused(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{})
	for address, field := range map[string]string{
		sessions + "?tenant_id=shop":                 "tenant_id",
		sessions + "?status=paid":                    "status",
		sessions + "?page_size=0":                    "page_size",
		sessions + "?cursor=xyz":                     "cursor",
		sessions + "?email=a%00b":                    "email",
		sessions + "?from=yesterday":                 "from",
		sessions + "?lead_id=1":                      "lead_id",
		leads + "?email=" + strings.Repeat("a", 256): "email",
		leads + "?to=31.03.2026":                     "to",
		transactions + "?type=sale":                  "type",
		transactions + "?order_number=%FF":           "order_number",
		transactions + "?payment_gateway_id=x":       "payment_gateway_id",
		chargebacks + "?source=letter":               "source",
		chargebacks + "?page_size=1001":              "page_size",
		subscriptions + "?status=PENDING":            "status",
	} {
		s.Do(t, operator(address, nil)).WantBad(t, map[string]string{field: ""})
	}
	for address, detail := range map[string]string{
		sessions: "Session not found", leads: "Lead not found", transactions: "Transaction not found",
		chargebacks: "Chargeback not found", subscriptions: "Subscription not found",
	} {
		s.Do(t, operator(address+"nonsense/", nil)).WantDetail(t, http.StatusNotFound, detail)
		s.Do(t, operator(address+apptest.Shop+"/", nil)).WantDetail(t, http.StatusNotFound, detail)
	}
}
