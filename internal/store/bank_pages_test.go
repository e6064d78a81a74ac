package store_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// TestALongFileIsReadInPieces: each begins after the last of the one before, and is of the file or the block alone.
func TestALongFileIsReadInPieces(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		of := []payment.Transaction{awaitingFile(t, env, shop), awaitingFile(t, env, shop), awaitingFile(t, env, shop)}
		file := fileWith(t, env, store.BankFileSent, of...)
		fileWith(t, env, store.BankFileSent, awaitingFile(t, env, shop), awaitingFile(t, env, shop), awaitingFile(t, env, shop))
		scope, block := env.Store.Tenant(shop.ID), file.MessageID+"-1"
		positions := func(rows []store.BankFileEntry, err error) ([]int, error) {
			var all []int
			for _, row := range rows {
				all = append(all, row.Position)
			}
			return all, err
		}
		for name, read := range map[string]func(after, limit int) ([]int, error){
			"file": func(after, limit int) ([]int, error) {
				return positions(scope.BankFileEntries(t.Context(), file.ID, after, limit))
			},
			"block": func(after, limit int) ([]int, error) {
				return positions(scope.BankBlockEntries(t.Context(), shop.Gateway.ID, block, after, limit))
			},
			"collected": func(after, limit int) (all []int, err error) {
				rows, err := scope.Collected(t.Context(), block, after, limit)
				for _, row := range rows {
					all = append(all, row.Position)
				}
				return all, err
			},
		} {
			for _, c := range []struct {
				after, limit int
				want         []int
			}{{0, 2, []int{1, 2}}, {2, 2, []int{3}}, {3, 2, nil}} {
				if got, err := read(c.after, c.limit); err != nil || !slices.Equal(got, c.want) {
					t.Errorf("the %s has %v after %d, want %v: %v", name, got, c.after, c.want, err)
				}
			}
		}
		if rows, err := scope.BankBlockEntries(t.Context(), env.Gateway(t, shop.ID).ID, block, 0, 10); err != nil || len(rows) != 0 {
			t.Errorf("the block is %d payments of another account: %v", len(rows), err)
		}
	})
}

// TestAFileTakesWhatIsDueByItsDay, was taken in by an instant, and comes after what it has.
func TestAFileTakesWhatIsDueByItsDay(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		first, second, undated := awaitingFile(t, env, shop), awaitingFile(t, env, shop), awaitingFile(t, env, shop)
		awaitingFile(t, env, another(t, env, shop))
		for day, of := range map[string]payment.Transaction{"2026-04-02": first, "2026-04-03": second} {
			env.Exec(t, `UPDATE transactions SET due_date = $1 WHERE id = $2`, day, of.ID.String())
		}
		taken := first.ProcessedAt
		day := func(text string) payment.Date {
			d, err := payment.ParseDate(text)
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		for what, c := range map[string]struct {
			until store.CollectibleUntil
			after uuid.UUID
			limit int
			want  []uuid.UUID
		}{
			"whatever its day is":       {store.CollectibleUntil{TakenAt: taken}, uuid.Nil, 10, []uuid.UUID{first.ID, second.ID, undated.ID}},
			"what is due by the first":  {store.CollectibleUntil{TakenAt: taken, DueDate: day("2026-04-02")}, uuid.Nil, 10, []uuid.UUID{first.ID, undated.ID}},
			"what is due before it":     {store.CollectibleUntil{TakenAt: taken, DueDate: day("2026-04-01")}, uuid.Nil, 10, []uuid.UUID{undated.ID}},
			"what was taken in before":  {store.CollectibleUntil{TakenAt: taken.Add(-time.Microsecond)}, uuid.Nil, 10, nil},
			"what comes after":          {store.CollectibleUntil{TakenAt: taken}, first.ID, 1, []uuid.UUID{second.ID}},
			"what is another kind's":    {store.CollectibleUntil{TakenAt: taken}, undated.ID, 10, nil},
			"what is due by the second": {store.CollectibleUntil{TakenAt: taken, DueDate: day("2026-04-03")}, first.ID, 10, []uuid.UUID{second.ID, undated.ID}},
		} {
			rows, err := env.Store.Tenant(shop.ID).Collectibles(t.Context(), shop.Gateway.ID, store.BankDebits, c.until, c.after, c.limit)
			var got []uuid.UUID
			for _, row := range rows {
				got = append(got, row.TransactionID)
			}
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("%s is %v, want %v: %v", what, got, c.want, err)
			}
		}
	})
}

