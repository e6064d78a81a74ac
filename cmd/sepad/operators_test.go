package main

import (
	"database/sql"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"sepad/internal/clock"
)

// TestPeopleByCommand adds, changes and removes somebody beside a running server, and
// proves the trail of it.
func TestPeopleByCommand(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := startDev(t, folder, nil)
	me := func(token string) (int, string) { return s.call(http.MethodGet, "/admin/v1/me/", token, "") }

	var added struct{ ID, Email, Role, Link string }
	decode(t, mustSepad(t, folder, "operators", "add", "ada@counter.example", "--role", "viewer", "--json"), &added)
	if added.Role != "viewer" || !strings.Contains(added.Link, "/dashboard/welcome/?ticket=") {
		t.Errorf("added: %+v", added)
	}
	token := strings.TrimSpace(mustSepad(t, folder, "operators", "token", "ada@counter.example", "--name", "nightly"))
	if status, body := me(token); status != http.StatusOK || !strings.Contains(body, `"actor":"token:nightly"`) || !strings.Contains(body, `"role":"viewer"`) {
		t.Errorf("%d %s", status, body)
	}
	if status, _ := s.call(http.MethodPost, "/admin/v1/operators/", token, `{}`); status != http.StatusForbidden {
		t.Errorf("a viewer adds people: %d", status)
	}
	var tokens []struct{ ID, Name string }
	second := strings.TrimSpace(mustSepad(t, folder, "operators", "token", "ada@counter.example", "--name", "second"))
	want(t, mustSepad(t, folder, "operators", "tokens", "ada@counter.example"), "LAST USED", "nightly", "second", "never")
	decode(t, mustSepad(t, folder, "operators", "tokens", "ada@counter.example", "--json"), &tokens)
	for _, known := range tokens {
		if known.Name == "second" {
			want(t, mustSepad(t, folder, "operators", "revoke-token", "ada@counter.example", known.ID), known.ID)
			expectOneLine(t, sepad(t, folder, "operators", "revoke-token", "ada@counter.example", known.ID), exitFailed, "Token not found")
		}
	}
	if status, _ := me(second); status != http.StatusUnauthorized || len(tokens) != 2 {
		t.Errorf("of %d tokens the one that was revoked is answered %d", len(tokens), status)
	}
	mustSepad(t, folder, "operators", "role", "ada@counter.example", "finance", "--tenant", "Demo Shop")
	if _, body := me(token); !strings.Contains(body, `"role":"finance"`) || !strings.Contains(body, `"all_tenants":false`) {
		t.Errorf("another role does not hold: %s", body)
	}
	want(t, mustSepad(t, folder, "operators", "list"), "ada@counter.example", "finance", "invited")
	want(t, mustSepad(t, folder, "operators", "reset", "ada@counter.example"), "/dashboard/welcome/?ticket=")
	if status, _ := me(token); status != http.StatusUnauthorized {
		t.Errorf("after a reset the token is answered %d", status)
	}
	mustSepad(t, folder, "operators", "remove", "ada@counter.example")
	expectOneLine(t, sepad(t, folder, "operators", "reset", "ada@counter.example"), exitFailed, "nobody has the address")
	expectOneLine(t, sepad(t, folder, "operators", "add", "nobody", "--role", "viewer"), exitFailed, "is not an email address")

	var proof struct {
		Entries int
		Hash    string
	}
	decode(t, mustSepad(t, folder, "audit", "verify", "--json"), &proof)
	if _, body := s.call(http.MethodGet, "/admin/v1/audit/?action=operator.remove", adminToken(s), ""); proof.Entries < 5 || !strings.Contains(body, proof.Hash) || !strings.Contains(body, `"actor":"cli:`) {
		t.Errorf("%d entries up to %s: %s", proof.Entries, proof.Hash, body)
	}
	mustSepad(t, folder, "audit", "verify", "--expect", proof.Hash)
	expectOneLine(t, sepad(t, folder, "audit", "verify", "--expect", "0a1b"), exitFailed, "the audit trail has no entry with the hash 0a1b any more: ")
	db, err := sql.Open("sqlite", filepath.Join(folder, ".sepad", "sepad.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), `PRAGMA busy_timeout = 10000; UPDATE audit_entries SET actor = 'root' WHERE place = 3`); err != nil {
		t.Fatal(err)
	}
	expectOneLine(t, sepad(t, folder, "audit", "verify"), exitFailed, "the audit trail is broken at place 3, entry ")
}

// TestCommandsOnTheWholeAreOnRecord does what concerns a whole database; the trail names
// who did it.
func TestCommandsOnTheWholeAreOnRecord(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	mustSepad(t, folder, "migrate")
	for _, c := range []struct{ args, action string }{
		{"restore --mark 2026-03-31T12:00:00Z", "database.restore"},
		{"restore --release", "database.release"},
		{"keys rotate-encryption", "database.seal_anew"},
		{"migrate --finish", "database.finish_upgrade"},
	} {
		mustSepad(t, folder, strings.Fields(c.args)...)
		want(t, mustSepad(t, folder, "admin", "GET", "audit/", "action="+c.action), `"actor":"cli:`, `"object_type":"database"`)
	}
}

// TestNoDatabaseIsOfATimeToCome names one as whoever writes the time of the own zone with the sign of another does.
func TestNoDatabaseIsOfATimeToCome(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	mustSepad(t, folder, "migrate")
	soon := clock.Real{}.Now().Add(time.Hour)
	expectOneLine(t, sepad(t, folder, "restore", "--mark", soon.Format(time.RFC3339)), exitFailed, "this time is still to come")
	mustSepad(t, folder, "restore", "--mark", soon.Add(-2*time.Hour).In(time.FixedZone("", 7200)).Format(time.RFC3339))
}

// TestTheDashboardOfADeveloper follows the link that sepad dev prints.
func TestTheDashboardOfADeveloper(t *testing.T) {
	t.Parallel()
	s := startDev(t, t.TempDir(), nil)
	link := firstMatch(s.welcome, `Dashboard +(\S+)`)
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for _, wanted := range []int{http.StatusSeeOther, http.StatusGone} { // it opens once
		answer, err := client.Get(link)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != wanted {
			t.Errorf("the link is answered %d, want %d", answer.StatusCode, wanted)
		}
		if wanted != http.StatusSeeOther {
			continue
		}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+answer.Header.Get("Location"), nil)
		if err != nil {
			t.Fatal(err)
		}
		request.AddCookie(answer.Cookies()[0])
		if inside, err := client.Do(request); err != nil || inside.StatusCode != http.StatusOK {
			t.Errorf("it does not sign in: %v", err)
		} else {
			inside.Body.Close()
		}
	}
}
