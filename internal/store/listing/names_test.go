package listing_test

import (
	"slices"
	"strings"
	"testing"

	"sepad/internal/store/listing"
	"sepad/internal/store/storetest"
)

// A full name is found by the surname in it, wherever that begins.
func TestALeadIsFoundByItsNames(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		for _, name := range [][2]string{{"Ana Maria", "von der Heide"}, {"Ana", "Heide"}, {"Erika", "Özil"}, {"Ana", "Byron"}} {
			env.Session(t, shop, func(d *storetest.Draft) { d.Lead.FirstName, d.Lead.LastName = name[0], name[1] })
		}
		for typed, want := range map[string][]string{
			"ana maria von der heide": {"Ana Maria von der Heide"}, "Ana  Maria Von Der Heide": {"Ana Maria von der Heide"},
			"von der heide": {"Ana Maria von der Heide"}, "ana heide": {"Ana Heide"}, "HEIDE": {"Ana Heide"},
			"erika özil": {"Erika Özil"}, "Ana Özil": nil, "Ana Maria": nil, "ana": nil,
		} {
			common := listing.Common{TenantID: shop.ID, Text: typed}
			leads, err := listing.SearchLeads(t.Context(), env.Store, listing.LeadSearch{Common: common}, listing.Paging{Limit: 9})
			if err != nil {
				t.Fatal(err)
			}
			sessions, err := listing.SearchSessions(t.Context(), env.Store, listing.SessionSearch{Common: common}, listing.Paging{Limit: 9})
			if err != nil {
				t.Fatal(err)
			}
			var found, bought []string
			for _, lead := range leads.Rows {
				found = append(found, lead.FirstName+" "+lead.LastName)
			}
			for _, session := range sessions.Rows {
				bought = append(bought, session.Lead.FirstName+" "+session.Lead.LastName)
			}
			if !slices.Equal(found, want) || !slices.Equal(bought, want) {
				t.Errorf("%q: found %q and sessions of %q, want %q", typed, found, bought, want)
			}
		}
	})
}

// TestFullNamesAreReadAlongSurnames: namesakes are few, and the newest come first without being sorted. A text of many
// words is not as many statements.
func TestFullNamesAreReadAlongSurnames(t *testing.T) {
	t.Parallel()
	env := storetest.SQLite(t)
	page := listing.Paging{Limit: 51}
	ways := func(typed string) []listing.Statement {
		return listing.LeadSearch{Common: listing.Common{Text: typed}}.Ways(page)
	}
	seen := 0
	for _, way := range ways("Ana Byron") {
		if !strings.Contains(way.Text, "first_name ||") {
			continue
		}
		seen++
		plan := env.Explain(t, way.Text, append([]any{env.Tenant(t).ID.String()}, way.Args...))
		if !strings.Contains(plan, "leads_last_name_idx") || strings.Contains(plan, "TEMP B-TREE") {
			t.Errorf("%s\nhas the plan\n%s", way.Text, plan)
		}
	}
	if seen == 0 {
		t.Error("no way reads full names")
	}
	if few, many := len(ways(strings.Repeat("a ", 12))), len(ways(strings.Repeat("a ", 400))); few != many {
		t.Errorf("%d ways for twelve words, %d for 400", few, many)
	}
}
