package store_test

import (
	"context"
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// awaitingFile makes a payment that waits for a file.
func awaitingFile(t *testing.T, env *storetest.Env, shop storetest.Shop, change ...func(*storetest.Draft)) payment.Transaction {
	t.Helper()
	claimed := env.Attempt(t, env.Session(t, shop, change...))
	return env.Settle(t, claimed, payment.Outcome{Verdict: payment.VerdictPending, SettlesAt: storetest.Start.Add(time.Hour)}).Transaction
}

func bankFile(of payment.Transaction) store.BankFile {
	return store.BankFile{
		ID: payment.NewID(), TenantID: of.TenantID, GatewayID: of.GatewayID, Kind: store.BankDebits, MessageID: "SD-" + of.ID.String()[:13],
		Name: "one.xml", Format: "pain.008.001.08", State: store.BankFileOpen,
	}
}

// take takes payments into a new file, as the unit of work that a batch is.
func take(file store.BankFile, of ...payment.Transaction) (store.BankFile, func(*store.Tx) error) {
	full := file
	var entries []store.BankFileEntry
	for i, t := range of {
		full.Count, full.SumMinor, full.DueDate = full.Count+1, full.SumMinor+t.AmountMinor, "2026-11-18"
		entries = append(entries, store.BankFileEntry{
			TransactionID: t.ID, Position: i + 1, BlockID: file.MessageID + "-1", DueDate: full.DueDate, SequenceType: "RCUR",
			AmountMinor: t.AmountMinor, EndToEndID: t.MerchantTransactionID, MandateReference: t.MandateReference, MaskedIBAN: t.MaskedIBAN,
		})
	}
	return full, func(tx *store.Tx) error {
		tx.AddBankFile(file)
		return tx.TakeIntoBankFile(file, full, entries, map[string]time.Time{full.DueDate: storetest.Start.Add(72 * time.Hour)})
	}
}

func TestACollectionIsTakenOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		one, two, held := awaitingFile(t, env, shop), awaitingFile(t, env, shop), awaitingFile(t, env, shop)
		file, taking := take(bankFile(one), one)
		env.Write(t, taking)

		t.Run("a second file is not opened beside it", func(t *testing.T) {
			_, beside := take(bankFile(two), two)
			if err := env.TryWrite(t, beside); !store.TakenByAnother(err) {
				t.Errorf("gave %v", err)
			}
		})
		closed := file
		closed.State = store.BankFileClosed
		env.Write(t, func(tx *store.Tx) error { tx.ChangeBankFile(file, closed); return nil })

		t.Run("what is in a file is not taken into another, and nothing of that one is kept", func(t *testing.T) {
			_, again := take(bankFile(two), two, one)
			if err := env.TryWrite(t, again); !store.TakenByAnother(err) {
				t.Errorf("gave %v", err)
			}
			waiting, err := env.Store.Tenant(shop.ID).Collectibles(t.Context(), one.GatewayID, store.BankDebits, store.CollectibleUntil{TakenAt: storetest.Start.Add(time.Hour)}, uuid.Nil, 10)
			if err != nil || len(waiting) != 2 {
				t.Errorf("%d wait, %v", len(waiting), err)
			}
		})
		t.Run("what is held back is not taken", func(t *testing.T) {
			env.Write(t, func(tx *store.Tx) error { tx.HoldCollection(shop.ID, held.ID); return nil })
			_, taking := take(bankFile(held), held)
			if err := env.TryWrite(t, taking); !errors.Is(err, store.ErrStale) {
				t.Errorf("gave %v", err)
			}
		})
		t.Run("what is in a file is not held back", func(t *testing.T) {
			err := env.TryWrite(t, func(tx *store.Tx) error { tx.HoldCollection(shop.ID, one.ID); return nil })
			if !errors.Is(err, store.ErrStale) {
				t.Errorf("gave %v", err)
			}
		})
		t.Run("an answer that knows nothing of the file does not take it out again", func(t *testing.T) {
			known := env.Debit(t, one)
			known.Transaction.GatewayReference = ""
			late := env.Decide(t, known, payment.Outcome{Verdict: payment.VerdictPending, SettlesAt: storetest.Start.Add(2 * time.Hour)})
			if err := env.Apply(t, late); !errors.Is(err, store.ErrStale) {
				t.Errorf("gave %v", err)
			}
		})
		t.Run("once one draft holds there is no place for another", func(t *testing.T) {
			written := closed
			written.State, written.Draft = store.BankFileWritten, "first"
			env.Write(t, func(tx *store.Tx) error {
				tx.AddBankPart(written, 1, "sealed")
				tx.ChangeBankFile(closed, written)
				tx.KeepBankDraft(written)
				return nil
			})
			late := written
			late.Draft = "second"
			err := env.TryWrite(t, func(tx *store.Tx) error { tx.AddBankPart(late, 1, "sealed"); return nil })
			if !errors.Is(err, store.ErrStale) {
				t.Errorf("gave %v", err)
			}
			if files, err := env.Store.Tenant(shop.ID).UnfinishedBankFiles(t.Context(), one.GatewayID); err != nil || len(files) != 0 {
				t.Errorf("%d files are still to be made: %v", len(files), err)
			}
		})
	})
}

