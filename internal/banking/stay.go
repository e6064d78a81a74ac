package banking

import (
	"io/fs"
	"time"

	"github.com/google/uuid"

	"sepad/internal/banking/place"
	"sepad/internal/gateway/bank/terms"
)

// An answer that was read and that nobody lets us take away is fetched again in each round, which is nothing for a small
// one. A large one is left there while it is the same file by name, size and time. Servers have been seen that tell no
// time, so that it is looked into once a day all the same.
const (
	largeAnswer = 1 << 20
	stayFor     = 24 * time.Hour
)

// stay is such an answer as it was when it was read, and until when that is believed.
type stay struct {
	fetched  fs.FileInfo
	isFailed bool
	until    time.Time
}

// answerPlace is where an answer lies: an account may be told another place.
type answerPlace struct {
	gatewayID    uuid.UUID
	folder, name string
	server       terms.SFTP
}

func placeOf(account *Account, name string) answerPlace {
	at := answerPlace{gatewayID: account.ID, folder: account.Terms.Folder, name: name}
	if account.Terms.SFTP != nil {
		at.server = *account.Terms.SFTP
	}
	return at
}

// removeKnown tries again to take away what was read, and gives the error where it still lies there.
func (b *Banking) removeKnown(account *Account, p place.Place, name string) error {
	at := placeOf(account, name)
	known, isKnown := b.stays.Load(at)
	if !isKnown {
		return nil
	}
	was, _ := known.(stay)
	if !b.Checkout.Clock.Now().After(was.until) {
		if err := p.Done(name, was.fetched, was.isFailed); err != nil {
			return err
		}
	}
	b.stays.Delete(at) // it is gone, or another one
	return nil
}
