package banking_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/pkg/sftp"

	"sepad/internal/app/apptest"
	"sepad/internal/store"
)

// halfRenamer stands before a server that renames as OpenSSH does, by a second name and the removal of the first, and has it
// die between the two, once.
type halfRenamer struct {
	io.ReadWriter
	packet bytes.Buffer
	died   *atomic.Bool
	// offers tells that the server can rename in one step.
	offers bool
}

func (r *halfRenamer) Close() error { return nil }

// Write hides what the server can, where it is not to offer it.
func (r *halfRenamer) Write(p []byte) (int, error) {
	if r.offers {
		return r.ReadWriter.Write(p)
	}
	return r.ReadWriter.Write(bytes.ReplaceAll(p, []byte("posix-rename@"), []byte("posix-remake@")))
}

// Read gives what comes, packet by packet, and answers a rename by itself (draft-ietf-secsh-filexfer-02, 6.5).
func (r *halfRenamer) Read(p []byte) (int, error) {
	const headLength, idLength, rename = 5, 4, 18
	for r.packet.Len() == 0 {
		head := make([]byte, headLength)
		if _, err := io.ReadFull(r.ReadWriter, head); err != nil {
			return 0, err
		}
		rest := make([]byte, binary.BigEndian.Uint32(head)-1)
		if _, err := io.ReadFull(r.ReadWriter, rest); err != nil {
			return 0, err
		}
		if head[headLength-1] != rename {
			r.packet.Write(head)
			r.packet.Write(rest)
			continue
		}
		if err := r.rename(rest[:idLength], rest[idLength:]); err != nil {
			return 0, err
		}
	}
	return r.packet.Read(p)
}

// rename makes the second name and ends the connection, or says that there is one.
func (r *halfRenamer) rename(id, names []byte) error {
	const failure = "\x00\x00\x00\x04\x00\x00\x00\x07Failure\x00\x00\x00\x00"
	from, names := name(names)
	to, _ := name(names)
	switch err := os.Link(from, to); {
	case err == nil:
		r.died.Store(true)
		return io.EOF
	case !errors.Is(err, fs.ErrExist):
		return err
	}
	status := append([]byte{101}, id...)
	status = append(status, failure...)
	_, err := r.ReadWriter.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(status))), status...))
	return err
}

// name is the first of the names in a packet, with what comes behind it.
func name(packet []byte) (first string, rest []byte) {
	const length = 4
	end := length + binary.BigEndian.Uint32(packet)
	return string(packet[length:end]), packet[end:]
}

// TestAServerThatDiesWithinARename must not leave a file that is published again once the bank has fetched it.
func TestAServerThatDiesWithinARename(t *testing.T) {
	t.Parallel()
	for what, offers := range map[string]bool{"one that renames in one step": true, "one that does not": false} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			var died atomic.Bool
			server := newBankServer(t)
			server.speak = func(channel io.ReadWriter) {
				if served, err := sftp.NewServer(&halfRenamer{ReadWriter: channel, died: &died, offers: offers}); err == nil {
					_ = served.Serve() // it ends with the client
				}
			}
			b := setup(t, apptest.SQLite(t, apptest.Options{}), server.settings(server.hostKey.PublicKey()))
			b.folder = server.folder
			b.pay(t, apptest.Approved)
			now := b.account.Terms.NextCutOff(b.Now(t))
			_, err := b.App.Banking.Collect(t.Context(), b.account, now, now)
			must(t, err)
			for range 2 {
				_, err := b.App.Banking.Deliver(t.Context(), now)
				must(t, err)
			}
			if died.Load() == offers {
				t.Errorf("the server has died: %v", died.Load())
			}
			if file := b.files(t)[0]; file.State != store.BankFileSent {
				t.Errorf("the file is %s: %s", file.State, file.Problem)
			}
			left, err := os.ReadDir(filepath.Join(b.folder, "out"))
			if must(t, err); len(left) != 1 {
				t.Errorf("there are %v", left)
			}
		})
	}
}
