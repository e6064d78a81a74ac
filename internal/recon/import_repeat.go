package recon

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"time"

	"sepad/internal/payment"
	"sepad/internal/store"
)

// importSilence is after how long an import that says nothing has died with its
// process. One that lives says how far it has come after every batch.
const importSilence = 10 * time.Minute

// digested reads a file and keeps the sum of all that was read, so that a file of
// any size can be told from another one without being held.
type digested struct {
	io.Reader
	sum hash.Hash
}

// digest begins with what the form says beside the file.
func digest(file io.Reader, form string) *digested {
	sum := sha256.New()
	_, _ = io.WriteString(sum, form+"\n") // a sum takes everything
	return &digested{io.TeeReader(file, sum), sum}
}

func (d *digested) String() string { return hex.EncodeToString(d.sum.Sum(nil)) }

// repeated finds the import that an earlier request under the same key has made,
// nil where there was none. The file of a repeat is read to its end to tell
// whether it is the same.
func (im *Importer) repeated(ctx context.Context, req ImportRequest, file *digested) (*store.Import, error) {
	made, err := im.Store.Remembered(ctx, req.Key)
	if err != nil || made == nil {
		return nil, err
	}
	known, err := im.Store.Tenant(req.TenantID).Import(ctx, made.ID)
	switch {
	case payment.KindOf(err) == payment.NotFound:
		return nil, store.ErrOtherRequest
	case err != nil:
		return nil, err
	case known.Status == store.ImportRunning && known.UpdatedAt.Add(importSilence).After(req.Key.At):
		return nil, store.ErrRequestRunning
	case known.Status == store.ImportRunning:
		return nil, im.Store.Write(ctx, req.Key.At, func(tx *store.Tx) error {
			tx.Forget(req.Key)
			return nil
		})
	}
	if _, err := io.Copy(io.Discard, file); err != nil {
		return nil, err
	}
	if file.String() != made.RequestHash {
		return nil, store.ErrOtherRequest
	}
	return &known, nil
}
