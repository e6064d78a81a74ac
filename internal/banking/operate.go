package banking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"time"

	"github.com/google/uuid"

	"sepad/internal/banking/place"
	"sepad/internal/iso20022"
	"sepad/internal/payment"
	"sepad/internal/sepa"
	"sepad/internal/store"
)

// What an operator decides by hand.

var (
	errAssigned = &payment.Error{Kind: payment.Conflict, Detail: "The entry belongs to something already."}
	errNoFile   = &payment.Error{Kind: payment.Conflict, Detail: "The transaction is in no bank file of this gateway."}
	errInFile   = &payment.Error{Kind: payment.Conflict, Detail: "The collection is in a bank file: only a refund after it was collected, or a reversal at the bank, can help."}
	errPaidOut  = &payment.Error{Kind: payment.Conflict, Detail: "The refund is in a bank file: only the bank can stop it."}
	errNotHeld  = &payment.Error{Kind: payment.Conflict, Detail: "The collection is not held back."}
	errNotHere  = &payment.Error{Kind: payment.Conflict, Detail: "The transaction does not wait for a bank file."}
)

// WriteNow writes and delivers what waits at an account, outside of the daily cut-off, and gives the files as they stand then.
func (b *Banking) WriteNow(ctx context.Context, account *Account, now time.Time) ([]store.BankFile, error) {
	files, err := b.Collect(ctx, account, now, now)
	if err != nil {
		return nil, err
	}
	waiting, err := b.store().BankFilesWaiting(ctx)
	if err != nil {
		return nil, err
	}
	others := func(file store.BankFile) bool { return file.GatewayID != account.ID } // whose servers nobody waits for here
	if _, err := b.deliverAll(ctx, slices.DeleteFunc(waiting, others), now); err != nil {
		return nil, err
	}
	for i, file := range files {
		if files[i], err = b.tenant(account).BankFile(ctx, file.ID); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// Hold keeps a collection out of every file until it is released. One that is in a file can no longer be held back.
func (b *Banking) Hold(ctx context.Context, tenantID, transactionID uuid.UUID) error {
	err := b.store().Write(ctx, b.Checkout.Clock.Now(), func(tx *store.Tx) error {
		tx.HoldCollection(tenantID, transactionID)
		tx.Audit(steered("collection.hold", tenantID, transactionID, true))
		return nil
	})
	if !errors.Is(err, store.ErrStale) {
		return err
	}
	if entry, err := b.store().Tenant(tenantID).BankEntry(ctx, transactionID); err == nil {
		if entry.IsTransfer() {
			return errPaidOut
		}
		return errInFile
	}
	return errNotHere
}

// steered is that a collection is held back from now on, or no longer.
func steered(action string, tenantID, transactionID uuid.UUID, isHeld bool) store.Deed {
	return store.Deed{
		Action: action, ObjectType: "transaction", ObjectID: transactionID.String(), TenantID: tenantID,
		Before: map[string]any{"held": !isHeld}, After: map[string]any{"held": isHeld},
	}
}

// Release lets a collection that was held back into the next file.
func (b *Banking) Release(ctx context.Context, tenantID, transactionID uuid.UUID) error {
	err := b.store().Write(ctx, b.Checkout.Clock.Now(), func(tx *store.Tx) error {
		tx.ReleaseCollection(tenantID, transactionID)
		tx.Audit(steered("collection.release", tenantID, transactionID, false))
		return nil
	})
	if errors.Is(err, store.ErrStale) {
		return errNotHeld
	}
	return err
}

// Assign does what a line that matched nothing says, to the collection that a person says it belongs to.
func (b *Banking) Assign(ctx context.Context, tenantID, lineID, transactionID uuid.UUID) (store.BankLine, error) {
	line, err := b.store().Tenant(tenantID).BankLine(ctx, lineID)
	if err == nil && !line.IsOpen() {
		err = errAssigned
	}
	if err != nil {
		return line, err
	}
	account, err := b.AccountOf(ctx, tenantID, line.GatewayID)
	if err != nil {
		return line, err
	}
	entry, err := b.tenant(account).BankEntry(ctx, transactionID)
	if store.IsNotFound(err) || err == nil && entry.GatewayID != account.ID {
		err = errNoFile
	}
	if err != nil {
		return line, err
	}
	before, now := line.Result, b.Checkout.Clock.Now()
	assigned := line
	assigned.Result, assigned.Note, assigned.TransactionID = store.LineAssigned, "", &entry.TransactionID
	keep := func(tx *store.Tx) {
		tx.AssignBankLine(before, assigned)
		tx.Audit(store.Deed{
			Action: "bank_entry.assign", ObjectType: "bank_entry", ObjectID: lineID.String(), TenantID: tenantID,
			Before: map[string]any{"result": before}, After: map[string]any{"result": assigned.Result, "transaction_id": transactionID},
		})
	}
	r := &reader{
		Banking: b, ctx: ctx, account: account, statement: store.BankStatement{TenantID: tenantID}, bookedLate: map[uuid.UUID]string{}, now: now, along: keep,
	}
	err = r.byHand(entry, &line)
	if errors.Is(err, store.ErrBankLineTaken) {
		err = errAssigned
	}
	if err == nil && line.Result == store.LineContradicts {
		err = &payment.Error{Kind: payment.Conflict, Detail: line.Note}
	}
	if err == nil {
		err = b.store().SettleBankFiles(ctx, now, tenantID, account.ID)
	}
	return assigned, err
}

// byHand applies a line to the collection that it belongs to, and keeps that it does in the same unit: of two people who
// give one line to two collections at once, one has done nothing.
func (r *reader) byHand(entry store.BankFileEntry, line *store.BankLine) error {
	it := &item{line: *line}
	it.line.Result = store.LineKnown
	switch kind := line.Kind; {
	case kind == string(iso20022.TransferReturned) && !entry.IsTransfer():
		it.line.Result, it.line.Note = store.LineContradicts, ofCollection
	case (kind == string(iso20022.Returned) || kind == string(iso20022.Collected)) && entry.IsTransfer():
		it.line.Result, it.line.Note = store.LineContradicts, ofRefund
	case kind == string(iso20022.Returned):
		it.line.ChargesMinor += max(0, line.AmountMinor-entry.AmountMinor)
		booked, _ := time.Parse(time.DateOnly, line.BookingDate) // none is the zero time
		r.giveBack(entry, iso20022.Reason{Code: line.Reason}, it.line.ChargesMinor, cmp.Or(booked, r.now), it)
	case kind == string(iso20022.Collected):
		r.collected(entry, it)
	case kind == string(iso20022.OfPayment)+"_"+string(iso20022.Rejected), kind == string(iso20022.TransferReturned):
		r.reject(entry, iso20022.Reason{Code: line.Reason}, it)
	}
	hasWork := len(r.settling)+len(r.returning) > 0
	err := r.work()
	*line = it.line
	if err == nil && !hasWork && line.Result != store.LineContradicts {
		err = r.store().Write(r.ctx, r.now, func(tx *store.Tx) error {
			r.along(tx)
			return nil
		})
	}
	if ours, isOurs := errors.AsType[failure](err); isOurs {
		return ours.error
	}
	return err
}

// Text is what a bank wrote in words on a line, as everybody may see it who looks at lines: without account numbers. Words that
// cannot be opened do not hold up the list that they are in.
func (b *Banking) Text(ctx context.Context, line store.BankLine) string {
	if line.SealedText == "" {
		return ""
	}
	text, err := b.Checkout.Vault.Open(line.SealedText, store.BindBankLine(line.TenantID, line.StatementID, line.Position))
	if err != nil {
		b.Logger.ErrorContext(ctx, "the text of a line of a bank's answer cannot be read and needs a person", "line_id", line.ID, "error", err)
	}
	return sepa.MaskIBANs(string(text))
}

// Download writes the very bytes of a file for somebody. They name payers and their accounts: nobody takes them away unseen.
func (b *Banking) Download(ctx context.Context, file store.BankFile, out io.Writer) error {
	if !file.State.IsWritten() {
		return store.ErrNoBankBytes
	}
	deed := store.Deed{Action: "bank_file.download", ObjectType: "bank_file", ObjectID: file.ID.String(), TenantID: file.TenantID}
	if err := b.store().Note(ctx, deed); err != nil {
		return err
	}
	return b.Content(ctx, file, out)
}

// Test tries an account's place for somebody, who is noted. He waits for a third of what a server may be silent for: whoever asks over
// HTTP is given up after a minute, and would not be told that it hangs.
func (b *Banking) Test(ctx context.Context, account *Account) error {
	patience := cmp.Or(b.Silence, usualSilence) / 3
	timed, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	came := b.try(timed, account)
	if came != nil && errors.Is(timed.Err(), context.DeadlineExceeded) {
		came = fmt.Errorf("%w: it was not done after %s", errAway, patience)
	}
	return errors.Join(came, b.store().Note(ctx, store.Deed{
		Action: "gateway.test", ObjectType: "gateway", ObjectID: account.ID.String(), TenantID: account.Setup.Tenant.ID, After: map[string]any{"ok": came == nil},
	}))
}

// try logs in at an account's place, and writes and removes a small file where the bank's are put.
func (b *Banking) try(ctx context.Context, account *Account) error {
	return b.withPlace(ctx, account, func(p place.Place) error {
		trial := "." + payment.NewID().String() + ".trial"
		err := p.Put(trial, func(out io.Writer) error {
			_, err := io.WriteString(out, "sepad tries this connection\n")
			return err
		})
		if err = errors.Join(err, p.Discard(trial)); err != nil {
			return err
		}
		_, err = p.Answers()
		return err
	})
}

// Matching holds our records of a file against what the bank said of it.
type Matching struct {
	// Ours are our payments by status.
	Ours []store.BankMatch
	// Bank is what the bank said, by message and kind of line.
	Bank []store.BankMatch
	// CollectedMinor and ReturnedMinor are ours; Credited and Debited are the statement's, nil while it says nothing.
	CollectedMinor, ReturnedMinor payment.Minor
	CreditedMinor, DebitedMinor   *payment.Minor
}

// Agrees tells that the statement's sums are ours, to the cent. While there is no statement nothing disagrees.
func (m Matching) Agrees() bool {
	return (m.CreditedMinor == nil || *m.CreditedMinor == m.CollectedMinor) && (m.DebitedMinor == nil || *m.DebitedMinor == m.ReturnedMinor)
}

// Match gives the matching report of a file.
func (b *Banking) Match(ctx context.Context, file store.BankFile) (m Matching, err error) {
	rows, err := b.store().Tenant(file.TenantID).BankMatches(ctx, file.ID)
	for _, row := range rows {
		if row.Source != "" {
			m.Bank = append(m.Bank, row)
			m.book(row)
			continue
		}
		m.Ours = append(m.Ours, row)
		of := payment.Transaction{Status: payment.TransactionStatus(row.Kind)}
		isRefund := file.Kind == store.BankTransfers
		if of.IsDecided() && !of.IsDeclined() && !isRefund {
			m.CollectedMinor += row.SumMinor
		}
		if of.IsChargedBack() || isRefund && !of.IsDeclined() {
			m.ReturnedMinor += row.SumMinor
		}
	}
	return m, err
}

// book takes what a statement says; notices announce the same bookings. Refunds that were paid are debits less those
// that came back.
func (m *Matching) book(row store.BankMatch) {
	if row.Source != string(iso20022.FullDay) {
		return
	}
	add := func(to **payment.Minor, sum payment.Minor) {
		if *to == nil {
			*to = new(payment.Minor)
		}
		**to += sum
	}
	switch row.Kind {
	case string(iso20022.Collected):
		add(&m.CreditedMinor, row.SumMinor)
	case string(iso20022.Returned), string(iso20022.Transferred):
		add(&m.DebitedMinor, row.SumMinor)
	case string(iso20022.TransferReturned):
		add(&m.DebitedMinor, -row.SumMinor)
	}
}

// ReadPath reads a file, or every file of a folder, by their paths on this machine.
func (b *Banking) ReadPath(ctx context.Context, account *Account, name string, isDryRun bool) (readings []Reading, err error) {
	found, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	names := []string{name}
	if found.IsDir() {
		entries, err := os.ReadDir(name)
		if err != nil {
			return nil, err
		}
		names = names[:0]
		for _, entry := range entries {
			if entry.Type().IsRegular() {
				names = append(names, path.Join(name, entry.Name()))
			}
		}
	}
	for _, name := range names {
		file, err := os.Open(name)
		if err != nil {
			return readings, err
		}
		read, err := b.ReadFile(ctx, account, path.Base(name), file, isDryRun)
		readings = append(readings, read...)
		if err != nil {
			return readings, err
		}
	}
	return readings, nil
}
