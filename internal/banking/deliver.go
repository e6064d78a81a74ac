package banking

import (
	"archive/zip"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"sepad/internal/banking/place"
	"sepad/internal/iso20022"
	"sepad/internal/payment"
	"sepad/internal/store"
)

// usualSilence is how long a server may say nothing while it is waited for: one that hangs is tried again later.
const usualSilence = time.Minute

// errAway tells that a server let nobody in, or was not waited for any longer. Whatever else is for it waits too.
var errAway = errors.New("the bank's server cannot be used")

// withPlace opens the account's place for as long as work lasts.
func (b *Banking) withPlace(ctx context.Context, account *Account, work func(place.Place) error) error {
	if account.Terms.SFTP == nil {
		return work(place.Folder{Path: account.Terms.Folder})
	}
	leave, err := b.enter(ctx, account.Terms.SFTP)
	if err != nil {
		return err
	}
	defer leave()
	server, err := place.Dial(ctx, account.Terms.SFTP, cmp.Or(b.Silence, usualSilence))
	if err != nil {
		return foreign{errors.Join(errAway, err)}
	}
	// What a server may answer is more than the library for it expects.
	err = errors.Join(b.survive(ctx, func() error { return work(server) }), server.Close())
	switch {
	case err == nil:
		return nil
	case server.IsGivenUp():
		return foreign{errors.Join(errAway, err)}
	default:
		return foreign{err}
	}
}

// foreign is an error with words of a stranger's server in it, as they can be kept and shown.
type foreign struct{ error }

// longestWords is how much of them is.
const longestWords = 1000

func (f foreign) Error() string {
	text := label(strings.ReplaceAll(f.error.Error(), "\n", ": "))
	if short := iso20022.Shorten(text, longestWords); short != text {
		return short + "…"
	}
	return text
}

func (f foreign) Unwrap() error { return f.error }

// Deliver puts every file that waits where its bank fetches it, and says how many were. One that cannot be delivered
// stays, says why, and does not hold up the others: a server that hangs is waited for once.
func (b *Banking) Deliver(ctx context.Context, now time.Time) (delivered int, failed error) {
	waiting, err := b.store().BankFilesWaiting(ctx)
	if err != nil {
		return 0, err
	}
	var all atomic.Int64
	failed = inLanes(ctx, b, byAccount(waiting), func(files []store.BankFile) error {
		done, err := b.deliverAll(ctx, files, now)
		all.Add(int64(done))
		return err
	})
	return int(all.Load()), failed
}

// byAccount puts files together that go to one place, in their order.
func byAccount(files []store.BankFile) [][]store.BankFile {
	of := map[uuid.UUID][]store.BankFile{}
	for _, file := range files {
		of[file.GatewayID] = append(of[file.GatewayID], file)
	}
	return slices.Collect(maps.Values(of))
}

// deliverAll takes the files of one account the rest of their way.
func (b *Banking) deliverAll(ctx context.Context, files []store.BankFile, now time.Time) (delivered int, failed error) {
	var away error
	for _, file := range files {
		err := away
		if err == nil {
			err = b.deliver(ctx, &file, now)
		}
		switch {
		case errors.Is(err, errUnproven): // it waits with its account
		case err == nil:
			delivered++
		case !errors.Is(err, store.ErrStale): // else another process is at it
			b.Logger.ErrorContext(ctx, "a bank file cannot be delivered", "file_id", file.ID, "gateway_id", file.GatewayID, "error", err)
			failed = errors.Join(failed, b.note(ctx, file, err, now))
		}
		if errors.Is(err, errAway) {
			away = err
		}
	}
	return delivered, failed
}

// deliver takes one file the rest of its way. Each try has a temporary name of its own, and which one is to be published
// is written down before it is: of two processes one wins, and after a crash a temporary name that is gone from its place
// proves that the file was published. Nothing is put there twice.
func (b *Banking) deliver(ctx context.Context, file *store.BankFile, now time.Time) error {
	account, err := b.AccountOf(ctx, file.TenantID, file.GatewayID)
	if err != nil {
		return err
	}
	restoredTo, err := b.RestoredTo(ctx, account)
	if err == nil && !restoredTo.IsZero() {
		err = errUnproven
	}
	if err != nil {
		return err
	}
	return b.withPlace(ctx, account, func(p place.Place) error {
		name := deliveredName(account, *file)
		if file.State == store.BankFileWritten {
			if err := b.tidy(ctx, p); err != nil {
				return err
			}
			if err := b.put(ctx, account, p, file, now); err != nil {
				return err
			}
		}
		err := p.Publish(file.TemporaryName, name)
		if errors.Is(err, fs.ErrNotExist) {
			err = wasPublished(p, file.TemporaryName, name)
		}
		if err != nil {
			return err
		}
		return b.sent(ctx, account, file, now)
	})
}