// TestALineAgreesInEverythingOrDiffers: a file's line and our record of the same name, in amount, currency, status and
// which way the money went.
func TestALineAgreesInEverythingOrDiffers(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop, foreign := env.Shop(t), env.Shop(t)
		known := payment.Transaction{
			TenantID: shop.ID, GatewayID: shop.Gateway.ID, Status: payment.TransactionApproved, Type: payment.Sale, AmountMinor: 100, Currency: "EUR",
			Source: payment.SourceImport, ProcessedAt: env.Now, CreatedAt: env.Now, UpdatedAt: env.Now,
		}
		match := store.Match{TenantID: shop.ID, ImportID: payment.NewID(), GatewayID: shop.Gateway.ID, From: env.Now, To: env.Now.Add(time.Hour)}
		var records []payment.Transaction
		var lines []store.Compared
		for i, change := range []func(*store.Compared){
			func(*store.Compared) {}, func(c *store.Compared) { c.AmountMinor++ }, func(c *store.Compared) { c.Currency = "SEK" },
			func(c *store.Compared) { c.Status = payment.TransactionDeclined }, func(c *store.Compared) { c.Type = payment.Refund },
			func(c *store.Compared) { c.Type = payment.Rebill },
		} {
			record := known
			record.ID, record.MerchantTransactionID = payment.NewID(), "TXN-"+string(rune('A'+i))
			theirs := record
			theirs.ID, theirs.TenantID, theirs.GatewayID, theirs.AmountMinor = payment.NewID(), foreign.ID, foreign.Gateway.ID, 7
			records = append(records, record, theirs)
			line := store.Compared{
				Line: i + 2, MerchantTransactionID: record.MerchantTransactionID, Status: record.Status, Type: record.Type, AmountMinor: 100, Currency: "EUR", ProcessedAt: env.Now,
			}
			change(&line)
			lines = append(lines, line)
		}
		env.InsertTransactions(t, records)
		env.Write(t, func(tx *store.Tx) error { return tx.AddCompared(match, lines) })
		var differ []int
		err := match.Mismatches(t.Context(), env.Store, func(m store.Mismatch) {
			if m.File == nil || m.Known == nil {
				t.Errorf("one has no other side: %+v", m)
				return
			}
			differ = append(differ, m.File.Line)
			if of := records[2*(m.File.Line-2)]; m.Known.ID != of.ID || m.Known.TenantID != shop.ID || m.Known.GatewayID != shop.Gateway.ID || m.Known.AmountMinor != 100 {
				t.Errorf("line %d is held against %s of %s", m.File.Line, m.Known.ID, m.Known.GatewayID)
			}
		})
		if want := []int{3, 4, 5, 6}; err != nil || !slices.Equal(differ, want) {
			t.Errorf("the lines %v differ, want %v: %v", differ, want, err)
		}
	})
}

// TestAFileIsHeldAgainstWhatTheBankSaysOfIt, as a whole or of its payments, and not against what it says of another.
func TestAFileIsHeldAgainstWhatTheBankSaysOfIt(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		one, other := awaitingFile(t, env, shop), awaitingFile(t, env, shop)
		file, beside := fileWith(t, env, store.BankFileSent, one), fileWith(t, env, store.BankFileSent, other)
		statement := store.BankStatement{ID: payment.NewID(), TenantID: shop.ID, GatewayID: shop.Gateway.ID, Name: "a", ContentHash: "a", State: store.BankStatementReading}
		line := func(position int, kind, reference string, of *uuid.UUID, result store.BankLineResult) store.BankLine {
			return store.BankLine{Position: position, Source: "camt.053", Kind: kind, AmountMinor: 5, ChargesMinor: 1, Reference: reference, TransactionID: of, Result: result}
		}
		env.Write(t, func(tx *store.Tx) error {
			tx.PutBankStatement(statement)
			tx.AddBankLines(statement, []store.BankLine{
				line(1, "batch", file.MessageID, nil, store.LineKnown), line(2, "block", file.MessageID+"-1", nil, store.LineKnown),
				line(3, "returned", "", &one.ID, store.LineReturned), line(4, "returned", "", &one.ID, store.LineReturned), line(5, "ignored", "", &one.ID, store.LineIgnored),
				line(6, "batch", beside.MessageID, nil, store.LineKnown), line(7, "returned", "", &other.ID, store.LineReturned),
			})
			return nil
		})
		got, err := env.Store.Tenant(shop.ID).BankMatches(t.Context(), file.ID)
		want := []store.BankMatch{
			{Kind: "pending", Count: 1, SumMinor: one.AmountMinor},
			{Source: "camt.053", Kind: "batch", Count: 1, SumMinor: 5, ChargesMinor: 1},
			{Source: "camt.053", Kind: "block", Count: 1, SumMinor: 5, ChargesMinor: 1},
			{Source: "camt.053", Kind: "returned", Count: 1, SumMinor: 5, ChargesMinor: 1},
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("got %+v, want %+v: %v", got, want, err)
		}
	})
}
