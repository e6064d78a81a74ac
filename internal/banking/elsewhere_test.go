package banking_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sepad/internal/app/apptest"
	"sepad/internal/store"
)

// TestAFileThatLiesAtAnotherPlaceIsNotTakenForSent breaks the sending of a file off between the two steps, and gives the account another
// folder before it goes on: that the file is not there proves nothing, and silence about it is no money.
func TestAFileThatLiesAtAnotherPlaceIsNotTakenForSent(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s)
		id := b.pay(t, apptest.Approved)
		now := b.account.Terms.NextCutOff(b.Now(t))
		files, err := b.App.Banking.Collect(t.Context(), b.account, now, now)
		must(t, err)
		name := filepath.Join(b.folder, "out", files[0].Name)
		must(t, os.MkdirAll(name, 0o700)) // something is in its way
		_, err = b.App.Banking.Deliver(t.Context(), now)
		must(t, err)
		if file := b.files(t)[0]; file.State != store.BankFileSending {
			t.Fatalf("it is %s", file.State)
		}
		must(t, os.Remove(name))
		temporary, err := filepath.Glob(filepath.Join(b.folder, "out", ".*.part"))
		must(t, err)

		t.Run("whose disk is not there", func(t *testing.T) {
			must(t, os.Rename(b.folder, b.folder+".unmounted"))
			b.wantUnsent(t, now)
			must(t, os.RemoveAll(b.folder))
			must(t, os.Rename(b.folder+".unmounted", b.folder))
		})
		old := b.folder
		b = setup(t, s) // another folder
		t.Run("that the account had before", func(t *testing.T) {
			b.wantUnsent(t, now)
			b.Advance(t, 60*24*time.Hour)
			b.wantStatus(t, id, "pending")
		})
		t.Run("and is laid into the present one", func(t *testing.T) {
			must(t, os.Rename(temporary[0], filepath.Join(b.folder, "out", filepath.Base(temporary[0]))))
			_, err = b.App.Banking.Deliver(t.Context(), now)
			must(t, err)
			if file := b.files(t)[0]; file.State != store.BankFileSent || file.Problem != "" || len(b.out(t)) != 1 {
				t.Errorf("it is %s (%s), and %d files are there", file.State, file.Problem, len(b.out(t)))
			}
		})
		t.Run("and the bank has it", func(t *testing.T) {
			b.Env.Exec(t, `UPDATE bank_files SET state = 'sending', temporary_name = $1`, filepath.Base(temporary[0]))
			_, err = b.App.Banking.Deliver(t.Context(), now)
			must(t, err)
			if file := b.files(t)[0]; file.State != store.BankFileSent {
				t.Errorf("it is %s (%s)", file.State, file.Problem)
			}
		})
		if left, _ := filepath.Glob(filepath.Join(old, "out", "*")); len(left) > 0 {
			t.Errorf("%v are left", left)
		}
	})
}

// wantUnsent delivers, and wants to be told why the one file could not be.
func (b *bundle) wantUnsent(t *testing.T, now time.Time) {
	t.Helper()
	_, err := b.App.Banking.Deliver(t.Context(), now)
	must(t, err)
	if file := b.files(t)[0]; file.State != store.BankFileSending || !strings.Contains(file.Problem, "nobody knows whether the bank has fetched it") {
		t.Errorf("it is %s: %q", file.State, file.Problem)
	}
}
