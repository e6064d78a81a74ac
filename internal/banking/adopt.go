package banking

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"time"

	"github.com/google/uuid"

	"sepad/internal/banking/place"
	"sepad/internal/iso20022"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/vault"
)

// After a restore the database does not know which files have left since the backup, and a bank cannot be asked. An
// account then writes and sends nothing, and takes silence for nothing, until somebody has made sure (Resume). Files that
// lie where they were put are taken in by themselves, others are given by hand (Adopt): what is in them is in no file
// again.

var errUnproven = &payment.Error{
	Kind:   payment.Conflict,
	Detail: "The database was restored: make sure what the bank was sent since the backup (sepad bank adopt), then let the account go on (sepad bank resume).",
}

// Adoption is what became of a file that was given to Adopt.
type Adoption struct {
	Name      string
	MessageID string
	// Count is how many payments it has.
	Count int
	// IsKnown tells a file that was known already.
	IsKnown bool
}

// RestoredTo is the instant of the backup behind which an account may have sent what is not known here; zero once
// somebody has made sure.
func (b *Banking) RestoredTo(ctx context.Context, account *Account) (time.Time, error) {
	return b.store().BankRestoredTo(ctx, account.Setup.Tenant.ID, account.ID)
}

// Resume lets an account go on that waits after a restore, and gives the instant of the backup; zero for one that does not
// wait.
func (b *Banking) Resume(ctx context.Context, account *Account) (restoredTo time.Time, err error) {
	restoredTo, err = b.RestoredTo(ctx, account)
	if err != nil || restoredTo.IsZero() {
		return restoredTo, err
	}
	if err := b.store().AnalyzeYoung(ctx, b.Checkout.Clock.Now()); err != nil { // a restore has brought rows and no statistics
		return restoredTo, err
	}
	if _, err := b.AdoptSent(ctx, account); err != nil {
		return restoredTo, err
	}
	if err := b.recognizeAll(ctx, account, restoredTo); err != nil {
		return restoredTo, err
	}
	return restoredTo, b.store().Write(ctx, b.Checkout.Clock.Now(), func(tx *store.Tx) error {
		tx.ResumeBank(account.Setup.Tenant.ID, account.ID, restoredTo)
		return nil
	})
}

// proven takes in what lies where the account's files are put, and tells whether it may write and send.
func (b *Banking) proven(ctx context.Context, account *Account) (bool, error) {
	restoredTo, err := b.RestoredTo(ctx, account)
	if err != nil || restoredTo.IsZero() {
		return err == nil, err
	}
	adoptions, err := b.AdoptSent(ctx, account)
	if err != nil {
		return false, err
	}
	b.Logger.WarnContext(ctx, "the database was restored: a bank account writes nothing until somebody resumes it", "gateway_id", account.ID,
		"restored_to", restoredTo, "files_found", len(adoptions))
	return false, nil
}

// AdoptSent takes in the files of ours that lie where the bank fetches them.
func (b *Banking) AdoptSent(ctx context.Context, account *Account) (adoptions []Adoption, err error) {
	err = b.withPlace(ctx, account, func(p place.Place) error {
		names, err := p.Sent()
		if err != nil {
			return err
		}
		for _, name := range names {
			if !place.IsOurs(name) {
				continue
			}
			file, err := p.FetchSent(name)
			if errors.Is(err, fs.ErrNotExist) {
				continue // the bank has just fetched it
			}
			if err != nil {
				return err
			}
			found, err := b.adoptFile(ctx, account, path.Base(name), file)
			if errors.Is(err, iso20022.ErrNoOrder) && place.WasTakenAway(name) {
				continue // an answer, which some banks name after the file that it is about
			}
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			adoptions = append(adoptions, found...)
		}
		return nil
	})
	if err == nil && slices.ContainsFunc(adoptions, func(a Adoption) bool { return !a.IsKnown }) {
		_, err = b.reopenRefunds(ctx, account)
	}
	if err != nil {
		return adoptions, err
	}
	return adoptions, b.assignAdopted(ctx, account)
}