// TestOnlyAClosedFileWithNothingInItIsDropped: one that is open may be filled by somebody else at this moment, and the
// bank will answer to one that has left.
func TestOnlyAClosedFileWithNothingInItIsDropped(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		file := bankFile(awaitingFile(t, env, env.Shop(t)))
		env.Write(t, func(tx *store.Tx) error { tx.AddBankFile(file); return nil })
		for _, c := range []struct {
			state   store.BankFileState
			entries int
			want    error
		}{
			{store.BankFileOpen, 0, store.ErrStale},
			{store.BankFileWritten, 0, store.ErrStale},
			{store.BankFileSent, 0, store.ErrStale},
			{store.BankFileClosed, 1, store.ErrStale},
			{store.BankFileClosed, 0, nil},
		} {
			env.Exec(t, `UPDATE bank_files SET state = $1, entry_count = $2`, string(c.state), c.entries)
			err := env.TryWrite(t, func(tx *store.Tx) error { tx.DropBankFile(file); return nil })
			if isThere := env.Count(t, "bank_files") == 1; !errors.Is(err, c.want) || isThere != (c.want != nil) {
				t.Errorf("a file that is %s with %d payments: %v, and it is there: %v", c.state, c.entries, err, isThere)
			}
		}
	})
}

func TestTheBytesOfAnAnswerAreItsOwn(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		answer := func(name string) store.BankStatement {
			return store.BankStatement{
				ID: payment.NewID(), TenantID: shop.ID, GatewayID: shop.Gateway.ID, Name: name, ContentHash: name, State: store.BankStatementReading,
			}
		}
		one, two := answer("one"), answer("two")
		for _, of := range []store.BankStatement{one, two} {
			env.Write(t, func(tx *store.Tx) error {
				tx.PutBankStatement(of)
				tx.AddBankStatementPart(of, 1, "first of "+of.Name)
				tx.AddBankStatementPart(of, 2, "second of "+of.Name)
				return nil
			})
		}
		for since, want := range map[time.Time]int{env.Now: 2, env.Now.Add(time.Microsecond): 0} {
			if all, err := env.Store.Tenant(shop.ID).BankStatementsSince(t.Context(), shop.Gateway.ID, since, uuid.Nil, 10); err != nil || len(all) != want {
				t.Errorf("%d answers since %s, want %d: %v", len(all), since, want, err)
			}
		}
		for _, of := range []store.BankStatement{one, two} {
			for number, want := range map[int]string{1: "first of " + of.Name, 2: "second of " + of.Name, 3: ""} {
				if sealed, err := env.Store.Tenant(shop.ID).BankStatementPart(t.Context(), of, number); err != nil || sealed != want {
					t.Errorf("part %d of %s is %q, want %q: %v", number, of.Name, sealed, want, err)
				}
			}
		}
	})
}

