package banking

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"sepad/internal/payment"
	"sepad/internal/store"
)

// place is where files for a bank are put and its answers are found: a folder, or the bank's server.
type place interface {
	outbox
	inbox
}

// outbox takes files under a temporary name first; only Publish gives a file its own, at once and as a whole.
type outbox interface {
	// Put writes content under a temporary name, and does not return before it is safely there in full.
	Put(temporary string, content []byte) error
	// Publish gives the file its own name. Where the temporary one is gone this was done before, and is no fault.
	Publish(temporary, name string) error
	// Discard takes away what was put and is not to be published.
	Discard(temporary string) error
}

// inbox is where the bank's answers are.
type inbox interface {
	// Answers lists what the bank has put there, by name.
	Answers() ([]string, error)
	Fetch(name string) ([]byte, error)
	// Done takes an answer away that was read, or could not be.
	Done(name string, failed bool) error
}

// withPlace opens the account's place for as long as work lasts.
func withPlace(ctx context.Context, account *Account, work func(place) error) error {
	if account.Terms.SFTP == nil {
		return work(folder{account.Terms.Folder})
	}
	server, err := dial(ctx, account.Terms.SFTP)
	if err != nil {
		return err
	}
	return errors.Join(work(server), server.Close())
}

// Deliver puts every file that waits where its bank fetches it, and says how many were. One that cannot be delivered
// stays, says why, and does not hold up the others.
func (b *Banking) Deliver(ctx context.Context, now time.Time) (delivered int, failed error) {
	waiting, err := b.store().BankFilesWaiting(ctx)
	if err != nil {
		return 0, err
	}
	for _, file := range waiting {
		err := b.deliver(ctx, &file, now)
		switch {
		case err == nil:
			delivered++
		case !errors.Is(err, store.ErrStale): // else another process is at it
			b.Logger.ErrorContext(ctx, "a bank file cannot be delivered", "file_id", file.ID, "gateway_id", file.GatewayID, "error", err)
			failed = errors.Join(failed, b.note(ctx, file, err, now))
		}
	}
	return delivered, failed
}

// deliver takes one file the rest of its way. Each try has a temporary name of its own, and which one is to be published
// is written down before it is: of two processes one wins, and after a crash a temporary name that is gone proves that
// the file was published. Nothing is put there twice.
func (b *Banking) deliver(ctx context.Context, file *store.BankFile, now time.Time) error {
	account, err := b.AccountOf(ctx, file.TenantID, file.GatewayID)
	if err != nil {
		return err
	}
	return withPlace(ctx, account, func(p place) error {
		name := deliveredName(account, *file)
		if file.State == store.BankFileWritten {
			if err := b.put(ctx, account, p, file, now); err != nil {
				return err
			}
		}
		if err := p.Publish(file.TemporaryName, name); err != nil {
			return err
		}
		return b.move(ctx, file, store.BankFileSent, "", now)
	})
}

// put lays the file's bytes ready and claims its publication.
func (b *Banking) put(ctx context.Context, account *Account, p outbox, file *store.BankFile, now time.Time) error {
	content, err := b.Content(ctx, *file)
	if err == nil && account.Terms.Zip {
		content, err = zipped(file.Name, content, file.CreatedAt)
	}
	if err != nil {
		return err
	}
	file.TemporaryName = "." + payment.NewID().String() + ".part"
	err = p.Put(file.TemporaryName, content)
	if err == nil {
		err = b.move(ctx, file, store.BankFileSending, "", now)
	}
	if err != nil {
		return errors.Join(err, p.Discard(file.TemporaryName))
	}
	return nil
}

func deliveredName(account *Account, file store.BankFile) string {
	if account.Terms.Zip {
		return strings.TrimSuffix(file.Name, ".xml") + ".zip"
	}
	return file.Name
}

// move writes where a file stands now.
func (b *Banking) move(ctx context.Context, file *store.BankFile, to store.BankFileState, problem string, now time.Time) error {
	err := b.store().Write(ctx, now, func(tx *store.Tx) error {
		tx.MoveBankFile(*file, to, problem)
		return nil
	})
	if err == nil {
		file.State = to
	}
	return err
}

// note writes down why a file could not be delivered.
func (b *Banking) note(ctx context.Context, file store.BankFile, why error, now time.Time) error {
	present, err := b.store().Tenant(file.TenantID).BankFile(ctx, file.ID)
	if err != nil || present.State == store.BankFileSent {
		return err
	}
	err = b.move(ctx, &present, present.State, why.Error(), now)
	if errors.Is(err, store.ErrStale) {
		return nil
	}
	return err
}

// Content gives the very bytes of a file.
func (b *Banking) Content(ctx context.Context, file store.BankFile) ([]byte, error) {
	sealed, err := b.store().Tenant(file.TenantID).BankFileContent(ctx, file.ID)
	if err != nil {
		return nil, err
	}
	content, err := b.Checkout.Vault.Open(sealed, purposeFile(file.TenantID))
	if err != nil {
		return nil, fmt.Errorf("the bank file %s cannot be read: %w", file.ID, err)
	}
	return content, nil
}

// zipped packs a file. It is dated with the file, so that the same file gives the same bytes.
func zipped(name string, content []byte, at time.Time) ([]byte, error) {
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	member, err := archive.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: at.UTC()})
	if err == nil {
		_, err = member.Write(content)
	}
	return out.Bytes(), errors.Join(err, archive.Close())
}
