package banking

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"

	"sepad/internal/banking/place"
	"sepad/internal/gateway/bank"
	"sepad/internal/iso20022"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/vault"
)

// Counts say what became of the lines of a bank's answer.
type Counts struct{ Settled, Rejected, Returned, Known, Ignored, Unmatched int }

func (c *Counts) add(result store.BankLineResult) {
	switch result {
	case store.LineSettled:
		c.Settled++
	case store.LineRejected:
		c.Rejected++
	case store.LineReturned:
		c.Returned++
	case store.LineIgnored:
		c.Ignored++
	case store.LineUnmatched, store.LineContradicts:
		c.Unmatched++
	default:
		c.Known++
	}
}

// Reading is what became of one file of a bank.
type Reading struct {
	// ID is the statement's, where it was kept.
	ID     uuid.UUID
	Name   string
	Counts Counts
	// Problem says why it could not be read to its end, "" when it was.
	Problem string
}

// Read takes in a bank's answer: a status report, a statement, a notice, or a zip of them. The same file twice, files
// that overlap and files in another order lead to the same. A dry run says what would become of it. However long the
// file is, a batch of its lines is all that is held.
func (b *Banking) Read(ctx context.Context, account *Account, name string, content *io.SectionReader, isDryRun bool) ([]Reading, error) {
	return b.read(ctx, account, name, content, reader{isDryRun: isDryRun})
}

// read does so in the way that a reader says.
func (b *Banking) read(ctx context.Context, account *Account, name string, content *io.SectionReader, how reader) (readings []Reading, err error) {
	err = iso20022.Unpack(name, content, content.Size(), func(member iso20022.Member) error {
		reading, err := b.readOne(ctx, account, member, how)
		readings = append(readings, reading)
		return err
	})
	if errors.Is(err, iso20022.ErrUnreadable) || errors.Is(err, iso20022.ErrTooLarge) {
		readings, err = append(readings, Reading{Name: label(name), Problem: err.Error()}), nil // reading it again would not help
	}
	for _, reading := range readings {
		if reading.Problem != "" && !how.isDryRun {
			b.Logger.ErrorContext(ctx, "a bank's answer could not be read to its end and needs a person", "gateway_id", account.ID,
				"statement_id", reading.ID, "problem", reading.Problem)
		}
	}
	return readings, err
}

// label is a file's name as it can be kept and shown, whatever a bank calls it.
func label(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, "_"))
}

// reader is one file on its way in.
type reader struct {
	*Banking
	ctx       context.Context
	account   *Account
	statement store.BankStatement
	reading   Reading
	isDryRun  bool
	// isAgain has what was read before read anew: something that it speaks of is known only now.
	isAgain bool
	// items are lines that were read. Those before them are being worked on, settling and returning is what they want,
	// and those before these are being written down.
	items            []*item
	working, writing beside
	settling         []settlement
	returning        []returned
	// chosen are the collections that lines of this file were found to speak of.
	chosen map[pick]bool
	// bookedLate is when lines of this file have booked the money of collections, where that was after their due date.
	bookedLate map[uuid.UUID]string
	// besides are the other gateways with the same bank account, nil before they were looked for.
	besides []*Account
	now     time.Time
	// along is written with what a line is found to mean, nil for nothing.
	along func(*store.Tx)
}

func (b *Banking) readOne(ctx context.Context, account *Account, member iso20022.Member, how reader) (Reading, error) {
	r := &reader{
		Banking: b, ctx: ctx, account: account, isDryRun: how.isDryRun, isAgain: how.isAgain, reading: Reading{Name: label(member.Name)},
		chosen: map[pick]bool{}, bookedLate: map[uuid.UUID]string{}, now: b.Checkout.Clock.Now(),
	}
	hash, err := r.pass(member, io.Discard)
	if err != nil {
		return r.reading, err
	}
	r.statement = store.BankStatement{
		ID: payment.NewID(), TenantID: account.Setup.Tenant.ID, GatewayID: account.ID, Name: r.reading.Name, ContentHash: hash,
		State: store.BankStatementReading,
	}
	isRead, err := r.begin(member)
	if err != nil || isRead {
		return r.reading, err
	}
	return r.reading, r.end(r.readLines(member))
}

// pass reads the file once to its end, and gives the hash of its bytes.
func (r *reader) pass(member iso20022.Member, to io.Writer) (string, error) {
	content, err := member.Open()
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	_, err = io.Copy(io.MultiWriter(hash, to), content)
	return hex.EncodeToString(hash.Sum(nil)), errors.Join(err, content.Close())
}