// adoptedReads are those about what has left after a backup: a payment of the same day as a rebill that waits.
func adoptedReads(t *testing.T, env *storetest.Env, shop storetest.Shop, carrier store.BankFile) map[string]func(context.Context, store.Tenant) int {
	t.Helper()
	rebill := awaitingFile(t, env, shop, storetest.WithTerms(storetest.Monthly))
	env.Exec(t, `UPDATE transactions SET type = 'sdd_rebill', billing_period = 1, merchant_transaction_id = 'TXN-20260101-' || $2 WHERE id = $1`,
		rebill.ID.String(), rebill.ID.String()[28:])
	paid := awaitingFile(t, env, shop)
	paid.MerchantTransactionID = "TXN-20260101-PAID"
	env.Exec(t, `UPDATE transactions SET status = 'approved', settle_due_at = NULL, merchant_transaction_id = $2 WHERE id = $1`, paid.ID.String(), paid.MerchantTransactionID)
	return map[string]func(context.Context, store.Tenant) int{
		"AdoptedRefunds": func(ctx context.Context, scope store.Tenant) int {
			refunds, err := scope.AdoptedRefunds(ctx, paid)
			return some(len(refunds), err)
		},
		"LostRefunds": func(ctx context.Context, scope store.Tenant) int {
			refunds, err := scope.LostRefunds(ctx, paid.GatewayID)
			return some(len(refunds), err)
		},
		"PaymentsBesideLostRefunds": func(ctx context.Context, scope store.Tenant) int {
			payments, err := scope.PaymentsBesideLostRefunds(ctx, paid.GatewayID)
			return some(len(payments), err)
		},
		"CountAdopted": func(ctx context.Context, scope store.Tenant) int {
			count, err := scope.CountAdopted(ctx, rebill.GatewayID)
			return some(count, err)
		},
		"LastBilledPeriod": func(ctx context.Context, scope store.Tenant) int {
			last, err := scope.LastBilledPeriod(ctx, payment.Subscription{ID: *rebill.SubscriptionID, OrderID: *rebill.OrderID})
			return found(last == 1, err)
		},
		"LostOfBlock": func(ctx context.Context, scope store.Tenant) int {
			sum, err := scope.LostOfBlock(ctx, rebill.GatewayID, "SD-BLOCK")
			return some(int(sum), err)
		},
		"LostOfFile": func(ctx context.Context, scope store.Tenant) int {
			sum, err := scope.LostOfFile(ctx, rebill.GatewayID, carrier.MessageID)
			return some(int(sum), err)
		},
		"HasAssigned": func(ctx context.Context, scope store.Tenant) int {
			has, err := scope.HasAssigned(ctx, rebill.GatewayID)
			return found(has, err)
		},
		"BankResumedFrom": func(ctx context.Context, scope store.Tenant) int {
			at, err := scope.BankResumedFrom(ctx, rebill.GatewayID)
			return found(!at.IsZero(), err)
		},
		"LostDebits": func(ctx context.Context, scope store.Tenant) int {
			names, err := scope.LostDebits(ctx, rebill.GatewayID)
			return some(len(names), err)
		},
		"RebillsBesideAdopted": func(ctx context.Context, scope store.Tenant) int {
			rows, err := scope.RebillsBesideAdopted(ctx, rebill.GatewayID)
			return some(len(rows), err)
		},
	}
}

// toldReads are those about lines by which a payment's money came and went back.
func toldReads(t *testing.T, env *storetest.Env, statement store.BankStatement, takenBack uuid.UUID) map[string]func(context.Context, store.Tenant) int {
	t.Helper()
	line := store.BankLine{Position: 2, Source: "camt.053", Kind: "returned", Result: store.LineReturned, TransactionID: &takenBack}
	came := line
	came.Position, came.Kind, came.Result, came.BookingDate = 3, "collected", store.LineSettled, "2026-01-02"
	env.Write(t, func(tx *store.Tx) error {
		tx.AddBankLines(statement, []store.BankLine{line, came})
		return nil
	})
	line.BookingDate = "2026-01-05"
	return map[string]func(context.Context, store.Tenant) int{
		"ToldOnAnotherDay": func(ctx context.Context, scope store.Tenant) int {
			ids, err := scope.ToldOnAnotherDay(ctx, line, uuid.Nil, []uuid.UUID{takenBack})
			return some(len(ids), err)
		},
		"BookedOn": func(ctx context.Context, scope store.Tenant) int {
			days, err := scope.BookedOn(ctx, []uuid.UUID{takenBack})
			return some(len(days), err)
		},
	}
}

