package store_test

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/clock"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// writeEvent writes an event past the store, within whatever a test holds open.
func writeEvent(t *testing.T, to interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}, tenantID, id uuid.UUID,
) {
	t.Helper()
	_, err := to.ExecContext(t.Context(), `INSERT INTO events (tenant_id, id, event_key, kind, payload, created_at)
		VALUES ($1, $2, $3, 'transaction.created', '{}', 1)`, tenantID.String(), id.String(), id.String())
	if err != nil {
		t.Fatal(err)
	}
}

// reader goes through a feed and keeps what it was given.
type reader struct {
	env    *storetest.Env
	tenant uuid.UUID
	after  int64
	read   []uuid.UUID
}

func (r *reader) next(ctx context.Context, limit int) (int, error) {
	err := r.env.Store.Write(ctx, r.env.Now, func(tx *store.Tx) error {
		_, err := tx.NumberEvents(r.tenant, time.Unix(0, 0))
		return err
	})
	if err != nil {
		return 0, err
	}
	events, err := r.env.Store.Tenant(r.tenant).Feed(ctx, r.after, store.FeedAll, limit)
	for _, e := range events {
		r.after, r.read = e.Position, append(r.read, e.ID)
	}
	return len(events), err
}

func (r *reader) want(t *testing.T, ids ...uuid.UUID) {
	t.Helper()
	if _, err := r.next(t.Context(), 100); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(r.read, ids) {
		t.Errorf("read %v, want %v", r.read, ids)
	}
}

func TestAnEventThatCommitsLateIsNotSkipped(t *testing.T) {
	t.Parallel()
	early, late, last := payment.NewID(), payment.NewID(), payment.NewID()
	t.Run("of two writers at once on PostgreSQL", func(t *testing.T) {
		t.Parallel()
		env := storetest.Postgres(t)
		r := &reader{env: env, tenant: env.Tenant(t).ID}
		db := env.DB(t)
		defer db.Close()
		slow, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		writeEvent(t, slow, r.tenant, early) // its id comes first, and its commit last
		writeEvent(t, db, r.tenant, late)
		r.want(t, late)
		if err := slow.Commit(); err != nil {
			t.Fatal(err)
		}
		r.want(t, late, early)
		writeEvent(t, db, r.tenant, last)
		r.want(t, late, early, last)
		r.want(t, late, early, last)
	})
	t.Run("with a clock that ran behind, on either engine", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			r := &reader{env: env, tenant: env.Tenant(t).ID}
			db := env.DB(t)
			defer db.Close()
			for _, id := range []uuid.UUID{late, early, last} {
				writeEvent(t, db, r.tenant, id)
				if _, err := r.next(t.Context(), 1); err != nil {
					t.Fatal(err)
				}
			}
			r.want(t, late, early, last)
		})
	})
}

// Writers and two readers at once: each reader gets every event once, and both get
// them in the same order.
// TestAnEventFromBeforeAFeedIsNoNews: a reader writes only where there is something new to number, and an event that was
// never numbered in its time must not have every reader write from then on.
func TestAnEventFromBeforeAFeedIsNoNews(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		tenant, since := env.Tenant(t).ID, clock.Real{}.Now().Add(-time.Hour)
		wantNews := func(want bool) {
			t.Helper()
			if news, err := env.Store.Tenant(tenant).HasUnnumbered(t.Context(), since); err != nil || news != want {
				t.Errorf("there is news: %v, want %v: %v", news, want, err)
			}
		}
		writeEvent(t, env.DB(t), tenant, uuid.MustParse("00000000-0001-7000-8000-000000000000"))
		wantNews(false)
		writeEvent(t, env.DB(t), tenant, payment.NewID())
		wantNews(true)
		env.Write(t, func(tx *store.Tx) error { _, err := tx.NumberEvents(tenant, since); return err })
		wantNews(false)
	})
}

func TestReadersOfAFeedMissNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		const writers, each = 4, 25
		shop := env.Shop(t)
		var writing, reading sync.WaitGroup
		for w := range writers {
			writing.Go(func() {
				for i := range each {
					event := store.EventRow{Event: payment.Event{ID: payment.NewID(), Kind: payment.EventTransactionCreated, Key: fmt.Sprint(w, "/", i)}, Payload: "{}"}
					if err := env.Store.Write(t.Context(), env.Now, func(tx *store.Tx) error {
						tx.AddEvents(shop.ID, []store.EventRow{event})
						return nil
					}); err != nil {
						t.Errorf("write: %v", err)
					}
				}
			})
		}
		done := make(chan struct{})
		go func() { writing.Wait(); close(done) }()
		readers := []*reader{{env: env, tenant: shop.ID}, {env: env, tenant: shop.ID}}
		for _, r := range readers {
			reading.Go(func() { readToTheEnd(t, r, done) })
		}
		reading.Wait()
		if len(readers[0].read) != writers*each || !slices.Equal(readers[0].read, readers[1].read) {
			t.Errorf("the readers got %d and %d of %d events", len(readers[0].read), len(readers[1].read), writers*each)
		}
		seen := map[uuid.UUID]bool{}
		for _, id := range readers[0].read {
			if seen[id] {
				t.Errorf("%s came twice", id)
			}
			seen[id] = true
		}
	})
}

// readToTheEnd reads until there was nothing more after the last writer had ended.
func readToTheEnd(t *testing.T, r *reader, done <-chan struct{}) {
	t.Helper()
	for {
		ended := false
		select {
		case <-done:
			ended = true
		default:
		}
		count, err := r.next(t.Context(), 7)
		if err != nil {
			t.Errorf("read: %v", err)
			return
		}
		if count == 0 && ended {
			return
		}
	}
}

func TestAFeedIsReadFromItsIndex(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		tenant := env.Tenant(t).ID
		rows := map[string]int{"postgres": 20_000, "sqlite": 300}[env.Engine]
		var insert strings.Builder
		for i := range rows {
			if i%500 == 0 && i > 0 {
				env.Exec(t, strings.TrimSuffix(insert.String(), ","))
				insert.Reset()
			}
			if insert.Len() == 0 {
				insert.WriteString(`INSERT INTO events (tenant_id, id, event_key, kind, payload, created_at, feed_position, delivery_status) VALUES `)
			}
			status := "delivered"
			if i%400 == 0 {
				status = "failed"
			}
			fmt.Fprintf(&insert, "('%s', '%s', '%d', 'transaction.created', '{}', 1, %d, '%s'),", tenant, payment.NewID(), i, i+1, status)
		}
		env.Exec(t, strings.TrimSuffix(insert.String(), ","))
		if env.Engine == "postgres" {
			env.Exec(t, "ANALYZE events")
		}
		for which, index := range map[store.FeedFilter]string{store.FeedAll: "events_feed_idx", store.FeedUndelivered: "events_missed_idx", store.FeedDelivered: "events_feed_idx"} {
			plan := env.Explain(t, store.FeedStatement(which), []any{tenant.String(), rows / 2, 101})
			if !strings.Contains(plan, index) || strings.Contains(plan, "Sort") || strings.Contains(plan, "TEMP B-TREE") {
				t.Errorf("filter %d does not read %s in its order:\n%s", which, index, plan)
			}
		}
	})
}

// feedReads are those of a feed in which one event has its place and others have not.
func feedReads(t *testing.T, env *storetest.Env, id uuid.UUID) map[string]func(context.Context, store.Tenant) int {
	t.Helper()
	const place = 7
	env.Exec(t, "UPDATE events SET feed_position = $1 WHERE id = $2", place, id.String())
	return map[string]func(context.Context, store.Tenant) int{
		"HasUnnumbered": func(ctx context.Context, scope store.Tenant) int {
			some, err := scope.HasUnnumbered(ctx, time.Unix(0, 0))
			return found(some, err)
		},
		"FeedStart": func(ctx context.Context, scope store.Tenant) int {
			start, err := scope.FeedStart(ctx, time.Unix(0, 0))
			return found(start == place-1, err)
		},
		"Feed": func(ctx context.Context, scope store.Tenant) int {
			events, err := scope.Feed(ctx, 0, store.FeedAll, 10)
			return found(len(events) == 1, err)
		},
		"Event": func(ctx context.Context, scope store.Tenant) int {
			_, err := scope.Event(ctx, id)
			return found(true, err)
		},
	}
}
