package banking

import (
	"cmp"
	"context"
	"encoding/base32"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"sepad/internal/banking/place"
	"sepad/internal/checkout"
	"sepad/internal/gateway/bank"
	"sepad/internal/iso20022"
	"sepad/internal/payment"
	"sepad/internal/sepa"
	"sepad/internal/store"
)

const (
	// readBatch bounds how many payments are read at a time, which is all that is
	// held of a file of any length.
	readBatch = 1000
	// takeBatch is how many are taken into a file by one unit: some megabytes, for a
	// tenth less of the time than units of a quarter would take.
	takeBatch = 4 * readBatch
	// fillTries bounds how often a batch is planned anew because somebody else fills
	// the same file.
	fillTries = 100
)

// collection is a payment on its way into a file of collections, or a refund on its way into one of transfers.
type collection struct {
	store.Collectible
	debit    *iso20022.Debit
	transfer *iso20022.Transfer
	sequence string // "" for a refund
	due      time.Time
	day      string // due, as it is written
	// unreadable says that there is no account to speak of: the payment was imported, or its payer erased.
	unreadable bool
}

// faults says what a bank would refuse about it on a day.
func (c collection) faults(at time.Time) []iso20022.Fault {
	if c.unreadable {
		return []iso20022.Fault{{Field: "account", Text: "The payer's account is not known here, or cannot be read.", Fatal: true}}
	}
	if c.transfer != nil {
		return c.transfer.Faults()
	}
	return c.debit.Faults(at)
}

// untils bound what the files of an account take, by their kind.
type untils map[store.BankFileKind]store.CollectibleUntil

// kinds are the files of an account, in the order in which they are written.
var kinds = []store.BankFileKind{store.BankDebits, store.BankTransfers}

// Collect writes what waits at an account and was taken by an instant, whenever it is due, in as many files as the bank's
// limits ask for. What another process or a crash has left unfinished is finished first. After a restore nothing is
// written until somebody has made sure of the account.
func (b *Banking) Collect(ctx context.Context, account *Account, until, now time.Time) ([]store.BankFile, error) {
	taken := store.CollectibleUntil{TakenAt: until}
	return b.collect(ctx, account, untils{store.BankDebits: taken, store.BankTransfers: taken}, now)
}

// collectDue writes what belongs into the files of the last cut-off: collections that would be late in the next one, and
// refunds that were there by then. All else can still be withdrawn.
func (b *Banking) collectDue(ctx context.Context, account *Account, now time.Time) ([]store.BankFile, error) {
	cutOff := account.Terms.LastCutOff(now)
	return b.collect(ctx, account, untils{
		store.BankDebits:    {TakenAt: now, DueDate: payment.DateOf(account.Terms.DueOf(cutOff))},
		store.BankTransfers: {TakenAt: cutOff},
	}, now)
}

func (b *Banking) collect(ctx context.Context, account *Account, until untils, now time.Time) (files []store.BankFile, err error) {
	restoredTo, err := b.RestoredTo(ctx, account)
	if err == nil && !restoredTo.IsZero() {
		err = errUnproven
	}
	if err == nil {
		err = b.recognizeAdopted(ctx, account)
	}
	if err == nil {
		err = b.dropStranded(ctx, account)
	}
	if err != nil {
		return nil, err
	}
	for _, kind := range kinds {
		written, err := b.writeKind(ctx, account, kind, until[kind], now)
		files = append(files, written...)
		if err != nil {
			return files, err
		}
	}
	return files, nil
}

// dropStranded declines refunds that wait while the payer has taken the payment back: it must not be given back twice.
func (b *Banking) dropStranded(ctx context.Context, account *Account) error {
	for {
		stranded, err := b.tenant(account).StrandedRefunds(ctx, account.ID, readBatch)
		if err != nil || len(stranded) == 0 {
			return err
		}
		reports := make([]checkout.Report, len(stranded))
		for i, id := range stranded {
			reports[i] = checkout.Report{TransactionID: id, Outcome: bank.Stranded}
		}
		done, err := b.settleTogether(ctx, account.Setup.Tenant.ID, reports)
		if err != nil || done == 0 {
			return err
		}
	}
}