// readLines tells this reader what the file says. Bytes that are others than those that were kept mean that somebody is
// still writing it: it is read again.
func (r *reader) readLines(member iso20022.Member) error {
	content, err := member.Open()
	if err != nil {
		return failure{err}
	}
	hash := sha256.New()
	err = iso20022.Read(io.TeeReader(content, hash), iso20022.Visitor{Status: r.status, Entry: r.entry})
	if _, isOurs := errors.AsType[failure](err); isOurs {
		r.items = nil
	}
	err = errors.Join(err, r.flush())
	if err = errors.Join(err, wrap(content.Close())); err == nil && hex.EncodeToString(hash.Sum(nil)) != r.statement.ContentHash {
		err = failure{place.ErrChanged}
	}
	return err
}

// begin keeps the file's bytes before anything is done with them, and tells whether they were read before. Bytes whose
// reading has not ended are read anew: whoever began may have died, and if not, both come to the same. So are all while the
// account waits after a restore: the file that they speak of may have been taken in since.
func (r *reader) begin(member iso20022.Member) (isRead bool, err error) {
	restoredTo, err := r.RestoredTo(r.ctx, r.account)
	if err != nil {
		return false, err
	}
	for {
		known, err := r.tenant(r.account).BankStatementByHash(r.ctx, r.account.ID, r.statement.ContentHash)
		switch {
		case err == nil && known.State != store.BankStatementReading && restoredTo.IsZero() && !r.isAgain:
			r.reading.ID, r.reading.Counts.Known, r.reading.Problem = known.ID, known.LineCount, known.Problem
			return true, nil
		case err == nil:
			known.State, known.Problem = store.BankStatementReading, ""
			known.LineCount = 0
			r.statement = known
		case payment.KindOf(err) != payment.NotFound:
			return false, err
		}
		r.reading.ID = r.statement.ID
		if r.isDryRun {
			return false, nil
		}
		err = r.store().Write(r.ctx, r.now, func(tx *store.Tx) error {
			tx.PutBankStatement(r.statement)
			return nil
		})
		if err == nil {
			return false, r.keep(member)
		}
		if !store.ReadByAnother(err) {
			return false, err
		}
	}
}

// keep keeps the file's bytes in parts.
func (r *reader) keep(member iso20022.Member) error {
	bind := func(number int) vault.Binding { return store.BindBankStatement(r.statement, number) }
	out := &parts{Banking: r.Banking, ctx: r.ctx, now: r.now, bind: bind, keep: func(tx *store.Tx, number int, sealed string) {
		tx.Relax() // whatever follows from it brings it to the disk
		tx.AddBankStatementPart(r.statement, number, sealed)
	}}
	if _, err := r.pass(member, out); err != nil {
		return err
	}
	return out.flush()
}

// Answered writes the very bytes of an answer that was taken in for somebody, who is noted.
func (b *Banking) Answered(ctx context.Context, statement store.BankStatement, out io.Writer) error {
	deed := store.Deed{Action: "bank_statement.download", ObjectType: "bank_statement", ObjectID: statement.ID.String(), TenantID: statement.TenantID}
	if err := b.store().Note(ctx, deed); err != nil {
		return err
	}
	size, err := b.writeParts(out, func(number int) (string, vault.Binding, error) {
		sealed, err := b.store().Tenant(statement.TenantID).BankStatementPart(ctx, statement, number)
		return sealed, store.BindBankStatement(statement, number), err
	})
	if err == nil && size == 0 {
		err = errors.New("its bytes are not kept any more")
	}
	return err
}

// failure is an error of ours, which leaves the file to be read again; all others are the file's own.
type failure struct{ error }

func (f failure) Unwrap() error { return f.error }

// end writes down how the reading went. What was understood before a fault stands: each line was true on its own.
func (r *reader) end(err error) error {
	if ours, isOurs := errors.AsType[failure](err); isOurs {
		return ours.error
	}
	r.statement.State = store.BankStatementRead
	if err != nil {
		r.statement.State, r.statement.Problem = store.BankStatementFailed, err.Error()
		r.reading.Problem = err.Error()
	}
	if open := r.reading.Counts.Unmatched; open > 0 && !r.isDryRun {
		r.Logger.ErrorContext(r.ctx, "lines of a bank's answer match nothing and need a person", "gateway_id", r.account.ID,
			"statement_id", r.statement.ID, "lines", open)
	}
	if r.isDryRun {
		return nil
	}
	// The file counts as read last: whoever dies before leaves it to be read again, and what it explains with it.
	if err := r.lookAgain(); err != nil {
		return err
	}
	if err := r.store().SettleBankFiles(r.ctx, r.now, r.statement.TenantID, r.account.ID); err != nil {
		return err
	}
	return r.store().Write(r.ctx, r.now, func(tx *store.Tx) error {
		tx.EndBankStatement(r.statement)
		return nil
	})
}

// openLines bounds how many open lines are read at a time.
const openLines = 200