// bankReads are those about files for banks and their answers.
func bankReads(t *testing.T, env *storetest.Env, shop storetest.Shop) map[string]func(context.Context, store.Tenant) int {
	t.Helper()
	one, waiting, held := awaitingFile(t, env, shop), awaitingFile(t, env, shop), awaitingFile(t, env, shop)
	file, taking := take(bankFile(one), one)
	env.Write(t, taking)
	closed := file
	closed.State, closed.Draft = store.BankFileClosed, "draft"
	statement := store.BankStatement{
		ID: payment.NewID(), TenantID: shop.ID, GatewayID: one.GatewayID, Name: "answer.xml", ContentHash: "hash", State: store.BankStatementReading,
	}
	env.Write(t, func(tx *store.Tx) error {
		tx.HoldCollection(shop.ID, held.ID)
		tx.ChangeBankFile(file, closed)
		tx.AddBankPart(closed, 1, "sealed")
		tx.PutBankStatement(statement)
		tx.AddBankStatementPart(statement, 1, "sealed")
		tx.AddAdopted(closed, []store.Adopted{{EndToEndID: one.MerchantTransactionID, Position: 6}, {EndToEndID: "TXN-20260101-LOST", Position: 7, BlockID: "SD-BLOCK", AmountMinor: 1}, {EndToEndID: "TXN-20260101-GONE", Position: 8, SequenceType: "RCUR", DueDate: "2026-01-02"}})
		tx.AddBankLines(statement, []store.BankLine{{Position: 1, Source: "camt.053", Kind: "returned", Result: store.LineUnmatched}})
		tx.ResumeBank(shop.ID, one.GatewayID, storetest.Start)
		return nil
	})
	env.Exec(t, `UPDATE transactions SET due_date = '2000-01-01' WHERE id = $1`, one.ID.String())
	stranded, takenBack := awaitingFile(t, env, shop), awaitingFile(t, env, shop)
	env.Exec(t, `UPDATE transactions SET type = 'sdd_refund', refund_of = $1 WHERE id = $2`, takenBack.ID.String(), stranded.ID.String())
	env.Exec(t, `UPDATE transactions SET status = 'charged_back', settle_due_at = NULL WHERE id = $1`, takenBack.ID.String())
	reads := statementReads(env, shop, statement)
	maps.Copy(reads, toldReads(t, env, statement, takenBack.ID))
	maps.Copy(reads, entryReads(one, file))
	maps.Copy(reads, adoptedReads(t, env, shop, closed))
	maps.Copy(reads, map[string]func(context.Context, store.Tenant) int{
		"UnfinishedBankFiles": func(ctx context.Context, scope store.Tenant) int {
			rows, err := scope.UnfinishedBankFiles(ctx, one.GatewayID)
			return some(len(rows), err)
		},
		"BankStatementPart": func(ctx context.Context, scope store.Tenant) int {
			sealed, err := scope.BankStatementPart(ctx, statement, 1)
			return found(sealed != "", err)
		},
		"BankPart": func(ctx context.Context, scope store.Tenant) int {
			sealed, err := scope.BankPart(ctx, closed, 1)
			return found(sealed != "", err)
		},
		"Redated": func(ctx context.Context, scope store.Tenant) int {
			days, err := scope.Redated(ctx, file.ID, 10)
			return some(len(days), err)
		},
		"DebitsByID": func(ctx context.Context, scope store.Tenant) int {
			debits, err := scope.DebitsByID(ctx, []uuid.UUID{one.ID})
			return some(len(debits), err)
		},
		"StrandedRefunds": func(ctx context.Context, scope store.Tenant) int {
			ids, err := scope.StrandedRefunds(ctx, one.GatewayID, 10)
			return some(len(ids), err)
		},
		"HeldCollections": func(ctx context.Context, scope store.Tenant) int {
			rows, err := scope.HeldCollections(ctx, held.GatewayID)
			return some(len(rows), err)
		},
		"Collectibles": func(ctx context.Context, scope store.Tenant) int {
			rows, err := scope.Collectibles(ctx, waiting.GatewayID, store.BankDebits, store.CollectibleUntil{TakenAt: storetest.Start.Add(time.Hour)}, uuid.Nil, 10)
			return some(len(rows), err)
		},
	})
	return reads
}

func some(count int, err error) int { return found(count > 0, err) }