// Adopt takes in a file of ours such as a bank's portal gives it, and closes it.
func (b *Banking) Adopt(ctx context.Context, account *Account, name string, file *os.File) ([]Adoption, error) {
	adoptions, err := b.adoptFile(ctx, account, name, file)
	if isNoOrder(err) {
		return nil, payment.Fields{"file": "It is no file of collections or credit transfers: " + err.Error()}.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if _, err := b.reopenRefunds(ctx, account); err != nil {
		return adoptions, err
	}
	return adoptions, b.assignAdopted(ctx, account)
}

// reopenRefunds opens refunds that were taken in with a file and of which nothing is known, so that what the bank answers finds
// them and nobody gives the same money back again. Those of a payment that is open itself, or of which others are, come later.
func (b *Banking) reopenRefunds(ctx context.Context, account *Account) (opened int, err error) {
	lost, err := b.tenant(account).LostRefunds(ctx, account.ID)
	if err != nil || len(lost) == 0 {
		return 0, err
	}
	paid, err := b.tenant(account).PaymentsBesideLostRefunds(ctx, account.ID)
	if err != nil {
		return 0, err
	}
	lostOf := refundsOf(lost)
	for _, one := range paid {
		found := lostOf(one)
		if len(found) == 0 {
			continue
		}
		count, err := b.Checkout.ReopenRefunds(ctx, account.Setup, one.ID, found)
		opened += count
		if payment.KindOf(err) == 0 && err != nil {
			return opened, err
		}
		if err != nil {
			b.Logger.WarnContext(ctx, "a refund that the bank has cannot be opened on its payment yet", "transaction_id", one.ID, "error", err)
		}
	}
	return opened, nil
}

// refundsOf finds those of a payment among many, in their order. They are named after the payment, so that each payment's names are
// made, of the amounts of its day.
func refundsOf(lost []store.Adopted) func(payment.Transaction) []store.Adopted {
	places, amounts := map[string]int{}, map[string]map[payment.Minor]bool{}
	for i, one := range lost {
		day := one.EndToEndID[:min(len(one.EndToEndID), len(payment.ReferenceDay(time.Time{})))]
		if amounts[day] == nil {
			amounts[day] = map[payment.Minor]bool{}
		}
		places[one.EndToEndID], amounts[day][one.AmountMinor] = i, true
	}
	return func(paid payment.Transaction) (found []store.Adopted) {
		var at []int
		for amount := range amounts[payment.RefundsDay(paid)] {
			if amount > paid.AmountMinor {
				continue
			}
			for _, name := range payment.FirstRefunds(paid, amount) {
				if place, isLost := places[name]; isLost {
					at = append(at, place)
				}
			}
		}
		slices.Sort(at)
		for _, place := range at {
			found = append(found, lost[place])
		}
		return found
	}
}

// isNoOrder tells errors of a file itself, which are the same however often it is read.
func isNoOrder(err error) bool {
	_, isSyntax := errors.AsType[*xml.SyntaxError](err)
	return isSyntax || errors.Is(err, iso20022.ErrNoOrder) || errors.Is(err, iso20022.ErrUnreadable) || errors.Is(err, iso20022.ErrTooLarge) ||
		errors.Is(err, io.ErrUnexpectedEOF)
}

func (b *Banking) adoptFile(ctx context.Context, account *Account, name string, file *os.File) (adoptions []Adoption, err error) {
	defer file.Close()
	found, err := file.Stat()
	if err != nil {
		return nil, err
	}
	err = iso20022.Unpack(name, file, found.Size(), func(member iso20022.Member) error {
		adoption, err := b.adoptOne(ctx, account, member)
		adoptions = append(adoptions, adoption)
		return err
	})
	return adoptions, err
}

// adoptOne takes in one message: first its payments, which no file takes from then on, then the file itself, then its
// bytes. Each can be done again.
func (b *Banking) adoptOne(ctx context.Context, account *Account, member iso20022.Member) (Adoption, error) {
	now := b.Checkout.Clock.Now()
	adoption := Adoption{Name: member.Name}
	file := newFile(account, store.BankDebits, now)
	file.State, file.Name, file.Draft = store.BankFileSent, member.Name, "adopted"
	var batch []store.Adopted
	write := func() error {
		defer func() { batch = batch[:0] }()
		return b.store().Write(ctx, now, func(tx *store.Tx) error {
			tx.AddAdopted(file, batch)
			return nil
		})
	}
	known := store.BankFile{}
	err := b.readOrder(member, func(o iso20022.Ordered) (err error) {
		if adoption.Count++; adoption.Count == 1 {
			adoption.MessageID, file.MessageID = o.MessageID, o.MessageID
			if o.IsTransfer {
				file.Kind, file.Format = store.BankTransfers, string(account.Terms.Format.OfTransfers())
			}
			if known, err = b.unsent(ctx, account, o.MessageID, now); err != nil || known.ID != uuid.Nil {
				return errors.Join(err, errKnownFile)
			}
		}
		due := o.DueDate.Format(time.DateOnly)
		if file.DueDate == "" || due < file.DueDate {
			file.DueDate = due
		}
		batch = append(batch, store.Adopted{
			EndToEndID: o.EndToEndID, Position: adoption.Count, BlockID: o.BlockID, DueDate: due, SequenceType: o.Sequence, AmountMinor: payment.Minor(o.AmountMinor),
		})
		if len(batch) < readBatch {
			return nil
		}
		return write()
	})
	if known.ID != uuid.Nil {
		adoption.IsKnown, adoption.Count = true, known.Count
		return adoption, nil
	}
	if err == nil {
		err = write()
	}
	if err != nil {
		return adoption, err
	}
	return adoption, b.keepAdopted(ctx, account, file, member, now)
}

var errKnownFile = errors.New("the file is known")

func (b *Banking) readOrder(member iso20022.Member, visit func(iso20022.Ordered) error) error {
	content, err := member.Open()
	if err != nil {
		return err
	}
	return errors.Join(iso20022.ReadOrder(content, visit), content.Close())
}

// unsent looks for a file by its message. One that is known to have left, or whose bytes were made, is given back as
// sent; one that was not finished at the time of the backup is forgotten, so that its bytes tell what it came to hold.
func (b *Banking) unsent(ctx context.Context, account *Account, messageID string, now time.Time) (store.BankFile, error) {
	known, err := b.tenant(account).BankFileByMessage(ctx, account.ID, messageID)
	switch {
	case errors.Is(err, store.ErrNoBankFile):
		return store.BankFile{}, nil
	case err != nil:
		return known, err
	case known.State.Left():
		return known, nil
	case known.State == store.BankFileWritten, known.State == store.BankFileSending:
		return known, b.sent(ctx, account, &known, now)
	}
	return store.BankFile{}, b.store().Write(ctx, now, func(tx *store.Tx) error {
		tx.ForgetBankFile(known)
		return nil
	})
}

// keepAdopted records the file and keeps its bytes.
func (b *Banking) keepAdopted(ctx context.Context, account *Account, file store.BankFile, member iso20022.Member, now time.Time) error {
	content, err := member.Open()
	if err != nil {
		return err
	}
	defer content.Close()
	size, err := io.Copy(io.Discard, content)
	if err != nil {
		return err
	}
	file.SizeBytes = int(size)
	file.CreditorName, file.CreditorIdentifier = account.Terms.Creditor.Name, account.Terms.Creditor.Identifier
	err = b.store().Write(ctx, now, func(tx *store.Tx) error {
		tx.AdoptBankFile(file)
		return nil
	})
	if store.AdoptedByAnother(err) { // of this account, or an operator has named the wrong one
		_, err = b.tenant(account).BankFileByMessage(ctx, account.ID, file.MessageID)
		return err
	}
	if err != nil {
		return err
	}
	again, err := member.Open()
	if err != nil {
		return err
	}
	defer again.Close()
	bind := func(number int) vault.Binding { return store.BindBankPart(file, number) }
	out := &parts{Banking: b, ctx: ctx, now: now, bind: bind, keep: func(tx *store.Tx, number int, sealed string) {
		tx.AddAdoptedPart(file, number, sealed)
	}}
	if _, err := io.Copy(out, again); err != nil {
		return err
	}
	return out.flush()
}

// assignAdopted gives payments that wait their place in the files that carried them. What the bank has said of them was read
// before where the account goes on already, as a period falls due when the one before it is settled: it is read again. Whoever dies
// before that leaves them among what left after the backup, and it is done then.
func (b *Banking) assignAdopted(ctx context.Context, account *Account) error {
	left, err := b.tenant(account).CountAdopted(ctx, account.ID)
	if err != nil {
		return err
	}
	now := b.Checkout.Clock.Now()
	if left > 0 {
		err = b.store().Write(ctx, now, func(tx *store.Tx) error {
			tx.AssignAdopted(account.Setup.Tenant.ID, account.ID, account.Terms.SilenceEnds(account.Terms.DueDate(now)))
			return nil
		})
	}
	if err != nil {
		return err
	}
	if hasAssigned, err := b.tenant(account).HasAssigned(ctx, account.ID); err != nil || !hasAssigned {
		return err
	}
	if err := b.readOnceMore(ctx, account); err != nil {
		return err
	}
	return b.store().Write(ctx, now, func(tx *store.Tx) error {
		tx.ForgetAssigned(account.Setup.Tenant.ID, account.ID)
		return nil
	})
}

// recognizeAdopted does so once all files are taken in. Rebills may wait under one reference while the bank has their period
// under a later one: the first debit was withdrawn in the lost time, by a pause, and the one in its place was sent.
func (b *Banking) recognizeAdopted(ctx context.Context, account *Account) error {
	lost, err := b.tenant(account).LostDebits(ctx, account.ID)
	if err != nil {
		return err
	}
	if len(lost) > 0 {
		if err := b.renameLost(ctx, account, lost); err != nil {
			return err
		}
	}
	return b.assignAdopted(ctx, account)
}

func (b *Banking) renameLost(ctx context.Context, account *Account, lost []string) error {
	isLost := make(map[string]bool, len(lost))
	for _, name := range lost {
		isLost[name] = true
	}
	waiting, err := b.tenant(account).RebillsBesideAdopted(ctx, account.ID)
	if err != nil {
		return err
	}
	for _, rebill := range waiting {
		later := payment.LaterReferences(rebill.Subscription, rebill.Reference, rebill.Number)
		sent := slices.IndexFunc(later, func(name string) bool { return isLost[name] })
		if sent < 0 {
			continue
		}
		err := b.store().Write(ctx, b.Checkout.Clock.Now(), func(tx *store.Tx) error {
			tx.RenameRebill(account.Setup.Tenant.ID, rebill, later[sent])
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