// lookAgain takes up bookings of many payments that did not come to their sum when they were read: the refusals that
// explain it may have come later. Banks send their files in any order.
func (r *reader) lookAgain() error {
	after := uuid.Nil
	for {
		open, err := r.tenant(r.account).OpenBankLines(r.ctx, r.account.ID, after, openLines)
		if err != nil || len(open) == 0 {
			return err
		}
		for _, line := range open {
			isOfMany := line.TransactionID == nil && strings.HasPrefix(line.Reference, place.MessagePrefix)
			if isOfMany && (line.Kind == string(iso20022.Collected) || line.Kind == string(iso20022.Transferred)) {
				if err := r.lookAgainAt(line); err != nil {
					return err
				}
			}
			after = line.ID
		}
	}
}

func (r *reader) lookAgainAt(line store.BankLine) error {
	before := line.Result
	err := r.batch(line.Reference, line.Reference, line.AmountMinor, &line)
	if ours, isOurs := errors.AsType[failure](err); isOurs {
		return ours.error
	}
	if line.IsOpen() {
		return nil
	}
	line.Note = ""
	err = r.store().Write(r.ctx, r.now, func(tx *store.Tx) error {
		tx.AssignBankLine(before, line)
		return nil
	})
	if errors.Is(err, store.ErrBankLineTaken) {
		return nil
	}
	return err
}

// Receive reads what an account's bank has put into its place, and takes it away.
func (b *Banking) Receive(ctx context.Context, account *Account) (readings []Reading, err error) {
	err = b.withPlace(ctx, account, func(p place.Place) error {
		names, err := p.Answers()
		if err != nil {
			return err
		}
		var failed error
		for _, name := range names {
			read, err := b.receiveOne(ctx, account, p, name)
			readings = append(readings, read...)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil { // the answers behind it may be what matters
				failed = errors.Join(failed, fmt.Errorf("%s: %w", label(name), err))
			}
		}
		return failed
	})
	return readings, err
}

// receiveOne reads one answer and takes it away.
func (b *Banking) receiveOne(ctx context.Context, account *Account, p place.Place, name string) ([]Reading, error) {
	if err := b.removeKnown(account, p, name); err != nil {
		return nil, err
	}
	content, fetched, err := p.Fetch(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // another process has read it and taken it away
	}
	if err != nil {
		return nil, err
	}
	read, err := b.ReadFile(ctx, account, name, content, false)
	if err != nil {
		return read, err
	}
	if err = p.Done(name, fetched, hasProblem(read)); err != nil && fetched.Size() > largeAnswer {
		b.stays.Store(placeOf(account, name), stay{fetched, hasProblem(read), b.Checkout.Clock.Now().Add(stayFor)})
	}
	return read, err
}

// ReadFile reads an opened file, and closes it. One that has grown meanwhile is still being written: it is read again.
func (b *Banking) ReadFile(ctx context.Context, account *Account, name string, file *os.File, isDryRun bool) ([]Reading, error) {
	defer file.Close()
	found, err := file.Stat()
	if err != nil {
		return nil, err
	}
	readings, err := b.Read(ctx, account, name, io.NewSectionReader(file, 0, found.Size()), isDryRun)
	if present, failed := file.Stat(); err == nil && (failed != nil || present.Size() != found.Size()) {
		err = errors.Join(place.ErrChanged, failed)
	}
	return readings, err
}

// LargestAnswer is the largest file of a bank that a person hands in.
const LargestAnswer = 256 << 20

// ErrTooLarge says that more was handed in.
var ErrTooLarge = place.ErrTooLarge

// HandIn keeps a file that a person hands in until it is read.
func HandIn(from io.Reader) (*os.File, error) { return place.Spool(from, LargestAnswer) }

// ReceiveAll reads what banks have put into their places, account by account. One that cannot be reached does not hold up
// the others.
func (b *Banking) ReceiveAll(ctx context.Context) error {
	tenants, err := b.store().Tenants(ctx)
	if err != nil {
		return err
	}
	var accounts []*Account
	var failed error
	for _, tenant := range tenants {
		setup, err := b.Checkout.SetupOf(ctx, tenant.ID)
		if err != nil {
			return err
		}
		for id, found := range setup.Gateways {
			if found.Adapter != bank.Name {
				continue
			}
			account, err := b.AccountOf(ctx, tenant.ID, id)
			switch {
			case err == nil:
				accounts = append(accounts, account)
			case found.Active: // another one may be left half set up, and payments that it has say so by themselves
				failed = errors.Join(failed, err)
			}
		}
	}
	return errors.Join(failed, inLanes(ctx, b, accounts, func(account *Account) error { return b.listen(ctx, account) }))
}

// listen receives what an account's bank has said. After a restore that waits with the account: answers to files which are
// not taken in yet would belong to nothing.
func (b *Banking) listen(ctx context.Context, account *Account) error {
	restoredTo, err := b.RestoredTo(ctx, account)
	if err == nil && restoredTo.IsZero() {
		_, err = b.Receive(ctx, account)
	}
	return err
}

func hasProblem(readings []Reading) bool {
	for _, reading := range readings {
		if reading.Problem != "" {
			return true
		}
	}
	return false
}
