package api_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sepad/internal/app/apptest"
	"sepad/internal/config"
	"sepad/internal/limit"
	"sepad/internal/store/storetest"
	"sepad/internal/testenv"
)

var clients atomic.Int64

// newClient is an address that nobody has called from before, as a trusted
// proxy tells it.
func newClient() map[string]string {
	n := clients.Add(1)
	return map[string]string{"X-Forwarded-For": fmt.Sprintf("198.51.%d.%d", n/250, n%250+1)}
}

func behindProxy(settings *config.Settings) { settings.TrustedProxies = "127.0.0.0/8" }

// burst makes calls at once, as a caller of its own, and counts them by status.
// Calls that took longer than the window of a limit prove nothing, nor do those
// for which a busy Redis was too slow: another caller then tries again.
func burst(t *testing.T, makeRequests func() (*apptest.Server, []apptest.Request)) (answers map[int][]apptest.Answer) {
	t.Helper()
	apptest.Eventually(t, "some calls within one second", func() bool {
		s, requests := makeRequests()
		before, together := outages(s, requests)
		began := time.Now()
		answers = s.AtOnce(t, requests...)
		took := time.Since(began)
		after, _ := outages(s, requests)
		return together && after == before && took < time.Second
	})
	return answers
}

// outages counts how often servers have lost Redis, and tells whether all of
// them have it.
func outages(s *apptest.Server, requests []apptest.Request) (lost int, together bool) {
	text := s.Log()
	if other := requests[len(requests)-1].Server; other != nil {
		text += other.Log()
	}
	lost = strings.Count(text, "Redis is away")
	return lost, lost == strings.Count(text, "Redis is back")
}

// wantLimit expects that exactly n calls passed and the others were throttled.
func wantLimit(t *testing.T, answers map[int][]apptest.Answer, n, all int) {
	t.Helper()
	throttled := answers[http.StatusTooManyRequests]
	if len(throttled) != all-n {
		t.Errorf("%d of %d calls were throttled, want %d", len(throttled), all, all-n)
	}
	for _, answer := range throttled {
		seconds, err := strconv.Atoi(answer.Header.Get("Retry-After"))
		if err != nil || seconds < 1 {
			t.Errorf("Retry-After is %q", answer.Header.Get("Retry-After"))
		}
		answer.WantDetail(t, http.StatusTooManyRequests, fmt.Sprintf("Request was throttled. Expected available in %d seconds.", seconds))
	}
}

