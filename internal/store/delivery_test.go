package store_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// inLine puts events into line for a shop's endpoint.
func inLine(t *testing.T, env *storetest.Env, shop storetest.Shop, count int) (ids []uuid.UUID) {
	t.Helper()
	var rows []store.EventRow
	for range count {
		id := payment.NewID()
		ids = append(ids, id)
		rows = append(rows, store.EventRow{
			Event: payment.Event{ID: id, Kind: payment.EventTransactionCreated, Key: id.String()}, Payload: "{}", WebhookProfileID: &shop.Profile.ID,
		})
	}
	env.Write(t, func(tx *store.Tx) error { tx.AddEvents(shop.ID, rows); return nil })
	return ids
}

func endpointOf(shop storetest.Shop) store.Endpoint {
	return store.Endpoint{TenantID: shop.ID, ProfileID: shop.Profile.ID}
}

// wantDelivery checks how far an event has come, with its attempts, its failures and how long it waits.
func wantDelivery(t *testing.T, env *storetest.Env, what string, id uuid.UUID, want string) {
	t.Helper()
	var status string
	var attempts, failures int
	var next *int64
	database := env.DB(t)
	defer database.Close()
	err := database.QueryRowContext(t.Context(), `SELECT delivery_status, attempt_count, failure_count, next_attempt_at FROM events WHERE id = $1`, id.String()).
		Scan(&status, &attempts, &failures, &next)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%s %d/%d", status, attempts, failures)
	if next != nil {
		got += " in " + time.UnixMicro(*next).Sub(env.Now).String()
	}
	if got != want {
		t.Errorf("%s is %q, want %q", what, got, want)
	}
}

func result(id uuid.UUID, status store.DeliveryStatus, failures int, next time.Time) store.DeliveryResult {
	return store.DeliveryResult{Attempt: store.Attempt{EventID: id, Number: 1, At: storetest.Start}, Status: status, FailureCount: failures, NextAttemptAt: next}
}

// TestWhatBecameOfDeliveriesIsWrittenDown for those that were tried and are still in line, at their endpoint alone.
func TestWhatBecameOfDeliveriesIsWrittenDown(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop, other := env.Shop(t), env.Shop(t)
		ids, theirs := inLine(t, env, shop, 7), inLine(t, env, other, 1)
		taken, again, failed, between, ended, waiting, late := ids[0], ids[1], ids[2], ids[3], ids[4], ids[5], ids[6]
		env.OutOfLine(t)
		env.Exec(t, `UPDATE events SET delivery_status = 'failed' WHERE id = $1`, ended.String())
		env.Exec(t, `UPDATE events SET next_attempt_at = $2 WHERE id = $1`, waiting.String(), env.Now.Add(time.Hour).UnixMicro())
		env.Exec(t, `UPDATE events SET delivery_status = 'delivered' WHERE id = $1`, late.String())
		results := []store.DeliveryResult{
			result(waiting, store.DeliveryDelivered, 0, time.Time{}), result(taken, store.DeliveryDelivered, 0, time.Time{}),
			result(again, store.DeliveryPending, 2, env.Now.Add(time.Minute)), result(failed, store.DeliveryFailed, 5, time.Time{}),
			result(ended, store.DeliveryDelivered, 0, time.Time{}), result(late, store.DeliveryPending, 1, env.Now.Add(time.Minute)),
			result(theirs[0], store.DeliveryDelivered, 0, time.Time{}), result(theirs[0], store.DeliveryFailed, 1, time.Time{}),
		}
		env.Write(t, func(tx *store.Tx) error { tx.RecordDeliveries(endpointOf(shop), results); return nil })
		wantDelivery(t, env, "what was taken", taken, "delivered 1/0")
		wantDelivery(t, env, "what is tried again", again, "pending 1/2 in 1m0s")
		wantDelivery(t, env, "what has failed", failed, "failed 1/5")
		wantDelivery(t, env, "what was not tried", between, "pending 0/0")
		wantDelivery(t, env, "what had failed before", ended, "failed 0/0")
		wantDelivery(t, env, "what waits meanwhile", waiting, "pending 0/0 in 1h0m0s")
		wantDelivery(t, env, "what was delivered meanwhile", late, "delivered 0/0")
		wantDelivery(t, env, "what is another's", theirs[0], "pending 0/0")
		due, err := env.Store.Tenant(shop.ID).DeliveriesDue(t.Context(), shop.Profile.ID, uuid.Nil, 10)
		if err != nil || len(due) != 1 || due[0].EventID != between {
			t.Errorf("%d are in line: %v", len(due), err)
		}
	})
}