func (b *Banking) writeKind(ctx context.Context, account *Account, kind store.BankFileKind, until store.CollectibleUntil, now time.Time) (files []store.BankFile, err error) {
	for {
		file, err := b.fill(ctx, account, kind, until, now)
		if err != nil || file == nil {
			return files, err
		}
		written, err := b.compose(ctx, account, *file, now)
		if err != nil {
			return files, err
		}
		if written != nil {
			files = append(files, *written)
		}
	}
}

// fill gives a closed file whose bytes are to be made, nil when there is nothing to write.
func (b *Banking) fill(ctx context.Context, account *Account, kind store.BankFileKind, until store.CollectibleUntil, now time.Time) (*store.BankFile, error) {
	for range fillTries {
		file, err := b.fillOnce(ctx, account, kind, until, now)
		if !store.TakenByAnother(err) {
			return file, err
		}
	}
	return nil, fmt.Errorf("gateway %s: others keep taking the same collections", account.Name)
}

func (b *Banking) fillOnce(ctx context.Context, account *Account, kind store.BankFileKind, until store.CollectibleUntil, now time.Time) (*store.BankFile, error) {
	unfinished, err := b.tenant(account).UnfinishedBankFiles(ctx, account.ID)
	if err != nil {
		return nil, err
	}
	f := &filling{Banking: b, account: account, kind: kind, now: now, blocks: map[[2]string]string{}}
	for _, file := range unfinished {
		if file.Kind != kind {
			continue
		}
		if file.State == store.BankFileClosed {
			return &file, nil
		}
		f.file = file
	}
	if err := f.recall(ctx); err != nil {
		return nil, err
	}
	if err := f.takeAll(ctx, until); err != nil || f.file.Count == 0 {
		return nil, err
	}
	return &f.file, f.close(ctx)
}

// filling is a file that payments are being taken into, a batch at a time. Each batch is taken by one transaction, which
// holds it to this file for good: a crash leaves an open file, and whoever comes next goes on with it.
type filling struct {
	*Banking
	account *Account
	kind    store.BankFileKind
	file    store.BankFile
	now     time.Time
	// blocks are the file's parts so far, by due date and sequence.
	blocks map[[2]string]string
	batch  []collection
}

// recall reads what is in the file already.
func (f *filling) recall(ctx context.Context) error {
	if f.file.Count == 0 {
		return nil
	}
	known, err := f.tenant(f.account).BankBlocks(ctx, f.file.ID)
	for _, block := range known {
		f.blocks[[2]string{block.DueDate, block.Sequence}] = block.ID
	}
	return err
}

// takeAll takes what waits, up to the bank's limits.
func (f *filling) takeAll(ctx context.Context, until store.CollectibleUntil) error {
	for waiting, err := range f.waiting(ctx, f.account, f.kind, until, f.now) {
		if err != nil {
			return err
		}
		if isFatal(waiting.faults(f.now)) || !f.suits(waiting) {
			continue // the preview names it, or the next file has it
		}
		if !f.hasRoom(waiting) {
			break
		}
		f.batch = append(f.batch, waiting)
		f.block(waiting)
		if len(f.batch) == takeBatch {
			if err := f.take(ctx); err != nil {
				return err
			}
		}
	}
	return f.take(ctx)
}

// suits tells whether a collection may be in this file.
func (f *filling) suits(c collection) bool {
	if !f.account.Terms.OneDueDate {
		return true
	}
	for key := range f.blocks {
		return key[0] == c.day
	}
	return true
}

// hasRoom tells whether one more fits: as many as the bank takes, in as many bytes if each were as long as can be.
func (f *filling) hasRoom(c collection) bool {
	count := f.file.Count + len(f.batch)
	if limit := f.account.Terms.MaxEntries; limit > 0 && count >= limit {
		return false
	}
	limit, blocks := f.account.Terms.MaxBytes, len(f.blocks)
	if _, known := f.blocks[blockKey(c)]; !known {
		blocks++
	}
	return limit == 0 || count == 0 || iso20022.MostBytes(blocks, count+1) <= limit
}

