package banking

import (
	"context"
	"errors"
	"io"
	"math"
	"time"

	"github.com/google/uuid"

	"sepad/internal/banking/place"
	"sepad/internal/store"
	"sepad/internal/vault"
)

// recognizeAll gives what left after the backup its place, once all files are taken in, and what the bank has said of it since. Its
// answers were read before: by then a refund may not have been opened, as its payment was settled by the very same answers, and
// a rebill may have waited under another name. Whatever they settle now may have been refunded in its turn.
func (b *Banking) recognizeAll(ctx context.Context, account *Account, restoredTo time.Time) error {
	for isFirst := true; ; isFirst = false {
		opened, err := b.reopenRefunds(ctx, account)
		if err != nil || opened == 0 && !isFirst {
			return err
		}
		if err := b.recognizeAdopted(ctx, account); err != nil {
			return err
		}
		if err := b.readAgain(ctx, account, restoredTo); err != nil {
			return err
		}
	}
}

const (
	// answersAtATime bounds how many answers are listed at a time.
	answersAtATime = 100

	// clockSlack is how far the clock that answers were taken in by may be behind the one of the backup: a restore often comes with
	// another machine. To read an answer that the backup had already changes nothing.
	clockSlack = 24 * time.Hour
)

// readOnceMore does so for an account that goes on again. One that waits reads them all when it does.
func (b *Banking) readOnceMore(ctx context.Context, account *Account) error {
	restoredTo, err := b.RestoredTo(ctx, account)
	if err != nil || !restoredTo.IsZero() {
		return err
	}
	resumedFrom, err := b.tenant(account).BankResumedFrom(ctx, account.ID)
	if err != nil || resumedFrom.IsZero() {
		return err
	}
	return b.readAgain(ctx, account, resumedFrom)
}

// readAgain reads what the bank has answered since the backup once more, of the bytes that were kept.
func (b *Banking) readAgain(ctx context.Context, account *Account, since time.Time) error {
	for after := uuid.Nil; ; {
		answers, err := b.tenant(account).BankStatementsSince(ctx, account.ID, since.Add(-clockSlack), after, answersAtATime)
		if err != nil || len(answers) == 0 {
			return err
		}
		for _, answer := range answers {
			err := b.readKept(ctx, account, answer)
			switch {
			case isShut(err):
				// Its key is gone for good, and what lies behind it must not hold the account.
				b.Logger.WarnContext(ctx, "an answer of the bank cannot be read again: hand its file in once more", "statement_id", answer.ID, "name", answer.Name, "error", err)
			case err != nil:
				return err
			}
			after = answer.ID
		}
	}
}

// readKept reads one of them, unless its bytes are not kept any more.
func (b *Banking) readKept(ctx context.Context, account *Account, answer store.BankStatement) error {
	kept, keep := io.Pipe()
	go func() {
		_, err := b.writeParts(keep, func(number int) (string, vault.Binding, error) {
			sealed, err := b.tenant(account).BankStatementPart(ctx, answer, number)
			return sealed, store.BindBankStatement(answer, number), err
		})
		keep.CloseWithError(err)
	}()
	file, err := place.Spool(kept, math.MaxInt64-1)
	if err = errors.Join(err, kept.Close()); err != nil {
		return err
	}
	defer file.Close()
	found, err := file.Stat()
	if err != nil || found.Size() == 0 {
		return err
	}
	_, err = b.read(ctx, account, answer.Name, io.NewSectionReader(file, 0, found.Size()), reader{isAgain: true})
	return err
}

// isShut tells of sealed bytes that no key opens any more.
func isShut(err error) bool {
	return errors.Is(err, vault.ErrUnknownKey) || errors.Is(err, vault.ErrCannotOpen) || errors.Is(err, vault.ErrNotSealed)
}