// TestEveryAttemptIsKept with what the receiver has said.
func TestEveryAttemptIsKept(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		id := inLine(t, env, shop, 1)[0]
		env.Write(t, func(tx *store.Tx) error {
			tx.RecordDeliveries(endpointOf(shop), []store.DeliveryResult{{
				Attempt: store.Attempt{EventID: id, Number: 3, At: env.Now, Took: 42 * time.Millisecond, StatusCode: 503, Error: "HTTP 503", Answer: "later"},
				Status:  store.DeliveryPending, NextAttemptAt: env.Now.Add(time.Minute),
			}})
			return nil
		})
		got := storetest.Scalar[string](t, env, `SELECT CAST(event_id AS TEXT) || ' ' || CAST(number AS TEXT) || ' ' || CAST(attempted_at AS TEXT) || ' ' ||
			CAST(duration_us AS TEXT) || ' ' || CAST(status_code AS TEXT) || ' ' || error || ' ' || answer FROM webhook_attempts`)
		if want := fmt.Sprintf("%s 3 %d 42000 503 HTTP 503 later", id, env.Now.UnixMicro()); got != want {
			t.Errorf("kept is %q, want %q", got, want)
		}
	})
}

// TestWhatWaitsIsPutBackIntoLine once it may be tried, at one endpoint.
func TestWhatWaitsIsPutBackIntoLine(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop, other := env.Shop(t), env.Shop(t)
		ids, theirs := inLine(t, env, shop, 2), inLine(t, env, other, 1)
		second := env.WebhookProfile(t, shop.ID)
		elsewhere := inLine(t, env, storetest.Shop{Tenant: shop.Tenant, Profile: second}, 1)[0]
		env.OutOfLine(t)
		for i, id := range []uuid.UUID{ids[0], ids[1], theirs[0], elsewhere} {
			env.Exec(t, `UPDATE events SET next_attempt_at = $2 WHERE id = $1`, id.String(), env.Now.Add([]time.Duration{time.Minute, 2 * time.Minute, 0, 0}[i]).UnixMicro())
		}
		if more, err := env.Store.LineUpRetries(t.Context(), env.Now, endpointOf(shop), time.Minute); err != nil || more {
			t.Fatalf("there are more: %t, %v", more, err)
		}
		wantDelivery(t, env, "what may be tried", ids[0], "pending 0/0")
		wantDelivery(t, env, "what is later", ids[1], "pending 0/0 in 2m0s")
		wantDelivery(t, env, "what is another's", theirs[0], "pending 0/0 in 0s")
		wantDelivery(t, env, "what goes elsewhere", elsewhere, "pending 0/0 in 0s")
	})
}