func blockKey(c collection) [2]string { return [2]string{c.day, c.sequence} }

// block names the part of the file that a collection belongs to.
func (f *filling) block(c collection) string {
	if f.file.ID == uuid.Nil {
		f.file = newFile(f.account, f.kind, f.now)
	}
	key := blockKey(c)
	if _, known := f.blocks[key]; !known {
		f.blocks[key] = fmt.Sprintf("%s-%d", f.file.MessageID, len(f.blocks)+1)
	}
	return f.blocks[key]
}

// take writes down that the batch is in the file.
func (f *filling) take(ctx context.Context) error {
	if len(f.batch) == 0 {
		return nil
	}
	before := f.file
	entries := make([]store.BankFileEntry, 0, len(f.batch))
	silenceEnds := map[string]time.Time{}
	for _, c := range f.batch {
		f.file.Count++
		f.file.SumMinor += c.AmountMinor
		if f.file.DueDate == "" || c.day < f.file.DueDate {
			f.file.DueDate = c.day
		}
		if silenceEnds[c.day].IsZero() {
			silenceEnds[c.day] = f.account.Terms.SilenceEnds(c.due)
		}
		entry := store.BankFileEntry{
			TransactionID: c.TransactionID, Position: f.file.Count, BlockID: f.block(c), DueDate: c.day, SequenceType: c.sequence,
			AmountMinor: c.AmountMinor, EndToEndID: c.MerchantTransactionID, MandateReference: c.MandateReference, MaskedIBAN: c.MaskedIBAN,
		}
		if c.transfer != nil {
			entry.MandateReference = "" // nothing that comes back under the mandate is this
		}
		entries = append(entries, entry)
	}
	f.batch = f.batch[:0]
	return f.store().Write(ctx, f.now, func(tx *store.Tx) error {
		if before.Count == 0 {
			tx.AddBankFile(before)
		}
		return tx.TakeIntoBankFile(before, f.file, entries, silenceEnds)
	})
}

// close ends the filling.
func (f *filling) close(ctx context.Context) error {
	return f.change(ctx, &f.file, func(file *store.BankFile) { file.State = store.BankFileClosed }, f.now)
}

// change writes a file as it is now, if nobody else has changed it.
func (b *Banking) change(ctx context.Context, file *store.BankFile, change func(*store.BankFile), now time.Time) error {
	changed := *file
	change(&changed)
	err := b.store().Write(ctx, now, func(tx *store.Tx) error {
		tx.ChangeBankFile(*file, changed)
		return nil
	})
	if err == nil {
		*file = changed
	}
	return err
}

// waiting gives what waits at an account for a kind of file, as that would have it.
func (b *Banking) waiting(ctx context.Context, account *Account, kind store.BankFileKind, until store.CollectibleUntil, now time.Time) func(yield func(collection, error) bool) {
	days := daysOf(account, now)
	pages := ahead(ctx, func(ctx context.Context, last *store.Collectible) ([]store.Collectible, error) {
		after := uuid.Nil
		if last != nil {
			after = last.TransactionID
		}
		return b.tenant(account).Collectibles(ctx, account.ID, kind, until, after, readBatch)
	})
	return func(yield func(collection, error) bool) {
		for page, err := range pages {
			if err != nil {
				yield(collection{}, err)
				return
			}
			for i := range page {
				if !yield(b.prepare(account, &page[i], days), nil) {
					return
				}
			}
		}
	}
}

// fileDays are the first days on which what a file has can be due: collections, and refunds.
type fileDays struct{ debits, transfers time.Time }

// daysOf gives those of a file that is written at an instant.
func daysOf(account *Account, at time.Time) fileDays {
	return fileDays{account.Terms.DueDate(at), account.Terms.ExecuteDate(at)}
}

