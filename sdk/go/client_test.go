package sepad_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sepad "sepad/sdk/go"
)

// played is a service that answers one call after the other as it is told.
func played(t *testing.T, answers ...http.HandlerFunc) (*sepad.Client, *atomic.Int64) {
	t.Helper()
	calls := &atomic.Int64{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := int(calls.Add(1))
		answers[min(n, len(answers))-1](w, r)
	}))
	t.Cleanup(server.Close)
	client := sepad.New(server.URL, "rk_test_key")
	client.Wait = func(context.Context, time.Duration) error { return nil }
	return client, calls
}

func answer(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// hangUp breaks the connection off after the request was read.
func hangUp(w http.ResponseWriter, _ *http.Request) {
	connection, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		_ = connection.Close()
	}
}

const created = `{"session_token":"ps_x","status":"PENDING","payment_url":"https://pay.example/pay/ps_x/"}`

func TestACreateIsRepeatedUnderOneKey(t *testing.T) {
	t.Parallel()
	var keys []string
	note := func(next http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			keys = append(keys, r.Header.Get("Idempotency-Key"))
			next(w, r)
		}
	}
	client, calls := played(t, note(hangUp), note(answer(503, `{"detail":"busy","status_code":503}`, "Retry-After", "1")), note(answer(201, created)))
	got, err := client.CreateSession(t.Context(), sepad.SessionRequest{CampaignID: "c"})
	if err != nil || got.SessionToken != "ps_x" || calls.Load() != 3 {
		t.Fatalf("%+v after %d calls: %v", got, calls.Load(), err)
	}
	if keys[0] == "" || keys[0] != keys[1] || keys[1] != keys[2] {
		t.Errorf("the keys are %q", keys)
	}
}

func TestWhatIsRefusedIsNotRepeated(t *testing.T) {
	t.Parallel()
	client, calls := played(t, answer(400, `{"detail":{"lead.email":"lead.email is required."},"status_code":400}`, "X-Request-Id", "r1"))
	_, err := client.CreateSession(t.Context(), sepad.SessionRequest{})
	if sepad.StatusOf(err) != 400 || sepad.FieldError(err, "lead.email") != "lead.email is required." || calls.Load() != 1 {
		t.Errorf("%v after %d calls", err, calls.Load())
	}
}

func TestRetriesEnd(t *testing.T) {
	t.Parallel()
	client, calls := played(t, answer(503, `{"detail":"busy","status_code":503}`))
	client.Tries = 3
	if _, err := client.Session(t.Context(), "ps_x"); sepad.StatusOf(err) != 503 || calls.Load() != 3 {
		t.Errorf("%v after %d calls", err, calls.Load())
	}
}

func TestManyTriesEnd(t *testing.T) {
	t.Parallel()
	client, calls := played(t, answer(502, ``))
	client.Tries = 100
	longest := time.Duration(0)
	client.Wait = func(_ context.Context, d time.Duration) error { longest = max(longest, d); return nil }
	if _, err := client.Session(t.Context(), "ps_x"); sepad.StatusOf(err) != 502 || calls.Load() != 100 || longest > 30*time.Second {
		t.Errorf("%v after %d calls and waits of up to %s", err, calls.Load(), longest)
	}
}

// The page on which a place lies is read again as large as it was at most, whatever size pages have now.
func TestAPlaceIsGoneOnFromWithAnotherPageSize(t *testing.T) {
	t.Parallel()
	client, _ := played(t, func(w http.ResponseWriter, r *http.Request) {
		size, _ := strconv.Atoi(r.URL.Query().Get("page_size"))
		first, _ := strconv.Atoi(r.URL.Query().Get("cursor"))
		last, results := min(first+size, 8), []string{}
		for n := first + 1; n <= last; n++ {
			results = append(results, fmt.Sprintf(`{"id":"e%d"}`, n))
		}
		fmt.Fprintf(w, `{"next":"http://x/?cursor=%d","has_more":%t,"results":[%s]}`, last, last < 8, strings.Join(results, ","))
	})
	heard := ""
	hear := func(feed *sepad.Feed, most int) string {
		for event, err := range feed.All(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			heard += event.ID + " "
			if most--; most == 0 {
				break
			}
		}
		return feed.Place()
	}
	feed := client.Events("")
	feed.PageSize = 6
	again := client.Events(hear(feed, 5))
	again.PageSize = 2
	hear(again, 0)
	if heard != "e1 e2 e3 e4 e5 e6 e7 e8 " {
		t.Errorf("heard %s", heard)
	}
}

