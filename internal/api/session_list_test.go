package api_test

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"sepad/internal/app/apptest"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/listing"
	"sepad/internal/store/storetest"
)

// findSessions walks through all pages of a list and gives the tokens.
func findSessions(t *testing.T, s *apptest.Server, key string, query url.Values) (tokens []string) {
	t.Helper()
	for address := apptest.Sessions + "?" + query.Encode(); address != ""; {
		page := s.Do(t, apptest.Request{Path: strings.TrimPrefix(address, s.URL), Key: key}).Want(t, http.StatusOK, nil)
		for _, entry := range page.Get(t, "results").([]any) {
			tokens = append(tokens, entry.(map[string]any)["session_token"].(string))
		}
		address, _ = page.Get(t, "next").(string)
	}
	return tokens
}

func TestSessionsAreFoundAgain(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ask := apptest.Direct()
		email := ask["lead"].(apptest.Body)["email"].(string)
		paid, _ := s.Completed(t, ask)
		open := s.Create(t, ask)
		refused := s.Create(t, apptest.Direct())
		s.Pay(t, refused, apptest.DeclinedFinal, body{"tenant_reference_id": "order 17"})
		waits, _ := s.Awaiting(t, apptest.Direct(), apptest.VerificationApproved)
		today := s.Now(t).UTC().Format(time.DateOnly)
		tomorrow := s.Now(t).UTC().AddDate(0, 0, 1).Format(time.DateOnly)

		for name, test := range map[string]struct {
			query url.Values
			want  []string
		}{
			"all of them, newest first":          {url.Values{}, []string{waits, refused, open, paid}},
			"those of a customer, whatever case": {url.Values{"email": {strings.ToUpper(email)}}, []string{open, paid}},
			"those of a customer that are paid":  {url.Values{"email": {email}, "status": {"COMPLETED"}}, []string{paid}},
			"those of a reference":               {url.Values{"tenant_reference_id": {"order 17"}}, []string{refused}},
			"those of a reference that failed":   {url.Values{"tenant_reference_id": {"order 17"}, "status": {"FAILED,EXPIRED"}}, []string{refused}},
			"none of an unknown reference":       {url.Values{"tenant_reference_id": {"order 18"}}, nil},
			"those of some statuses":             {url.Values{"status": {"AWAITING_VERIFICATION,PENDING"}}, []string{waits, open}},
			"those of a day":                     {url.Values{"created_from": {today}, "created_to": {today}}, []string{waits, refused, open, paid}},
			"none of the days after it":          {url.Values{"created_from": {tomorrow}}, nil},
			"in pages of one":                    {url.Values{"page_size": {"1"}}, []string{waits, refused, open, paid}},
		} {
			t.Run(name, func(t *testing.T) {
				if got := findSessions(t, s, s.Key, test.query); !slices.Equal(got, test.want) {
					t.Errorf("found %v, want %v", got, test.want)
				}
			})
		}
		t.Run("a page leads back to the one before it", func(t *testing.T) {
			page := func(address string) apptest.Answer {
				return s.Do(t, apptest.Request{Path: strings.TrimPrefix(address, s.URL), Key: s.Key}).Want(t, http.StatusOK, nil)
			}
			first := page(apptest.Sessions + "?page_size=2")
			second := page(first.Text(t, "next"))
			if again := page(second.Text(t, "previous")); string(again.Raw) == "" || again.Text(t, "results.0.id") != first.Text(t, "results.0.id") {
				t.Errorf("it leads to %s", again.Raw)
			}
			s.Do(t, apptest.Request{Path: strings.TrimPrefix(first.Text(t, "next"), s.URL), Key: s.RivalKey}).WantBad(t, map[string]string{"cursor": ""})
		})
		t.Run("every bad parameter is named", func(t *testing.T) {
			s.Do(t, apptest.Request{Path: apptest.Sessions + "?status=DONE&created_from=now&page_size=0&cursor=x&email=" + strings.Repeat("a", 255), Key: s.Key}).
				WantBad(t, map[string]string{"status": "", "created_from": "", "page_size": "", "cursor": "", "email": ""})
			s.Do(t, apptest.Request{Path: apptest.Sessions + "?created_from=2026-03-02&created_to=2026-03-01", Key: s.Key}).
				WantBad(t, map[string]string{"created_to": "created_to may not be before created_from."})
		})
		t.Run("a key needs the scope", func(t *testing.T) {
			s.Do(t, apptest.Request{Path: apptest.Sessions, Key: keyWith(t, s, merchant.ScopeReports)}).Want(t, http.StatusForbidden, nil)
			s.Do(t, apptest.Request{Path: apptest.Sessions}).Want(t, http.StatusUnauthorized, nil)
		})
	})
}

