package db_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"

	"sepad/internal/db"
	"sepad/internal/merchant"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// queue is a database on which every lane waits for a lead that somebody holds,
// so that creates begun meanwhile gather behind them.
type queue struct {
	*storetest.Env
	storetest.Shop
	key        merchant.APIKey
	credential store.Credential
	release    func()
	group      sync.WaitGroup
}

func newQueue(t *testing.T) *queue {
	t.Helper()
	env := storetest.FreshPostgres(t)
	db.WaitForRows(env.Store.DB)
	shop := env.Shop(t)
	key, text := env.APIKey(t, shop.ID)
	q := &queue{Env: env, Shop: shop, key: key}
	var err error
	if q.credential, _, err = env.Store.CredentialByKeyHash(t.Context(), merchant.HashAPIKey(text)); err != nil {
		t.Fatal(err)
	}
	q.holdLanes(t)
	return q
}

// create makes a session that rests on the key as it was looked up.
func (q *queue) create(t *testing.T, draft storetest.Draft) error {
	t.Helper()
	return q.TryWrite(t, func(tx *store.Tx) error {
		tx.CreateSessionFor(q.credential, q.New(t, draft), draft.Lead)
		return nil
	})
}

func (q *queue) holdLanes(t *testing.T) {
	t.Helper()
	held := q.Session(t, q.Shop)
	q.release = hold(t, q.Env, "UPDATE leads SET updated_at = 0")
	for lane := range db.SharedLanes {
		blocked := q.Draft(q.Shop, func(d *storetest.Draft) { d.Lead.Email = held.Lead.Email })
		q.group.Go(func() {
			if err := q.create(t, blocked); !store.IsLeadBusy(err) {
				t.Errorf("a create for the lead that is held: %v", err)
			}
		})
		q.await(lane+1, 0)
	}
}

// await waits until so many lanes of a kind are busy and so many units stand behind them.
func await(env *storetest.Env, kind string, busy, waiting int) {
	for {
		if b, w := db.SharedQueue(env.Store.DB, kind); b == busy && w == waiting {
			return
		}
		runtime.Gosched()
	}
}

func (q *queue) await(busy, waiting int) { await(q.Env, "leads", busy, waiting) }

// join begins a create that waits for its turn; its answer goes to err.
func (q *queue) join(ctx context.Context, err *error, draft storetest.Draft, credential store.Credential) {
	busy, waiting := db.SharedQueue(q.Store.DB, "leads")
	session, sealing := q.Store.NewSession(draft.Session)
	if sealing != nil {
		*err = sealing
		return
	}
	q.group.Go(func() {
		*err = q.Store.Write(ctx, q.Now, func(tx *store.Tx) error {
			tx.CreateSessionFor(credential, session, draft.Lead)
			return nil
		})
	})
	q.await(busy, waiting+1)
}

// commits counts the transactions that wrote the leads of some drafts.
func (q *queue) commits(t *testing.T, drafts []storetest.Draft) int {
	t.Helper()
	distinct := map[string]bool{}
	for _, draft := range drafts {
		distinct[storetest.Scalar[string](t, q.Env, "SELECT xmin::text FROM leads WHERE id = $1", draft.Lead.ID.String())] = true
	}
	return len(distinct)
}

func TestSharedCommit(t *testing.T) {
	t.Parallel()

	t.Run("creates that wait together share one commit", func(t *testing.T) {
		t.Parallel()
		q := newQueue(t)
		drafts, answers := make([]storetest.Draft, 9), make([]error, 9)
		for i := range drafts {
			drafts[i] = q.Draft(q.Shop)
			q.join(t.Context(), &answers[i], drafts[i], q.credential)
		}
		q.release()
		q.group.Wait()
		if err := errors.Join(answers...); err != nil {
			t.Fatal(err)
		}
		if commits := q.commits(t, drafts); commits != 1 {
			t.Errorf("there were %d commits", commits)
		}
	})

	t.Run("a create that is refused does not touch its neighbours", func(t *testing.T) {
		t.Parallel()
		q := newQueue(t)
		first, last := q.Draft(q.Shop), q.Draft(q.Shop)
		twin := q.Draft(q.Shop, func(d *storetest.Draft) { d.Lead.Email = first.Lead.Email })
		unproven := q.credential
		unproven.SetupVersion--
		var one, other, stale, good error
		q.join(t.Context(), &one, first, q.credential)
		q.join(t.Context(), &other, twin, q.credential)
		q.join(t.Context(), &stale, q.Draft(q.Shop), unproven)
		q.join(t.Context(), &good, last, q.credential)
		q.release()
		q.group.Wait()
		if good != nil || !errors.Is(stale, store.ErrStale) {
			t.Errorf("the good one: %v, the stale one: %v", good, stale)
		}
		if (one == nil) == (other == nil) || !store.IsLeadBusy(errors.Join(one, other)) {
			t.Errorf("of two for one lead: %v and %v", one, other)
		}
		if sessions := q.Count(t, "sessions"); sessions != 3 {
			t.Errorf("%d sessions are there", sessions)
		}
	})

	t.Run("a caller who leaves does not take the group along", func(t *testing.T) {
		t.Parallel()
		q := newQueue(t)
		ctx, leave := context.WithCancel(t.Context())
		var left, stayed error
		q.join(ctx, &left, q.Draft(q.Shop), q.credential)
		q.join(t.Context(), &stayed, q.Draft(q.Shop), q.credential)
		leave()
		q.release()
		q.group.Wait()
		if stayed != nil {
			t.Errorf("who stayed got %v", stayed)
		}
		if left != nil && !errors.Is(left, context.Canceled) {
			t.Errorf("who left got %v", left)
		}
	})
}