// scopes are the limits of contract 8.1: what each counts, and by what.
var scopes = []struct {
	scope   limit.Scope
	keyed   bool // by API key, else by address
	request func(t *testing.T, s *apptest.Server, token string) apptest.Request
}{
	{limit.APIKeyCreate, true, func(*testing.T, *apptest.Server, string) apptest.Request {
		return apptest.Request{Path: apptest.Sessions, Body: body{}}
	}},
	{limit.APIKeyCancel, true, func(_ *testing.T, _ *apptest.Server, token string) apptest.Request {
		return apptest.Request{Method: http.MethodPost, Path: apptest.Path(token, "cancel")}
	}},
	{limit.APIKeyManage, true, manageRequest(http.MethodGet, "/api/v1/transactions/"+apptest.Shop+"/")},
	{limit.APIKeyManage, true, manageRequest(http.MethodPost, "/api/v1/transactions/"+apptest.Shop+"/refunds/")},
	{limit.APIKeyManage, true, manageRequest(http.MethodGet, "/api/v1/subscriptions/"+apptest.Shop+"/")},
	{limit.APIKeyManage, true, manageRequest(http.MethodPost, "/api/v1/subscriptions/"+apptest.Shop+"/cancel/")},
	{limit.APIKeyManage, true, manageRequest(http.MethodPost, "/api/v1/subscriptions/"+apptest.Shop+"/pause/")},
	{limit.APIKeyManage, true, manageRequest(http.MethodPost, "/api/v1/subscriptions/"+apptest.Shop+"/resume/")},
	{limit.APIKeyManage, true, manageRequest(http.MethodPost, "/api/v1/subscriptions/"+apptest.Shop+"/change/")},
	{limit.APIKeyManage, true, manageRequest(http.MethodPost, "/api/v1/subscriptions/"+apptest.Shop+"/new-mandate/")},
	{limit.APIKeyManage, true, manageRequest(http.MethodGet, "/api/v1/mandates/MND-NOBODYHASIT1/")},
	{limit.APIKeyEvents, true, manageRequest(http.MethodGet, "/api/v1/events/")},
	{limit.APIKeyEvents, true, manageRequest(http.MethodGet, "/api/v1/events/"+apptest.Shop+"/")},
	{limit.APIKeyManage, true, manageRequest(http.MethodGet, apptest.Sessions)},
	{limit.APIKeyManage, true, manageRequest(http.MethodGet, apptest.Path(apptest.Shop, "result"))},
	{limit.BrowserRead, false, retrieveRequest},
	{limit.BrowserPay, false, func(_ *testing.T, _ *apptest.Server, token string) apptest.Request {
		return apptest.PayRequest(token, "")
	}},
	{limit.BrowserVerify, false, func(_ *testing.T, _ *apptest.Server, token string) apptest.Request {
		return apptest.Request{Method: http.MethodPost, Path: apptest.Path(token, "verify")}
	}},
	{limit.IBANValidate, true, func(*testing.T, *apptest.Server, string) apptest.Request {
		return apptest.Request{Path: ibanPath, Body: body{"iban": apptest.Approved}}
	}},
	{limit.IBANValidate, false, func(t *testing.T, s *apptest.Server, _ string) apptest.Request {
		return apptest.Request{Path: ibanPath, Body: body{"iban": apptest.Approved}, Key: s.Create(t, apptest.Direct())}
	}},
	{limit.IBANValidate, false, func(*testing.T, *apptest.Server, string) apptest.Request {
		return apptest.Request{Path: ibanPath, Body: body{"iban": apptest.Approved}, Key: "ps_nobody"}
	}},
	{limit.APIKeyRead, true, retrieveRequest},
	{limit.APIKeyPay, true, func(_ *testing.T, _ *apptest.Server, token string) apptest.Request {
		return apptest.PayRequest(token, "")
	}},
	{limit.APIKeyVerify, true, func(_ *testing.T, _ *apptest.Server, token string) apptest.Request {
		return apptest.Request{Method: http.MethodPost, Path: apptest.Path(token, "verify")}
	}},
	{limit.AuthFailure, false, func(*testing.T, *apptest.Server, string) apptest.Request {
		return apptest.Request{Path: apptest.Sessions, Key: "rk_test_guess", Body: body{}}
	}},
	{limit.AuthFailure, false, func(*testing.T, *apptest.Server, string) apptest.Request {
		return apptest.Request{Path: ibanPath, Key: "ps_guess", Body: body{}}
	}},
	{limit.AuthFailure, false, func(*testing.T, *apptest.Server, string) apptest.Request {
		return apptest.Request{Path: "/gateways/" + apptest.Shop + "/notifications/", Body: body{}}
	}},
	{limit.AuthFailure, false, func(*testing.T, *apptest.Server, string) apptest.Request {
		return apptest.Request{Path: "/gateways/" + apptest.Gateway + "/notifications/", Body: body{}}
	}},
}

func retrieveRequest(_ *testing.T, _ *apptest.Server, token string) apptest.Request {
	return apptest.Request{Path: apptest.Path(token)}
}

func TestEveryScopeHasItsLimit(t *testing.T) {
	t.Parallel()
	for _, counting := range []struct {
		name   string
		change func(t *testing.T, settings *config.Settings)
	}{
		{"in memory", func(*testing.T, *config.Settings) {}},
		{"in Redis", func(t *testing.T, settings *config.Settings) { settings.RedisURL = testenv.RedisURL(t) }},
	} {
		for i, test := range scopes {
			t.Run(fmt.Sprintf("%s: %s, case %d: exactly N in a second, then 429", counting.name, test.scope, i), func(t *testing.T) {
				t.Parallel()
				const n, all = 3, 7
				s := apptest.SQLite(t, apptest.Options{Rates: limit.Rates{test.scope: n}, Change: func(settings *config.Settings) {
					behindProxy(settings)
					counting.change(t, settings)
				}})
				token, tries := s.Create(t, apptest.Direct()), 0
				answers := burst(t, func() (*apptest.Server, []apptest.Request) {
					request := test.request(t, s, token)
					request.Header = newClient()
					if test.keyed {
						tries++
						request.Key = s.NewKey(t, apptest.Shop, fmt.Sprintf("burst %d", tries))
					}
					return s, request.Times(all)
				})
				wantLimit(t, answers, n, all)
			})
		}
	}
}

