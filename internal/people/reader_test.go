package people

import (
	"testing"

	"github.com/google/uuid"

	"sepad/internal/store"
)

// TestWhoReads: whoever administers three tenants could add people for each choice of them.
func TestWhoReads(t *testing.T) {
	t.Parallel()
	me, one, two := uuid.New(), uuid.MustParse("018f0000-0000-7000-8000-000000000201"), uuid.MustParse("018f0000-0000-7000-8000-000000000202")
	of := "of " + one.String()
	for name, example := range map[string]struct {
		who            Principal
		person, tenant string
	}{
		"the admin token":           {Root(), "", ""},
		"somebody for all tenants":  {principalOf(store.Operator{ID: me, Tenants: store.TenantSet{All: true}}, nil), me.String(), ""},
		"somebody for one":          {principalOf(store.Operator{ID: me, Tenants: store.TenantSet{IDs: []uuid.UUID{one}}}, nil), me.String(), of},
		"somebody for two":          {principalOf(store.Operator{ID: me, Tenants: store.TenantSet{IDs: []uuid.UUID{two, one}}}, nil), me.String(), of},
		"somebody for none of them": {principalOf(store.Operator{ID: me}, nil), me.String(), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if person, tenant := Reader(example.who.Enter(t.Context(), "")); person != example.person || tenant != example.tenant {
				t.Errorf("%q among %q, want %q among %q", person, tenant, example.person, example.tenant)
			}
		})
	}
	if person, tenant := Reader(t.Context()); person != "" || tenant != "" {
		t.Errorf("nobody is %q among %q", person, tenant)
	}
}