func TestListedSessionsAreTheirMerchants(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ask := apptest.Direct()
		email := ask["lead"].(apptest.Body)["email"].(string)
		open := s.Create(t, ask)
		rivals := s.Do(t, apptest.Request{Path: apptest.Sessions, Key: s.RivalKey, Body: body{
			"campaign_id": apptest.RivalCampaign, "lead": ask["lead"],
		}}).Want(t, http.StatusCreated, nil).Text(t, "session_token")
		t.Run("another tenant finds its own alone", func(t *testing.T) {
			if got := findSessions(t, s, s.RivalKey, url.Values{"email": {email}}); !slices.Equal(got, []string{rivals}) {
				t.Errorf("found %v", got)
			}
		})
		t.Run("an entry is cancelled by its id, by its own merchant", func(t *testing.T) {
			entry := s.Do(t, apptest.Request{Path: apptest.Sessions + "?status=PENDING", Key: s.Key}).Want(t, http.StatusOK, fields{
				"results.0.session_token": open, "results.0.lead.email": email, "results.0.order": nil, "results.0.payment_in_flight": false,
			})
			cancel := apptest.Request{Method: http.MethodPost, Path: apptest.Path(entry.Text(t, "results.0.id"), "cancel"), Key: s.RivalKey}
			s.Do(t, cancel).WantDetail(t, http.StatusNotFound, "Session not found")
			cancel.Key = s.Key
			s.Do(t, cancel).Want(t, http.StatusOK, fields{"session_token": open, "status": "EXPIRED"})
			s.Do(t, cancel).WantDetail(t, http.StatusGone, gone)
		})
		t.Run("one whose time ran out counts as EXPIRED before the sweep has come by", func(t *testing.T) {
			last := s.Create(t, ask)
			s.MoveClock(t, 25*time.Hour)
			s.Env.Exec(t, `UPDATE sessions SET status = 'PENDING', holds_lead = $1 WHERE token = $2`, true, store.TokenKey(last))
			if got := findSessions(t, s, s.Key, url.Values{"email": {email}, "status": {"EXPIRED"}}); !slices.Equal(got, []string{last, open}) {
				t.Errorf("EXPIRED are %v", got)
			}
			for _, query := range []url.Values{{"status": {"PENDING"}}, {"status": {"PENDING"}, "email": {email}}} {
				if got := findSessions(t, s, s.Key, query); slices.Contains(got, last) {
					t.Errorf("%v are %v", query, got)
				}
			}
		})
	})
}

// TestASpoiltRecordDoesNotHideTheOthers is for whoever changes the database by hand, or
// a disk that does.
func TestASpoiltRecordDoesNotHideTheOthers(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		spoilt, _ := s.Completed(t, apptest.Direct())
		whole, _ := s.Completed(t, apptest.Direct())
		s.Env.Exec(t, `UPDATE sessions SET token_sealed = 'spoilt' WHERE token = $1`, store.TokenKey(spoilt))
		t.Run("in the list of sessions it has no token", func(t *testing.T) {
			s.Do(t, apptest.Request{Path: apptest.Sessions, Key: s.Key}).Want(t, http.StatusOK, fields{
				"results.0.session_token": whole, "results.0.payment_url": apptest.Any, "results.1.session_token": nil, "results.1.payment_url": nil,
				"results.1.id": apptest.Any, "results.1.status": "COMPLETED",
			})
		})
		t.Run("its merchant hears what became of it, and ends one", func(t *testing.T) {
			open := s.Create(t, apptest.Direct())
			for _, token := range []string{spoilt, open} {
				s.Env.Exec(t, `UPDATE sessions SET token_sealed = 'spoilt' WHERE token = $1`, store.TokenKey(token))
			}
			id := func(token string) string {
				return storetest.Scalar[string](t, s.Env, `SELECT id FROM sessions WHERE token = $1`, store.TokenKey(token))
			}
			s.Do(t, apptest.Request{Path: apptest.Sessions + id(spoilt) + "/result/", Key: s.Key}).Want(t, http.StatusOK, fields{
				"session_status": "COMPLETED", "status": "completed", "session_token": nil,
			})
			s.Do(t, apptest.Request{Method: "POST", Path: apptest.Sessions + id(open) + "/cancel/", Key: s.Key}).Want(t, http.StatusOK, fields{"status": "EXPIRED", "session_token": nil})
		})
		t.Run("in the feed of events it has the beginning of one", func(t *testing.T) {
			s.Env.Exec(t, `UPDATE events SET token_sealed = 'spoilt' WHERE token_sealed <> '' AND payload LIKE $1`, "%"+payment.ShortToken(spoilt)+"%")
			page := s.Do(t, apptest.Request{Path: "/api/v1/events/", Key: s.Key}).Want(t, http.StatusOK, nil)
			if raw := string(page.Raw); strings.Contains(raw, spoilt) || !strings.Contains(raw, payment.ShortToken(spoilt)) || !strings.Contains(raw, whole) {
				t.Errorf("the feed is %s", raw)
			}
		})
		t.Run("the operator is told, and can count", func(t *testing.T) {
			for _, kind := range []string{`"kind":"session"`, `"kind":"event"`} {
				if !strings.Contains(s.Log(), kind) {
					t.Errorf("the log does not say %s", kind)
				}
			}
			metrics := s.Do(t, apptest.Request{Path: "/metrics", Key: apptest.AdminToken}).Raw
			if strings.Contains(string(metrics), "sepad_unreadable_total 0\n") || !strings.Contains(string(metrics), "sepad_unreadable_total ") {
				t.Error("nothing is counted")
			}
		})
	})
}