func TestTheDefaultRatesAreTheContracts(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{Rates: limit.DefaultRates(), Change: behindProxy})
	token := s.Create(t, apptest.Direct())
	t.Run("1 retrieve, pay and verify a second from an address", func(t *testing.T) {
		for _, request := range []apptest.Request{
			{Path: apptest.Path(token)}, apptest.PayRequest(token, ""), {Method: http.MethodPost, Path: apptest.Path(token, "verify")},
		} {
			wantLimit(t, burst(t, func() (*apptest.Server, []apptest.Request) {
				request.Header = newClient()
				return s, request.Times(3)
			}), 1, 3)
		}
	})
	t.Run("50 a second with an API key", func(t *testing.T) {
		for i, request := range []apptest.Request{{Path: apptest.Sessions, Body: body{}}, {Path: ibanPath, Body: body{"iban": "x"}}, {Path: apptest.Path(token)}} {
			tries := 0
			wantLimit(t, burst(t, func() (*apptest.Server, []apptest.Request) {
				tries++
				request.Key, request.Header = s.NewKey(t, apptest.Shop, fmt.Sprintf("many %d %d", i, tries)), newClient()
				return s, request.Times(56)
			}), 50, 56)
		}
	})
}

func TestCallersAreCountedApart(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{Change: behindProxy, Rates: limit.Rates{limit.BrowserRead: 2, limit.APIKeyRead: 4, limit.AuthFailure: 2, limit.APIKeyCreate: 2}})
	token := s.Create(t, apptest.Direct())
	t.Run("each address has a limit of its own", func(t *testing.T) {
		wantLimit(t, burst(t, func() (*apptest.Server, []apptest.Request) {
			one, two := apptest.Request{Path: apptest.Path(token), Header: newClient()}, apptest.Request{Path: apptest.Path(token), Header: newClient()}
			return s, append(one.Times(3), two.Times(3)...)
		}), 4, 6)
	})
	t.Run("the merchant's server is counted by key, and not with the browsers of its address", func(t *testing.T) {
		tries := 0
		wantLimit(t, burst(t, func() (*apptest.Server, []apptest.Request) {
			tries++
			browser := apptest.Request{Path: apptest.Path(token), Header: newClient()}
			server := browser
			server.Key = s.NewKey(t, apptest.Shop, fmt.Sprintf("server %d", tries))
			return s, append(browser.Times(3), server.Times(5)...)
		}), 6, 8)
	})
	t.Run("another tenant's key counts as none", func(t *testing.T) {
		wantLimit(t, burst(t, func() (*apptest.Server, []apptest.Request) {
			return s, apptest.Request{Path: apptest.Path(token), Header: newClient(), Key: s.RivalKey}.Times(5)
		}), 2, 5)
	})
	t.Run("over the limit of failed authentications a valid key still passes", func(t *testing.T) {
		tries := 0
		answers := burst(t, func() (*apptest.Server, []apptest.Request) {
			tries++
			guess := apptest.Request{Path: apptest.Sessions, Key: "rk_test_guess", Body: body{}, Header: newClient()}
			valid := apptest.Request{Path: apptest.Sessions, Key: s.NewKey(t, apptest.Shop, fmt.Sprintf("valid %d", tries)), Body: apptest.Direct(), Header: guess.Header}
			return s, append(guess.Times(6), valid)
		})
		wantLimit(t, answers, 3, 7)
		if len(answers[http.StatusCreated]) != 1 || len(answers[http.StatusUnauthorized]) != 2 {
			t.Errorf("the answers are %v", answers)
		}
	})
	t.Run("a call without any credential is a 401 and no guess", func(t *testing.T) {
		answers := burst(t, func() (*apptest.Server, []apptest.Request) {
			return s, apptest.Request{Path: apptest.Sessions, Body: body{}, Header: newClient()}.Times(5)
		})
		if len(answers[http.StatusUnauthorized]) != 5 {
			t.Errorf("the answers are %v", answers)
		}
	})
	t.Run("a second later there is room again", func(t *testing.T) {
		request := apptest.Request{Path: apptest.Path(token), Header: newClient()}
		apptest.Eventually(t, "the limit is reached", func() bool { return s.Do(t, request).Status == http.StatusTooManyRequests })
		apptest.Eventually(t, "there is room", func() bool { return s.Do(t, request).Status == http.StatusOK })
	})
	t.Run("a throttled create leaves nothing behind", func(t *testing.T) {
		key := s.NewKey(t, apptest.Shop, "creates")
		apptest.Eventually(t, "some creates are throttled", func() bool {
			before, requests := s.Env.Count(t, "sessions"), make([]apptest.Request, 6)
			for i := range requests {
				requests[i] = apptest.Request{Path: apptest.Sessions, Key: key, Body: apptest.Direct()}
			}
			answers := s.AtOnce(t, requests...)
			if made := s.Env.Count(t, "sessions") - before; made != len(answers[http.StatusCreated]) {
				t.Errorf("%d sessions were made, %d were answered", made, len(answers[http.StatusCreated]))
			}
			return len(answers[http.StatusTooManyRequests]) > 0
		})
	})
}

