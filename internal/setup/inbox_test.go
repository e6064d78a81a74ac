package setup_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/uuid"

	"sepad/internal/merchant"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// atBanks is a resource file with accounts at banks, each of a tenant of its own number.
func (b *bench) atBanks(accounts ...string) string {
	text := "tenants:\n"
	for i, account := range accounts {
		text += fmt.Sprintf("  - id: %s1%d00\n    name: Shop %d\n    gateways:\n", b.prefix, i, i)
		for j, settings := range strings.Split(account, "; ") {
			text += fmt.Sprintf("      - {id: %s1%d1%d, name: Bank %d%d, adapter: bank, test_mode: true, %s}\n", b.prefix, i, j, i, j, settings)
		}
	}
	return text
}

func at(place string) string {
	return "settings: {account_iban: DE89370400440532013000, " + place + "}"
}

// TestAnInboxIsOneAccounts: whoever reads a bank's answer takes it away. Where two accounts
// fetched their answers at one place, what one read said nothing to the other: refused
// payments were taken for collected after some days.
func TestAnInboxIsOneAccounts(t *testing.T) {
	t.Parallel()
	const server = `sftp: {host: bank.example, user: shop, private_key_file: %s, host_key: ssh-ed25519 AAAA, out: %s, in: %s}`
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		b := newBench(env)
		linked := t.TempDir()
		if err := os.Symlink(linked, linked+"-too"); err != nil {
			t.Fatal(err)
		}
		folder, here, there := "folder: /srv/"+b.prefix, fmt.Sprintf(server, "/a", "/a", "/in"), fmt.Sprintf(server, "/a", "/a", "/of-b")
		b.apply(t, b.atBanks(at(folder)+"; "+at(here)))
		for name, accounts := range map[string][]string{
			"of one tenant":            {at(folder) + "; " + at(here) + "; " + at(folder+"/")},
			"by another name":          {at("folder: " + linked), at("folder: " + linked + "-too")},
			"of another tenant":        {at(folder), at(folder)},
			"switched off":             {at(folder), "active: false, " + at(folder)},
			"of two that are new":      {at(folder), at("folder: /srv/new"), at("folder: /srv/./new")},
			"at a server":              {at(folder), at(fmt.Sprintf(server, "/b", "/b", "/in/"))},
			"that has another by then": {at(here) + "; " + at(there), at(here)},
		} {
			_, err := b.try(t, b.atBanks(accounts...))
			if wrong, ok := errors.AsType[*merchant.FileError](err); !ok || !strings.Contains(err.Error(), "answers are fetched there already") || wrong.Mistakes[0].Line == 0 {
				t.Errorf("%s: got %v", name, err)
			}
		}
		b.apply(t, b.atBanks(at(folder), at(there)))
		b.apply(t, b.atBanks(at(folder+"/elsewhere"), at(folder))) // its place is free by then
	})
}

// TestAPlaceThatWasGivenAwayIsNotTakenBack: an account that is switched off and cannot be read
// fetches nothing, and its place can be another tenant's. Who works for its tenant alone is told
// that it is taken by then, and not by whom.
func TestAPlaceThatWasGivenAwayIsNotTakenBack(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		b := newBench(env)
		folder := "folder: /srv/" + b.prefix
		away := "active: false, settings: {account_iban: none, " + folder + "}"
		b.apply(t, b.atBanks(away, at(folder)))
		bound := store.Within(t.Context(), []uuid.UUID{b.id("1000")})
		_, err := b.applier.Apply(bound, b.parse(t, b.atBanks(at(folder))), env.Now)
		if err == nil || !strings.Contains(err.Error(), "answers are fetched there already") || strings.Contains(err.Error(), "Bank 10") {
			t.Errorf("got %v", err)
		}
	})
}