// entryReads are those about a file that holds one payment.
func entryReads(one payment.Transaction, file store.BankFile) map[string]func(context.Context, store.Tenant) int {
	block := file.MessageID + "-1"
	return map[string]func(context.Context, store.Tenant) int{
		"BankBlockEntries": func(ctx context.Context, scope store.Tenant) int {
			rows, err := scope.BankBlockEntries(ctx, one.GatewayID, block, 0, 10)
			return some(len(rows), err)
		},
		"BankBlocks": func(ctx context.Context, scope store.Tenant) int {
			rows, err := scope.BankBlocks(ctx, file.ID)
			return some(len(rows), err)
		},
		"BankEntriesByAmount": func(ctx context.Context, scope store.Tenant) int {
			rows, err := scope.BankEntriesByAmount(ctx, one.GatewayID, one.AmountMinor, one.MaskedIBAN, "2026-01-01", "2027-01-01")
			return some(len(rows), err)
		},
		"BankEntriesByID": func(ctx context.Context, scope store.Tenant) int {
			rows, err := scope.BankEntriesByID(ctx, one.GatewayID, []string{one.MerchantTransactionID})
			return some(len(rows), err)
		},
		"BankEntriesByMandate": func(ctx context.Context, scope store.Tenant) int {
			rows, err := scope.BankEntriesByMandate(ctx, one.GatewayID, []string{one.MandateReference})
			return some(len(rows), err)
		},
		"BankEntry": func(ctx context.Context, scope store.Tenant) int {
			_, err := scope.BankEntry(ctx, one.ID)
			return found(true, err)
		},
		"BankFile": func(ctx context.Context, scope store.Tenant) int {
			_, err := scope.BankFile(ctx, file.ID)
			return found(true, err)
		},
		"BankFileByMessage": func(ctx context.Context, scope store.Tenant) int {
			_, err := scope.BankFileByMessage(ctx, one.GatewayID, file.MessageID)
			return found(true, err)
		},
		"BankFileEntries": func(ctx context.Context, scope store.Tenant) int {
			rows, err := scope.BankFileEntries(ctx, file.ID, 0, 10)
			return some(len(rows), err)
		},
		"BankMatches": func(ctx context.Context, scope store.Tenant) int {
			sums, err := scope.BankMatches(ctx, file.ID)
			return some(len(sums), err)
		},
		"Collected": func(ctx context.Context, scope store.Tenant) int {
			rows, err := scope.Collected(ctx, block, 0, 10)
			return some(len(rows), err)
		},
		"LostDebitDays": func(ctx context.Context, scope store.Tenant) int {
			days, err := scope.LostDebitDays(ctx, one.GatewayID, 0, "", "9999-12-31")
			return some(len(days), err)
		},
		"Presented": func(ctx context.Context, scope store.Tenant) int {
			rows, err := scope.Presented(ctx, []uuid.UUID{one.ID})
			return some(len(rows), err)
		},
		"SealedIBAN": func(ctx context.Context, scope store.Tenant) int {
			_, err := scope.SealedIBAN(ctx, one.ID)
			return found(true, err)
		},
	}
}

// statementReads are those about a statement with one open line.
func statementReads(env *storetest.Env, shop storetest.Shop, statement store.BankStatement) map[string]func(context.Context, store.Tenant) int {
	return map[string]func(context.Context, store.Tenant) int{
		"BankLine": func(ctx context.Context, scope store.Tenant) int {
			open, err := env.Store.Tenant(shop.ID).OpenBankLines(ctx, statement.GatewayID, uuid.Nil, 1)
			if err == nil {
				_, err = scope.BankLine(ctx, open[0].ID)
			}
			return found(true, err)
		},
		"BankLines": func(ctx context.Context, scope store.Tenant) int {
			rows, err := scope.BankLines(ctx, statement.ID, 0, 10)
			return some(len(rows), err)
		},
		"OpenBankLines": func(ctx context.Context, scope store.Tenant) int {
			rows, err := scope.OpenBankLines(ctx, statement.GatewayID, uuid.Nil, 10)
			return some(len(rows), err)
		},
		"BankStatementsSince": func(ctx context.Context, scope store.Tenant) int {
			rows, err := scope.BankStatementsSince(ctx, statement.GatewayID, time.Unix(0, 0), uuid.Nil, 10)
			return some(len(rows), err)
		},
		"BankStatement": func(ctx context.Context, scope store.Tenant) int {
			_, err := scope.BankStatement(ctx, statement.ID)
			return found(true, err)
		},
		"BankStatementByHash": func(ctx context.Context, scope store.Tenant) int {
			_, err := scope.BankStatementByHash(ctx, statement.GatewayID, "hash")
			return found(true, err)
		},
	}
}

// TestWhichLinesArePeoplesWork: those that nothing is known for, and those that say another thing than what is known.
func TestWhichLinesArePeoplesWork(t *testing.T) {
	t.Parallel()
	for result, isOpen := range map[store.BankLineResult]bool{
		store.LineSettled: false, store.LineRejected: false, store.LineReturned: false, store.LineKnown: false, store.LineIgnored: false,
		store.LineAssigned: false, store.LineUnmatched: true, store.LineContradicts: true,
	} {
		if got := (store.BankLine{Result: result}).IsOpen(); got != isOpen {
			t.Errorf("a line that is %s is open: %t", result, got)
		}
	}
}