func TestTheClientsAddress(t *testing.T) {
	t.Parallel()
	forwarded := func(list string) apptest.Request {
		return apptest.Request{Path: apptest.Path("ps_none"), Header: map[string]string{"X-Forwarded-For": list}}
	}
	t.Run("X-Forwarded-For is not believed from a stranger", func(t *testing.T) {
		s := apptest.SQLite(t, apptest.Options{Rates: limit.Rates{limit.BrowserRead: 1}})
		s.Retrieve(t, "ps_none")
		apptest.Eventually(t, "other addresses are throttled alike", func() bool {
			answers := s.AtOnce(t, forwarded("203.0.113.1"), forwarded("203.0.113.2"), forwarded("203.0.113.3"))
			return len(answers[http.StatusTooManyRequests]) == 2
		})
	})
	t.Run("behind trusted proxies it is the right-most address that is none of theirs", func(t *testing.T) {
		trust := func(settings *config.Settings) { settings.TrustedProxies = "127.0.0.1, 10.0.0.0/8" }
		s := apptest.SQLite(t, apptest.Options{Rates: limit.Rates{limit.BrowserRead: 1}, Change: trust})
		lists := func(n int64) []apptest.Request {
			client := fmt.Sprintf("203.0.113.%d", n)
			return []apptest.Request{forwarded(client), forwarded("8.8.8.8, " + client), forwarded("9.9.9.9, " + client + ", 10.1.2.3"), forwarded(client + ", 10.0.0.1, 10.0.0.2")}
		}
		wantLimit(t, burst(t, func() (*apptest.Server, []apptest.Request) { return s, lists(clients.Add(1)%250 + 1) }), 1, 4)
	})
}

func TestProcessesCountTogetherInRedis(t *testing.T) {
	t.Parallel()
	env, redis := storetest.Postgres(t), testenv.RedisURL(t)
	options := apptest.Options{Rates: limit.Rates{limit.APIKeyCreate: 5, limit.BrowserRead: 4}, Change: func(settings *config.Settings) {
		behindProxy(settings)
		settings.RedisURL = redis
	}}
	one := apptest.Open(t, env, options)
	two := one.Beside(t, options)
	for _, test := range []struct {
		name    string
		limit   int
		request func(tries int) apptest.Request
	}{
		{"by key", 5, func(tries int) apptest.Request {
			return apptest.Request{Path: apptest.Sessions, Key: one.NewKey(t, apptest.Shop, fmt.Sprintf("shared %d", tries)), Body: body{}}
		}},
		{"by address", 4, func(int) apptest.Request { return apptest.Request{Path: apptest.Path("ps_none"), Header: newClient()} }},
	} {
		t.Run(test.name, func(t *testing.T) {
			tries := 0
			answers := burst(t, func() (*apptest.Server, []apptest.Request) {
				tries++
				request := test.request(tries)
				elsewhere := request
				elsewhere.Server = two
				return one, append(request.Times(6), elsewhere.Times(6)...)
			})
			wantLimit(t, answers, test.limit, 12)
		})
	}
}

func manageRequest(method, path string) func(*testing.T, *apptest.Server, string) apptest.Request {
	return func(*testing.T, *apptest.Server, string) apptest.Request {
		return apptest.Request{Method: method, Path: path}
	}
}
