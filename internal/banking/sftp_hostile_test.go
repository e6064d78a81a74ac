package banking_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode"

	"github.com/pkg/sftp"

	"sepad/internal/app/apptest"
	"sepad/internal/banking/place"
	"sepad/internal/store"
)

// names is a folder of a server that has any number of files with any names.
type names struct {
	count int64
	name  func(i int64) string
	told  *atomic.Int64
}

func (n names) Filelist(*sftp.Request) (sftp.ListerAt, error) { return n, nil }

func (n names) ListAt(into []os.FileInfo, offset int64) (int, error) {
	for i := range into {
		if offset+int64(i) >= n.count {
			return i, io.EOF
		}
		into[i] = entry(n.name(offset + int64(i)))
		n.told.Add(1)
	}
	return len(into), nil
}

// entry is a file that is as large as it is said to be.
type entry string

func (e entry) Name() string     { return string(e) }
func (entry) Size() int64        { return 3 }
func (entry) Mode() fs.FileMode  { return 0o600 }
func (entry) ModTime() time.Time { return time.Unix(1_700_000_000, 0) }
func (entry) IsDir() bool        { return false }
func (entry) Sys() any           { return nil }

// refusals are a server's that gives the same three bytes as every file, and lets nobody change anything.
type refusals struct{ words string }

func (refusals) Fileread(*sftp.Request) (io.ReaderAt, error) { return strings.NewReader("<a>"), nil }
func (r refusals) Filewrite(*sftp.Request) (io.WriterAt, error) {
	return nil, fmt.Errorf("%s", r.words)
}
func (r refusals) Filecmd(*sftp.Request) error { return fmt.Errorf("%s", r.words) }

// TestAServerThatListsWithoutEnd has a bank's server name more files than there can be: what is held of them is bounded.
func TestAServerThatListsWithoutEnd(t *testing.T) {
	t.Parallel()
	server := newBankServer(t)
	var told atomic.Int64
	const all = 3_000_000
	list := names{all, func(i int64) string { return fmt.Sprintf(".%d-%s", i, strings.Repeat("n", 60)) }, &told} // hidden ones are not fetched
	server.answers = &sftp.Handlers{FileGet: refusals{}, FilePut: refusals{}, FileCmd: refusals{}, FileList: list}
	b := setup(t, apptest.SQLite(t, apptest.Options{}), server.settings(server.hostKey.PublicKey()))
	if _, err := b.App.Banking.Receive(t.Context(), b.account); err == nil {
		t.Error("it is believed")
	}
	if told.Load() > all/10 {
		t.Errorf("%d names were taken", told.Load())
	}
}

// TestNamesOfAServer has it give files the names of others, and names that no database or terminal takes.
func TestNamesOfAServer(t *testing.T) {
	t.Parallel()
	strange := []string{"../../etc/passwd", "/etc/passwd", "a\x00b", "\x1b[2J\x1b]0;owned\x07.xml", "\xff\xfe.xml", "line\nbreak.xml", strings.Repeat("x", 5000)}
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		server := newBankServer(t)
		list := names{int64(len(strange)), func(i int64) string { return strange[i] }, new(atomic.Int64)}
		server.answers = &sftp.Handlers{FileGet: refusals{}, FilePut: refusals{}, FileCmd: refusals{words: "no\x00\x1b[31m"}, FileList: list}
		b := setup(t, s, server.settings(server.hostKey.PublicKey()))
		readings, err := b.App.Banking.Receive(t.Context(), b.account)
		if err == nil || strings.ContainsFunc(err.Error(), unicode.IsControl) || len(err.Error()) > 10_000 {
			t.Errorf("the server's refusal is told as %q", err)
		}
		if len(readings) != len(strange) {
			t.Errorf("%d of %d files were looked at: %+v", len(readings), len(strange), readings)
		}
		for _, reading := range readings {
			if strings.ContainsFunc(reading.Name, unicode.IsControl) || reading.Problem == "" {
				t.Errorf("kept as %q: %s", reading.Name, reading.Problem)
			}
		}
	})
}

// TestWordsOfAServer has whoever answers in the bank's place, which needs no key, say goodbye with words that no database
// and no terminal should get.
func TestWordsOfAServer(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		address, greeted := farewell(t)
		server := newBankServer(t)
		server.address = address
		b := setup(t, s, server.settings(server.hostKey.PublicKey()), "max_entries: 1")
		for range 3 {
			b.pay(t, apptest.Approved)
		}
		now := b.account.Terms.NextCutOff(b.Now(t))
		_, err := b.App.Banking.Collect(t.Context(), b.account, now, now)
		must(t, err)
		if _, err := b.App.Banking.Deliver(t.Context(), now); err != nil {
			t.Errorf("why a file stays cannot be written down: %v", err)
		}
		for _, file := range b.files(t) {
			if file.State != store.BankFileWritten || !strings.Contains(file.Problem, "closed") || strings.ContainsFunc(file.Problem, unicode.IsControl) || len(file.Problem) > 1100 {
				t.Errorf("%s, with the problem %q", file.State, file.Problem)
			}
		}
		if asked := greeted.Load(); asked != 1 {
			t.Errorf("a server that lets nobody in was asked %d times for %d files", asked, len(b.files(t)))
		}
	})
}

// farewell answers in a server's place with nothing but a goodbye, and counts to whom.
func farewell(t *testing.T) (*net.TCPAddr, *atomic.Int64) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	var greeted atomic.Int64
	words := append([]byte("SSH-2.0-bank\r\n"), goodbye("closed\x00\x1b]0;owned\x07"+strings.Repeat("!", 20_000))...)
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			greeted.Add(1)
			_, _ = connection.Write(words)
			_ = connection.Close()
		}
	}()
	return listener.Addr().(*net.TCPAddr), &greeted
}