// prepare makes of a payment what a file says of it.
func (b *Banking) prepare(account *Account, c *store.Collectible, days fileDays) collection {
	iban, err := b.open(account, c)
	if err != nil {
		b.Logger.Error("a payment is kept out of the bank's files", "transaction_id", c.TransactionID, "error", err)
		return collection{Collectible: *c, unreadable: true} // it must not hold up the others
	}
	party := bank.Debtor(payment.Instrument{IBAN: iban, HolderName: c.HolderName, Bank: sepa.Bank{BIC: c.BIC}}, c.Lead)
	prepared := collection{Collectible: *c, due: days.transfers}
	if c.Type == payment.Refund {
		prepared.transfer = &iso20022.Transfer{
			EndToEndID: c.MerchantTransactionID, AmountMinor: int64(c.AmountMinor), Remittance: refundText(account, c), Creditor: party,
		}
	} else {
		prepared.sequence, prepared.due = sequence(account, c), dueDate(c, days.debits)
		prepared.debit = &iso20022.Debit{
			EndToEndID: c.MerchantTransactionID, AmountMinor: int64(c.AmountMinor), Remittance: remittance(account, c), Debtor: party,
			Mandate: iso20022.Mandate{Reference: c.MandateReference, SignedDate: c.MandateAt.In(account.Terms.Zone)},
		}
	}
	prepared.day = prepared.due.Format(time.DateOnly)
	return prepared
}

// dueDate is the day that the payer was told, unless its file comes too late for it.
func dueDate(c *store.Collectible, first time.Time) time.Time {
	if told := c.DueDate.Start(); told.After(first) {
		return told
	}
	return first
}

// open reads the account number of a payment.
func (b *Banking) open(account *Account, c *store.Collectible) (sepa.IBAN, error) {
	electronic, err := b.Checkout.Vault.Open(c.SealedIBAN, store.BindIBAN(account.Setup.Tenant.ID, c.MandateReference))
	if err != nil {
		return sepa.IBAN{}, fmt.Errorf("the account of payment %s cannot be read: %w", c.MerchantTransactionID, err)
	}
	iban, err := sepa.ParseIBAN(string(electronic))
	if err != nil {
		return sepa.IBAN{}, fmt.Errorf("the account of payment %s is none", c.MerchantTransactionID)
	}
	return iban, nil
}

// sequence marks a collection's place in its mandate's life.
func sequence(account *Account, c *store.Collectible) string {
	switch {
	case c.IsOnce:
		return "OOFF"
	case c.SequenceType == payment.SequenceFirst:
		return account.Terms.FirstSequence
	default:
		return string(payment.SequenceRecurring)
	}
}

// remittance is what the payer reads on the statement: who, what for, and which order.
func remittance(account *Account, c *store.Collectible) string {
	text := cmp.Or(account.Terms.Descriptor, account.Terms.Creditor.Name)
	if c.OfferID != nil {
		if product := account.Setup.Offers[*c.OfferID].ProductName; product != nil {
			text += " " + *product
		}
	}
	return text + " " + c.OrderNumber
}

// refundText is what the payer reads who gets money back: from whom, and of which payment.
func refundText(account *Account, c *store.Collectible) string {
	return cmp.Or(account.Terms.Descriptor, account.Terms.Creditor.Name) + " refund " + c.PaymentID
}

func isFatal(faults []iso20022.Fault) bool {
	return slices.ContainsFunc(faults, func(f iso20022.Fault) bool { return f.Fatal })
}

// newFile names a file. The message id is made of the file's own id, so that it is unique for the life of the
// installation; blocks are numbered behind it.
func newFile(account *Account, kind store.BankFileKind, now time.Time) store.BankFile {
	id, format := payment.NewID(), account.Terms.Format
	if kind == store.BankTransfers {
		format = format.OfTransfers()
	}
	messageID := place.MessagePrefix + base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(id[:])
	return store.BankFile{
		ID: id, TenantID: account.Setup.Tenant.ID, GatewayID: account.ID, Kind: kind, MessageID: messageID, Format: string(format),
		Name:  now.In(account.Terms.Zone).Format("20060102-150405-") + messageID + ".xml",
		State: store.BankFileOpen,
	}
}