// TestWhatIsResentGoesOutAtOnce: it is in line again, its endpoint's pause is over, and whoever delivers hears of it.
func TestWhatIsResentGoesOutAtOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop, other := env.Shop(t), env.Shop(t)
		var told []store.Endpoint
		env.Store = env.Reopen(t)
		env.Store.OnEvents(func(e store.Endpoint) { told = append(told, e) })
		ids, theirs := inLine(t, env, shop, 2), inLine(t, env, other, 1)
		told = nil
		pause := func() {
			env.OutOfLine(t)
			env.Exec(t, `UPDATE events SET delivery_status = 'failed', failure_count = 5`)
			for _, of := range []storetest.Shop{shop, other} {
				env.Exec(t, `DELETE FROM webhook_endpoints WHERE tenant_id = $1`, of.ID.String())
				env.Exec(t, `INSERT INTO webhook_endpoints (tenant_id, webhook_profile_id, lease_owner, leased_until, failure_count, pause_count, paused_until) VALUES ($1, $2, $2, 0, 5, 1, 7)`,
					of.ID.String(), of.Profile.ID.String())
			}
		}
		wantPaused := func() {
			t.Helper()
			for of, want := range map[uuid.UUID]int64{shop.ID: 0, other.ID: 7} {
				if got := storetest.Scalar[int64](t, env, `SELECT paused_until FROM webhook_endpoints WHERE tenant_id = $1`, of.String()); got != want {
					t.Errorf("a pause until %d, want %d", got, want)
				}
			}
			if !slices.Equal(told, []store.Endpoint{endpointOf(shop)}) {
				t.Errorf("told of are %v", told)
			}
			told = nil
		}
		pause()
		resend := func(e store.Endpoint, id uuid.UUID) error {
			return env.TryWrite(t, func(tx *store.Tx) error { tx.Resend(e, id); return nil })
		}
		for what, err := range map[string]error{
			"another's event":  resend(endpointOf(shop), theirs[0]),
			"to another's":     resend(store.Endpoint{TenantID: shop.ID, ProfileID: other.Profile.ID}, ids[0]),
			"by another one":   resend(store.Endpoint{TenantID: other.ID, ProfileID: shop.Profile.ID}, ids[0]),
			"one nobody knows": resend(endpointOf(shop), payment.NewID()),
		} {
			if !errors.Is(err, store.ErrNoDelivery) {
				t.Errorf("%s: %v", what, err)
			}
		}
		if err := resend(endpointOf(shop), ids[0]); err != nil {
			t.Fatal(err)
		}
		wantPaused()
		wantDelivery(t, env, "what is resent", ids[0], "pending 0/0")
		wantDelivery(t, env, "what is not", ids[1], "failed 0/5")
		pause()
		resendAll(t, env, shop, time.Time{}, time.Time{}, 2)
		wantPaused()
		wantDelivery(t, env, "what is another's", theirs[0], "failed 0/5")
	})
}

func resendAll(t *testing.T, env *storetest.Env, shop storetest.Shop, from, to time.Time, want int) {
	t.Helper()
	failed := store.FailedEvents{Endpoint: endpointOf(shop), From: from, Before: to}
	ids, err := env.Store.Failed(t.Context(), failed, want+1)
	if err != nil {
		t.Fatal(err)
	}
	if left, err := env.Store.CountFailed(t.Context(), failed); err != nil || left != want {
		t.Errorf("%d have failed, want %d: %v", left, want, err)
	}
	env.Write(t, func(tx *store.Tx) error {
		resent, err := tx.ResendFailed(failed.Endpoint, ids)
		if resent != want {
			t.Errorf("%d are resent, want %d", resent, want)
		}
		return err
	})
}

// TestFailedEventsAreResentFromAnInstantUntilAnother, and those that have not failed are not.
func TestFailedEventsAreResentFromAnInstantUntilAnother(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		start := env.Now
		for range 3 {
			inLine(t, env, shop, 1)
			env.Now = env.Now.Add(time.Hour)
		}
		fail := func() { env.OutOfLine(t); env.Exec(t, `UPDATE events SET delivery_status = 'failed'`) }
		resendAll(t, env, shop, time.Time{}, time.Time{}, 0)
		fail()
		resendAll(t, env, shop, start.Add(time.Hour), start.Add(2*time.Hour), 1)
		fail()
		resendAll(t, env, shop, start.Add(time.Hour), time.Time{}, 2)
		fail()
		resendAll(t, env, shop, time.Time{}, start.Add(2*time.Hour), 2)
	})
}

// TestTheLeasesOfADeadServerEnd where there is one server at a time; elsewhere they run out by themselves.
func TestTheLeasesOfADeadServerEnd(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		for _, owner := range []uuid.UUID{payment.NewID(), payment.NewID()} {
			if _, ok, err := env.Store.LeaseEndpoint(t.Context(), endpointOf(shop), owner, env.Now, time.Hour); err != nil || !ok {
				t.Fatalf("given: %v, %v", ok, err)
			}
			if err := env.Store.EndLeases(t.Context(), env.Now); err != nil {
				t.Fatal(err)
			}
			until := storetest.Scalar[int64](t, env, `SELECT leased_until FROM webhook_endpoints`)
			if ended := until == 0; ended != (env.Engine == "sqlite") {
				t.Fatalf("the lease has ended: %v", ended)
			}
			if env.Engine != "sqlite" {
				return
			}
		}
	})
}