// goodbye is SSH's message that ends a connection before it has begun.
func goodbye(words string) []byte {
	payload := []byte{1, 0, 0, 0, 2}
	payload = append(binary.BigEndian.AppendUint32(payload, uint32(len(words))), words...)
	payload = append(payload, 0, 0, 0, 0)
	const block, least = 8, 4
	padding := block - (5+len(payload))%block
	if padding < least {
		padding += block
	}
	packet := binary.BigEndian.AppendUint32(nil, uint32(1+len(payload)+padding))
	packet = append(append(packet, byte(padding)), payload...)
	return append(packet, make([]byte, padding)...)
}

// endless is a server's only file: it is said to have so many bytes, and gives them without end.
type endless struct {
	refusals
	said  int64
	given *atomic.Int64
}

func (e endless) Fileread(*sftp.Request) (io.ReaderAt, error)   { return e, nil }
func (e endless) Filelist(*sftp.Request) (sftp.ListerAt, error) { return e, nil }
func (e endless) Name() string                                  { return "answer.xml" }
func (e endless) Size() int64                                   { return e.said }
func (endless) Mode() fs.FileMode                               { return 0o600 }
func (endless) ModTime() time.Time                              { return time.Unix(1_700_000_000, 0) }
func (endless) IsDir() bool                                     { return false }
func (endless) Sys() any                                        { return nil }
func (e endless) ReadAt(into []byte, _ int64) (int, error) {
	e.given.Add(int64(len(into)))
	return len(into), nil
}
func (e endless) ListAt(into []os.FileInfo, at int64) (int, error) {
	if at > 0 {
		return 0, io.EOF
	}
	into[0] = e
	return 1, io.EOF
}

// TestAFileOfAServerThatNeverEnds is neither read to the measure of all files nor into memory, whatever its size is said to be.
func TestAFileOfAServerThatNeverEnds(t *testing.T) {
	t.Parallel()
	const packets = 4 << 20
	for name, c := range map[string]struct {
		said, most int64
		want       error
	}{
		"small, and growing": {100_000, 100_000 + packets, place.ErrChanged},
		"beyond all measure": {place.LargestFetch + 1, 0, place.ErrTooLarge},
		"larger than can be": {1 << 62, 0, place.ErrTooLarge},
		"less than nothing":  {-1, packets, place.ErrChanged},
		"empty, and growing": {0, packets, place.ErrChanged},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newBankServer(t)
			file := endless{said: c.said, given: new(atomic.Int64)}
			server.answers = &sftp.Handlers{FileGet: file, FilePut: file, FileCmd: file, FileList: file}
			b := setup(t, apptest.SQLite(t, apptest.Options{}), server.settings(server.hostKey.PublicKey()))
			for range 2 {
				if _, err := b.App.Banking.Receive(t.Context(), b.account); !errors.Is(err, c.want) {
					t.Errorf("it gives %v, want %v", err, c.want)
				}
			}
			if given := file.given.Load(); given > 2*c.most {
				t.Errorf("%d bytes were read", given)
			}
		})
	}
}

// keptFile is a server's only file, which nobody may remove.
type keptFile struct {
	endless
	at *atomic.Int64
}

func (k keptFile) Filelist(*sftp.Request) (sftp.ListerAt, error) { return k, nil }
func (k keptFile) Fileread(*sftp.Request) (io.ReaderAt, error)   { return k, nil }
func (k keptFile) ModTime() time.Time                            { return time.Unix(k.at.Load(), 0) }
func (k keptFile) ListAt(into []os.FileInfo, at int64) (int, error) {
	n, err := k.endless.ListAt(into, at)
	if n > 0 {
		into[0] = k
	}
	return n, err
}

func (k keptFile) ReadAt(into []byte, at int64) (int, error) {
	n := int(min(int64(len(into)), max(k.said-at, 0)))
	if k.given.Add(int64(n)); n < len(into) {
		return n, io.EOF
	}
	return n, nil
}

// TestALargeAnswerThatStaysIsFetchedOnce: nobody may remove it, and a round would take as long as it takes to fetch it. When it
// is another file it is read.
func TestALargeAnswerThatStaysIsFetchedOnce(t *testing.T) {
	t.Parallel()
	server := newBankServer(t)
	file := keptFile{endless{said: 3 << 20, given: new(atomic.Int64)}, new(atomic.Int64)}
	server.answers = &sftp.Handlers{FileGet: file, FilePut: file, FileCmd: file, FileList: file}
	s := apptest.SQLite(t, apptest.Options{})
	b := setup(t, s, server.settings(server.hostKey.PublicKey()))
	fetched := func(when string, want int64) {
		t.Helper()
		file.given.Store(0)
		for range 3 {
			if _, err := b.App.Banking.Receive(t.Context(), b.account); err == nil {
				t.Errorf("%s: nobody is told that the file stays", when)
			}
		}
		if given := file.given.Load(); given < want*file.said || given > want*file.said+file.said/2 {
			t.Errorf("%s: %d bytes of a file of %d were fetched in three rounds", when, given, file.said)
		}
	}
	fetched("at first", 1)
	fetched("afterwards", 0)
	file.at.Add(1)
	fetched("another file", 1)
	s.Advance(t, 25*time.Hour)
	fetched("a day later", 1)
}