// wasPublished tells whether a file whose temporary name is gone was published before, and may have been fetched since.
// At another place than the one where it was put its absence proves nothing: the account may have got another folder or
// server since, or a disk is not there.
func wasPublished(p place.Place, temporary, name string) error {
	here, err := markOf(p)
	if there := putAt(temporary); err != nil || there == "" || there == here {
		return err
	}
	names, err := p.Sent()
	if err != nil || slices.ContainsFunc(names, func(sent string) bool { return path.Base(sent) == name }) {
		return err
	}
	return fmt.Errorf("the file was put where the account had its place before, as %s, and nobody knows whether the bank has fetched it there: "+
		"lay it into the present one by that name to have it sent, or as %s if the bank has it", temporary, name)
}

// markOf is by what temporary names tell the place at which they were made.
func markOf(p place.Place) (string, error) {
	const enough = 8
	identity, err := p.Identity()
	sum := sha256.Sum256([]byte(identity))
	return hex.EncodeToString(sum[:enough]), err
}

// putAt is the mark of the place at which a temporary name was made, "" for one of an older version.
func putAt(temporary string) string {
	_, mark := place.OfTemporaryName(temporary)
	return mark
}

// sent writes down that a file has left the house. Where that took longer than was planned, silence means something
// later only.
func (b *Banking) sent(ctx context.Context, account *Account, file *store.BankFile, now time.Time) error {
	sent := *file
	sent.State, sent.Problem = store.BankFileSent, ""
	if err := b.store().WaitLonger(ctx, now, sent, account.Terms.SilenceEnds(fileDue(account, sent, now))); err != nil {
		return err
	}
	return b.store().Write(ctx, now, func(tx *store.Tx) error {
		tx.ChangeBankFile(*file, sent)
		return nil
	})
}

// put lays the file's bytes ready and claims its publication.
func (b *Banking) put(ctx context.Context, account *Account, p place.Place, file *store.BankFile, now time.Time) error {
	here, err := markOf(p)
	if err != nil {
		return err
	}
	file.TemporaryName = place.TemporaryName(payment.NewID().String(), here)
	err = p.Put(file.TemporaryName, func(out io.Writer) error {
		if account.Terms.Zip {
			return b.zipped(ctx, *file, out)
		}
		return b.Content(ctx, *file, out)
	})
	if err != nil {
		return errors.Join(err, p.Discard(file.TemporaryName))
	}
	err = b.change(ctx, file, func(file *store.BankFile) { file.State, file.Problem = store.BankFileSending, "" }, now)
	if errors.Is(err, store.ErrStale) {
		// Another process is ahead. After any other error the name may have been written down: it must stay where it is,
		// because one that is gone means that the file was published.
		return errors.Join(err, p.Discard(file.TemporaryName))
	}
	return err
}

// abandonedAfter is when nobody can be at a temporary name any more.
const abandonedAfter = 24 * time.Hour

// tidy takes away what tries have left that died with their process or their server. What is about to get its name stays.
func (b *Banking) tidy(ctx context.Context, p place.Place) error {
	names, err := p.Leftovers()
	if err != nil || len(names) == 0 {
		return err
	}
	waiting, err := b.store().BankFilesWaiting(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		text, _ := place.OfTemporaryName(name)
		id, err := uuid.Parse(text)
		began := time.Unix(id.Time().UnixTime())
		isClaimed := slices.ContainsFunc(waiting, func(f store.BankFile) bool { return f.TemporaryName == name })
		if err != nil || isClaimed || b.Checkout.Real.Now().Sub(began) < abandonedAfter {
			continue
		}
		if err := p.Discard(name); err != nil {
			return err
		}
	}
	return nil
}

func deliveredName(account *Account, file store.BankFile) string {
	if account.Terms.Zip {
		return strings.TrimSuffix(file.Name, ".xml") + ".zip"
	}
	return file.Name
}

// note writes down why a file could not be delivered.
func (b *Banking) note(ctx context.Context, file store.BankFile, why error, now time.Time) error {
	present, err := b.store().Tenant(file.TenantID).BankFile(ctx, file.ID)
	if err != nil || present.State.Left() || present.Problem == why.Error() {
		return err
	}
	err = b.change(ctx, &present, func(file *store.BankFile) { file.Problem = why.Error() }, now)
	if errors.Is(err, store.ErrStale) {
		return nil
	}
	return err
}

// zipped packs a file. It is dated with the file, so that the same file gives the same bytes.
func (b *Banking) zipped(ctx context.Context, file store.BankFile, out io.Writer) error {
	archive := zip.NewWriter(out)
	member, err := archive.CreateHeader(&zip.FileHeader{Name: file.Name, Method: zip.Deflate, Modified: file.CreatedAt.UTC()})
	if err != nil {
		return err
	}
	return errors.Join(b.Content(ctx, file, member), archive.Close())
}