// heavyPage is how many sessions of the most metadata that there may be make a page, whatever more was asked for.
const heavyPage = 128

// createHeavy makes sessions with forty kilobytes of metadata each.
func createHeavy(t *testing.T, s *apptest.Server, count int) (tokens []string) {
	t.Helper()
	metadata := map[string]string{}
	for i := range 20 {
		metadata[strings.Repeat("k", 20+i)] = strings.Repeat("😀", 500)
	}
	for range count {
		ask := apptest.Direct()
		ask["metadata"] = metadata
		tokens = append([]string{s.Create(t, ask)}, tokens...)
	}
	return tokens
}

// TestAPageOfMuchMetadataEndsEarlier: a thousand such sessions took two hundred megabytes until they were written.
func TestAPageOfMuchMetadataEndsEarlier(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		tokens := createHeavy(t, s, 2*heavyPage+3)
		if got := findSessions(t, s, s.Key, url.Values{"page_size": {"1000"}}); !slices.Equal(got, tokens) {
			t.Errorf("%d sessions are found, in their order: %t", len(got), slices.Equal(got, tokens))
		}
		// What no list of operators shows is not held for it.
		part, err := listing.SearchSessions(t.Context(), s.Env.Store, listing.SessionSearch{}, listing.Paging{Limit: 10})
		if err != nil || len(part.Rows) != 10 || part.Rows[0].Options.Metadata != "" {
			t.Errorf("operators are shown %d sessions with metadata, %v", len(part.Rows), err)
		}
		var pages []int
		var back []string
		address := apptest.Sessions + "?page_size=1000"
		walk := func(to string) {
			for next := address; next != ""; {
				page := s.Do(t, apptest.Request{Path: strings.TrimPrefix(next, s.URL), Key: s.Key}).Want(t, http.StatusOK, nil)
				rows := page.Get(t, "results").([]any)
				pages = append(pages, len(rows))
				if to == "previous" {
					var here []string
					for _, entry := range rows {
						here = append(here, entry.(map[string]any)["session_token"].(string))
					}
					back = append(here, back...)
				}
				address = next
				next, _ = page.Get(t, to).(string)
			}
		}
		walk("next")
		walk("previous")
		if want := []int{128, 128, 3, 3, 128, 128}; !slices.Equal(pages, want) {
			t.Errorf("there and back the pages have %v", pages)
		}
		if !slices.Equal(back, tokens) {
			t.Errorf("%d sessions are found on the way back, in their order: %t", len(back), slices.Equal(back, tokens))
		}
	})
}

// TestSlowReadersOfListsWaitForEachOther: a page is held until its reader has all of it, and one key may ask fifty times a second.
func TestSlowReadersOfListsWaitForEachOther(t *testing.T) {
	t.Parallel()
	const readers, atOnce = 10, 4
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		createHeavy(t, s, heavyPage)
		answered := make(chan net.Conn, readers)
		for range readers {
			connection := dial(t, s)
			if err := connection.SetReadBuffer(4096); err != nil {
				t.Fatal(err)
			}
			go func() {
				fmt.Fprintf(connection, "GET %s?page_size=1000 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nConnection: close\r\n\r\n", apptest.Sessions, s.Key)
				if _, err := connection.Read(make([]byte, 1)); err == nil {
					answered <- connection
				}
			}()
		}
		within := time.After(10 * time.Second)
		var first []net.Conn
		for range atOnce {
			select {
			case connection := <-answered:
				first = append(first, connection)
			case <-within:
				t.Fatalf("%d are answered", len(first))
			}
		}
		for _, address := range []string{apptest.Sessions, "/api/v1/payment-sessions/?page_size=1"} {
			s.Do(t, apptest.Request{Path: address, Key: s.RivalKey}).Want(t, http.StatusOK, nil)
		}
		select {
		case <-answered:
			t.Error("a fifth page of one key is held")
		case <-time.After(500 * time.Millisecond):
		}
		for _, connection := range first {
			connection.Close()
		}
		for range atOnce {
			select {
			case <-answered:
			case <-time.After(10 * time.Second):
				t.Fatal("those in line are not answered when the others have left")
			}
		}
	})
}
