package db_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"sepad/internal/db"
	"sepad/internal/store/storetest"
)

// twins finds nobody, one or two, as their name has it.
const twins = `SELECT n.number, n.name FROM tenants n, generate_series(1, CAST($2 AS BIGINT)) WHERE n.name = $1`

func findTwins(ctx context.Context, env *storetest.Env, name string, times int64) ([]string, error) {
	result, err := env.Store.DB.LookUp(ctx, twins, name, times)
	return db.Collect(result, err, func(r db.Rows) (string, error) {
		var number int64
		var name string
		err := r.Scan(&number, &name)
		return strconv.FormatInt(number, 10) + name, err
	})
}

// gatherLooks starts looks of one text one after the other, while a table that they need is locked.
func gatherLooks(t *testing.T, env *storetest.Env, looks ...func()) {
	t.Helper()
	release := hold(t, env, "LOCK TABLE tenants")
	defer release()
	var all sync.WaitGroup
	for i, look := range looks {
		all.Go(look)
		for {
			busy, waiting := db.LookQueue(env.Store.DB)
			if busy == min(i+1, db.LookLanes) && waiting == max(0, i+1-db.LookLanes) {
				break
			}
			runtime.Gosched()
		}
	}
	release()
	all.Wait()
}

func TestLooksShareAnExchange(t *testing.T) {
	t.Parallel()
	env := storetest.FreshPostgres(t)
	shops := []string{env.Shop(t).Tenant.Name, env.Shop(t).Tenant.Name}
	want := func(name string, times int64) func() {
		return func() {
			found, err := findTwins(t.Context(), env, name, times)
			if err != nil || int64(len(found)) != times || times > 0 && !strings.HasSuffix(found[0], name) {
				t.Errorf("%d times %s: found %v: %v", times, name, found, err)
			}
		}
	}
	var looks []func()
	for i := range db.LookLanes + 9 {
		looks = append(looks, want(shops[i%2], int64(i%3)))
	}
	refused := func() {
		if found, err := findTwins(t.Context(), env, "\x00", 1); err == nil {
			t.Errorf("a text that PostgreSQL refuses finds %v", found)
		}
	}
	t.Run("and each hears what was found for it", func(t *testing.T) { gatherLooks(t, env, looks...) })
	if len(db.SetForms(env.Store.DB)) == 0 {
		t.Fatal("none was made together with others")
	}
	t.Run("and one that is refused costs the others nothing", func(t *testing.T) { gatherLooks(t, env, append(looks, refused)...) })
}

func TestACallerLeavesALook(t *testing.T) {
	t.Parallel()
	env := storetest.FreshPostgres(t)
	release := hold(t, env, "LOCK TABLE tenants")
	defer release()
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error)
	go func() {
		_, err := findTwins(ctx, env, "nobody", 1)
		left <- err
	}()
	for busy := 0; busy == 0; busy, _ = db.LookQueue(env.Store.DB) {
		runtime.Gosched()
	}
	cancel()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("he hears %v", err)
	}
	release()
	if found, err := findTwins(t.Context(), env, "nobody", 1); err != nil || found != nil {
		t.Errorf("the next one finds %v: %v", found, err)
	}
}

// TestLooksTogetherReadByTheirKeys: a plan is kept that was made while PostgreSQL knew next to nothing of the tables.
func TestLooksTogetherReadByTheirKeys(t *testing.T) {
	t.Parallel()
	env := storetest.FreshPostgres(t)
	shop := env.Shop(t)
	session := env.Session(t, shop)
	for name, look := range map[string]func() error{
		"a session": func() error { _, err := env.Store.SessionByToken(t.Context(), session.Session.Token); return err },
		"a key":     func() error { _, _, err := env.Store.CredentialByKeyHash(t.Context(), "unknown"); return err },
		"origins":   func() error { _, err := env.Store.AllowedOrigins(t.Context(), 1); return err },
	} {
		t.Run(name, func(t *testing.T) {
			var looks []func()
			for range db.LookLanes + 2 {
				looks = append(looks, func() {
					if err := look(); err != nil {
						t.Error(err)
					}
				})
			}
			gatherLooks(t, env, looks...)
		})
	}
	forms := db.SetForms(env.Store.DB)
	if len(forms) != 3 {
		t.Errorf("there are %d forms", len(forms))
	}
	for _, form := range forms {
		checkPlan(t, env, form)
	}
	counted := env.DB(t)
	defer counted.Close()
	if _, err := counted.ExecContext(t.Context(), "ANALYZE"); err != nil {
		t.Fatal(err)
	}
	for _, form := range forms {
		checkPlan(t, env, form)
	}
}

// TestGroupsOfLooksKeepAPlan: an array that PostgreSQL does not know counts as one of ten, so that a plan for two looks cheaper each time.
func TestGroupsOfLooksKeepAPlan(t *testing.T) {
	t.Parallel()
	env := storetest.FreshPostgres(t)
	name := env.Shop(t).Tenant.Name
	find := func() {
		if found, err := findTwins(t.Context(), env, name, 1); err != nil || len(found) != 1 {
			t.Errorf("found %v: %v", found, err)
		}
	}
	looks := slices.Repeat([]func(){find}, db.LookLanes+2)
	for range 3 {
		gatherLooks(t, env, looks...)
	}
	kept, anew, err := db.PlansOfGroups(t.Context(), env.Store.DB)
	if err != nil {
		t.Fatal(err)
	}
	if kept == 0 || anew > 0 {
		t.Errorf("%d groups had a plan that was kept, and %d one of their own", kept, anew)
	}
}
