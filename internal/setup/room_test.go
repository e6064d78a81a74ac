package setup_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/uuid"

	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/setup"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// TestASetupHasAnEnd: each process keeps it in memory, and each change has it read again by whoever comes next.
func TestASetupHasAnEnd(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		applier := &setup.Applier{Store: env.Store, Environment: merchant.Sandbox}
		change := func(work func(*merchant.Setup)) error {
			_, _, err := applier.Change(t.Context(), shop.ID, env.Now, func(s *merchant.Setup) error { work(s); return nil })
			return err
		}
		page := func(id uuid.UUID, letters int) func(*merchant.Setup) {
			return func(s *merchant.Setup) {
				p := shop.HostedPage
				p.ID, p.Name, p.Content = id, "Page "+id.String(), map[string]any{"headline": strings.Repeat("x", letters)}
				s.HostedPages[id] = p
			}
		}
		const most = 8 << 20
		large := payment.NewID()
		if err := change(page(large, most-50_000)); err != nil {
			t.Fatal(err)
		}
		if err := change(page(payment.NewID(), 60_000)); !errors.Is(err, store.ErrSetupFull) {
			t.Errorf("one more page: %v", err)
		}
		if err := change(page(large, most)); !errors.Is(err, store.ErrSetupFull) {
			t.Errorf("a longer page: %v", err)
		}
		if n := len(readAll(t, env, shop.ID).HostedPages); n != 2 {
			t.Errorf("%d pages are there, want 2", n)
		}
		// What takes no more room goes on, whatever there is.
		env.Exec(t, `UPDATE setup_records SET document = document || $1 WHERE id = $2`, strings.Repeat(" ", 100_000), large.String())
		if err := change(func(s *merchant.Setup) {
			g := s.Gateways[shop.Gateway.ID]
			g.Active = false
			s.Gateways[g.ID] = g
		}); err != nil {
			t.Errorf("switching off: %v", err)
		}
		if err := change(page(large, 10)); err != nil {
			t.Errorf("a shorter page: %v", err)
		}
		if err := change(page(payment.NewID(), 60_000)); err != nil {
			t.Errorf("one more page afterwards: %v", err)
		}
	})
}

func readAll(t *testing.T, env *storetest.Env, tenantID uuid.UUID) *merchant.Setup {
	t.Helper()
	read, err := env.Store.CurrentSetup(t.Context(), tenantID)
	if err != nil {
		t.Fatal(err)
	}
	return read
}
