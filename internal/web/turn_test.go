package web

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sepad/internal/clock"
	"sepad/internal/turn"
)

func TestOnePersonReadsAFewThingsAtOnce(t *testing.T) {
	t.Parallel()
	type nameKey struct{}
	whoReads := func(ctx context.Context) (person, tenant string) {
		person, _ = ctx.Value(nameKey{}).(string)
		return person, ""
	}
	for _, example := range []struct {
		what, method, name string
		how                Reading
		begun              int32 // of ten of their own
	}{
		{"lists", http.MethodGet, "ada", Looking, readsAtOnce},
		{"exports", http.MethodGet, "ada", GoingOn, readsAtOnce},
		{"matching reports", http.MethodPost, "ada", Comparing, reportsAtOnce},
		{"files", http.MethodPost, "ada", TakingIn, filesAtOnce},
		{"changes", http.MethodPost, "ada", Looking, 10},
		{"the admin token", http.MethodGet, "", Looking, 10},
	} {
		t.Run(example.what, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var turns turn.Turns[string]
				var begun, refused atomic.Int32
				end := make(chan struct{})
				handler := InTurn(&turns, whoReads, Route{Method: example.method, Handler: func(http.ResponseWriter, *http.Request) error {
					begun.Add(1)
					<-end
					return nil
				}}, example.how)
				call := func(name string) {
					r := httptest.NewRequest(example.method, "/", nil)
					if err := handler(httptest.NewRecorder(), r.WithContext(context.WithValue(r.Context(), nameKey{}, name))); err != nil {
						refused.Add(1)
					}
				}
				for range 10 {
					go call(example.name)
				}
				synctest.Wait()
				if begun.Load() != example.begun {
					t.Errorf("%d at once, want %d", begun.Load(), example.begun)
				}
				go call("somebody else")
				synctest.Wait()
				if begun.Load() != example.begun+1 {
					t.Error("somebody else has to wait")
				}
				close(end)
				synctest.Wait()
				if begun.Load() != 11 || refused.Load() != 0 {
					t.Errorf("%d were done in the end and %d refused, want all eleven", begun.Load(), refused.Load())
				}
			})
		})
	}
}

// TestThePeopleOfATenantReadAFewThingsAtOnce: its administrator adds as many people as he likes.
func TestThePeopleOfATenantReadAFewThingsAtOnce(t *testing.T) {
	t.Parallel()
	type whoKey struct{}
	type who struct{ person, tenant string }
	for name, example := range map[string]struct {
		method string
		how    Reading
		begun  int32
	}{
		"lists": {http.MethodGet, Looking, tenantReads}, "exports": {http.MethodGet, GoingOn, tenantReadsThatGoOn},
		"matching reports": {http.MethodPost, Comparing, tenantReports},
		"files":            {http.MethodPost, TakingIn, tenantFiles},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var turns turn.Turns[string]
				var begun atomic.Int32
				end := make(chan struct{})
				handler := InTurn(&turns, func(ctx context.Context) (string, string) {
					reader, _ := ctx.Value(whoKey{}).(who)
					return reader.person, reader.tenant
				}, Route{Method: example.method, Handler: func(http.ResponseWriter, *http.Request) error {
					begun.Add(1)
					<-end
					return nil
				}}, example.how)
				call := func(reader who) {
					r := httptest.NewRequest(http.MethodGet, "/", nil)
					if err := handler(httptest.NewRecorder(), r.WithContext(context.WithValue(r.Context(), whoKey{}, reader))); err != nil {
						t.Error(err)
					}
				}
				const people = 40
				for i := range people {
					go call(who{strconv.Itoa(i), "shop"})
				}
				synctest.Wait()
				if begun.Load() != example.begun {
					t.Errorf("%d at once, want %d", begun.Load(), example.begun)
				}
				go call(who{"somebody of another one", "rival"})
				go call(who{"somebody of the house", ""})
				synctest.Wait()
				if begun.Load() != example.begun+2 {
					t.Error("others have to wait")
				}
				close(end)
				synctest.Wait()
				if begun.Load() != people+2 {
					t.Errorf("%d were done in the end", begun.Load())
				}
			})
		})
	}
}

// TestWhoHasWaitedIsAskedAgain: also with a body, of which nobody reads anything.
func TestWhoHasWaitedIsAskedAgain(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]io.Reader{"a list": nil, "a list asked for with a body": strings.NewReader("x")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var turns turn.Turns[string]
				var begun int
				removed := errors.New("removed")
				refusals, answers := []error{nil, removed}, make(chan error, 2)
				handler := InTurn(&turns, func(context.Context) (string, string) { return "ada", "" }, Route{Method: http.MethodGet, Handler: func(http.ResponseWriter, *http.Request) error {
					begun++
					return nil
				}}, Looking)
				var leaves []func()
				for range readsAtOnce {
					leave, _, _ := turns.Take(t.Context(), "ada", readsAtOnce)
					leaves = append(leaves, leave)
				}
				for _, refusal := range refusals {
					r := Vouched(httptest.NewRequest(http.MethodGet, "/", body), clock.Real{}, func() error { return refusal })
					go func() { answers <- handler(httptest.NewRecorder(), r) }()
					synctest.Wait()
				}
				for _, leave := range leaves {
					leave()
				}
				synctest.Wait()
				if first, second := <-answers, <-answers; begun != 1 || errors.Join(first, second) == nil {
					t.Errorf("%d lists were made, and answered: %v, %v", begun, first, second)
				}
			})
		})
	}
}

// TestBothTurnsAreWaitedForTogether: who has waited long for their own turn waits for the tenant's that much less.
func TestBothTurnsAreWaitedForTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var turns turn.Turns[string]
		handler := InTurn(&turns, func(context.Context) (string, string) { return "ada", "shop" }, Route{Method: http.MethodGet, Handler: func(http.ResponseWriter, *http.Request) error {
			t.Error("it was read")
			return nil
		}}, Looking)
		fill := func(name string, atOnce int) (leaves []func()) {
			for range atOnce {
				leave, _, _ := turns.Take(t.Context(), name, atOnce)
				leaves = append(leaves, leave)
			}
			return leaves
		}
		own := fill("ada", readsAtOnce)
		fill("shop", tenantReads)
		time.AfterFunc(readPatience-time.Second, own[0])
		began := time.Now()
		if err := handler(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil)); err == nil || time.Since(began) != readPatience {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
	})
}