func TestAPaymentIsSentOnce(t *testing.T) {
	t.Parallel()
	const settled = `{"status":"completed","payment_in_flight":false,"session_status":"COMPLETED"}`
	cases := []struct {
		name    string
		answers []http.HandlerFunc
		want    string
		pays    int
		fails   bool
	}{
		{"an answer that is lost is asked for", []http.HandlerFunc{hangUp, answer(200, `{"status":null,"payment_in_flight":true}`), answer(200, settled)}, "completed", 1, false},
		{"a 500 is asked about", []http.HandlerFunc{answer(500, `{"detail":"?","status_code":500}`), answer(200, settled)}, "completed", 1, false},
		{"one that never arrived fails", []http.HandlerFunc{hangUp, answer(200, `{"status":null,"payment_in_flight":false}`)}, "", 1, true},
		{"one that was not worked on is sent again", []http.HandlerFunc{answer(429, `{"detail":"slow","status_code":429}`, "Retry-After", "1"), answer(200, `{"status":"completed"}`)}, "completed", 2, false},
		{"a conflict is told", []http.HandlerFunc{answer(409, `{"detail":"Conflict","status_code":409}`)}, "", 1, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			pays := 0
			for i, next := range c.answers {
				c.answers[i] = func(w http.ResponseWriter, r *http.Request) {
					if r.Method == http.MethodPost {
						pays++
					}
					next(w, r)
				}
			}
			client, _ := played(t, c.answers...)
			result, err := client.Pay(t.Context(), "ps_x", sepad.PayRequest{IBAN: "DE89370400440532013000", HolderName: "Ada"})
			if result.Status != c.want || pays != c.pays || (err != nil) != c.fails {
				t.Errorf("%q after %d payments: %v", result.Status, pays, err)
			}
		})
	}
}

func TestTheKeyGoesToTheServiceAlone(t *testing.T) {
	t.Parallel()
	thief := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("an address of somebody else was followed") }))
	defer thief.Close()
	client, calls := played(t, answer(200, `{"next":"`+thief.URL+`/api/v1/x/","results":[{"id":"1"}]}`), answer(200, `{"next":null,"results":[]}`))
	for _, err := range client.Transactions(t.Context(), sepad.Days{From: time.Unix(0, 0)}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if calls.Load() != 2 {
		t.Errorf("%d calls were made", calls.Load())
	}
}

func TestAnAnswerThatLeadsElsewhereIsNotFollowed(t *testing.T) {
	t.Parallel()
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	for _, status := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		service := httptest.NewServer(http.RedirectHandler(other.URL, status))
		defer service.Close()
		client := sepad.New(service.URL, "rk_test_key")
		client.Wait = func(context.Context, time.Duration) error { return nil }
		_, err := client.CreateSession(t.Context(), sepad.SessionRequest{CampaignID: "c"})
		if err == nil || !strings.Contains(err.Error(), "is not followed") || elsewhere.Load() != 0 {
			t.Errorf("%d: %v, followed %d times", status, err, elsewhere.Load())
		}
		for _, own := range []*http.Client{nil, {Timeout: time.Minute}} {
			client.HTTP = own
			if _, err := client.CreateSession(t.Context(), sepad.SessionRequest{CampaignID: "c"}); err == nil || elsewhere.Load() != 0 {
				t.Errorf("%d, with %v: %v, followed %d times", status, own, err, elsewhere.Load())
			}
		}
	}
}
