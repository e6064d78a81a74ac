package place

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pkg/sftp"
	"golang.org/x/crypto/ssh"

	"sepad/internal/gateway/bank/terms"
)

// Server is a bank's place across the network.
type Server struct {
	*sftp.Client
	connection *ssh.Client
	meter      *meter
	// user and address are how and where somebody logs in.
	user, address string
	out, in       string
	// forget ends the visit's own clock.
	forget func()
}

const (
	// serverPatience bounds how long a visit at a server may take as a whole, and dialPatience how long it may take to be
	// there at all.
	serverPatience = 5 * time.Minute
	dialPatience   = 30 * time.Second
	// largestListing is more than the names of a hundred thousand files.
	largestListing = 16 << 20
)

// meter breaks a connection over which more comes than can be meant: a list of files is held as a whole, and a server
// that never ends it would take all memory. And one over which nothing comes while the server is waited for.
type meter struct {
	net.Conn
	left      atomic.Int64
	silence   time.Duration
	isWatched atomic.Bool
	// isGivenUp tells that nobody waits for the server any more.
	isGivenUp atomic.Bool
	watchdog  *time.Timer
}

func newMeter(connection net.Conn, silence time.Duration) *meter {
	m := &meter{Conn: connection, silence: silence}
	m.watchdog = time.AfterFunc(silence, func() {
		if m.isWatched.Load() {
			m.giveUp()
		}
	})
	return m
}

// giveUp breaks the connection; whoever reads from it hears of that.
func (m *meter) giveUp() {
	m.isGivenUp.Store(true)
	_ = m.Close()
}

// watch has the server's silence noticed until done: what we do ourselves in between takes as long as it takes.
func (m *meter) watch() (done func()) {
	m.isWatched.Store(true)
	m.watchdog.Reset(m.silence)
	return func() {
		m.isWatched.Store(false)
		m.watchdog.Stop()
	}
}

var errTooMuch = errors.New("the bank's server sends without end")

// allow says how many bytes may come from now on.
func (m *meter) allow(bytes int64) { m.left.Store(bytes) }

func (m *meter) Read(into []byte) (int, error) {
	n, err := m.Conn.Read(into)
	if n > 0 && m.isWatched.Load() {
		m.watchdog.Reset(m.silence)
	}
	if m.left.Add(int64(-n)) < 0 {
		return 0, errors.Join(errTooMuch, m.Close())
	}
	return n, err
}

// Dial logs in at the bank's server, which may say nothing for so long while it is waited for. It must show the key that the operator was told: nobody else gets the files.
func Dial(ctx context.Context, to *terms.SFTP, silence time.Duration) (*Server, error) {
	key, err := os.ReadFile(to.PrivateKeyFile)
	if err != nil {
		return nil, fmt.Errorf("the key for the bank's server cannot be read: %w", err)
	}
	signer, err := ssh.ParsePrivateKey(key)
	if err != nil {
		return nil, errors.New("the key for the bank's server is no private key that can be used without a password")
	}
	hostKey, _, _, _, err := ssh.ParseAuthorizedKey([]byte(to.HostKey))
	if err != nil {
		return nil, errors.New("the host key of the bank's server is no public key")
	}
	address := net.JoinHostPort(to.Host, strconv.Itoa(to.Port))
	dialed, err := (&net.Dialer{Timeout: dialPatience}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	connection := newMeter(dialed, silence)
	defer connection.watch()()
	connection.allow(largestListing)
	forget := stopOnEnd(ctx, connection)
	handshake, channels, requests, err := ssh.NewClientConn(connection, address, &ssh.ClientConfig{
		User: to.User, Auth: []ssh.AuthMethod{ssh.PublicKeys(signer)}, HostKeyCallback: ssh.FixedHostKey(hostKey),
		HostKeyAlgorithms: algorithmsOf(hostKey),
	})
	if err != nil {
		forget()
		return nil, errors.Join(fmt.Errorf("the bank's server does not let us in: %w", err), connection.Close())
	}
	client := ssh.NewClient(handshake, channels, requests)
	files, err := sftp.NewClient(client)
	if err != nil {
		forget()
		return nil, errors.Join(err, client.Close())
	}
	return &Server{Client: files, connection: client, meter: connection, user: to.User, address: address, out: to.Out, in: to.In, forget: forget}, nil
}

// algorithmsOf are by which a server may prove that it has a key. That of RSA's own name is one that servers no longer use.
func algorithmsOf(key ssh.PublicKey) []string {
	if key.Type() == ssh.KeyAlgoRSA {
		return []string{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256}
	}
	return []string{key.Type()}
}

// stopOnEnd breaks a connection whose time is over, so that a server that hangs holds nobody up. Who has left it in time
// says so: it would be kept until then.
func stopOnEnd(ctx context.Context, connection *meter) (forget func()) {
	timed, cancel := context.WithTimeout(ctx, serverPatience)
	stop := context.AfterFunc(timed, connection.giveUp)
	return func() {
		stop()
		cancel()
	}
}

// IsGivenUp tells that nobody waits for the server any more.
func (s *Server) IsGivenUp() bool { return s.meter.isGivenUp.Load() }

// Close ends the connection, and only then what goes over it: that would wait for the server to say goodbye. Whatever was
// done has been confirmed.
func (s *Server) Close() error {
	s.forget()
	return errors.Join(ignoreClosed(s.connection.Close()), ignoreClosed(s.Client.Close()))
}

func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func (s *Server) Put(temporary string, content func(io.Writer) error) error {
	defer s.meter.watch()()
	target := path.Join(s.out, temporary)
	file, err := s.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return fmt.Errorf("the bank's server takes no file: %w", err)
	}
	counted := &counter{out: file}
	if err := errors.Join(content(counted), synced(file), file.Close()); err != nil {
		return err
	}
	found, err := s.Stat(target)
	if err == nil && found.Size() != counted.count {
		err = fmt.Errorf("%d of %d bytes arrived at the bank's server", found.Size(), counted.count)
	}
	return err
}

// synced has a server bring the file to its disk, if it can: a temporary name that is gone means that the file was
// published, and must not mean that the server has lost it.
func synced(file *sftp.File) error {
	err := file.Sync()
	if status, isStatus := errors.AsType[*sftp.StatusError](err); isStatus && status.FxCode() == sftp.ErrSSHFxOpUnsupported {
		return nil
	}
	return err
}

func (s *Server) Publish(temporary, name string) error {
	defer s.meter.watch()()
	from := path.Join(s.out, temporary)
	if _, err := s.Stat(from); errors.Is(err, fs.ErrNotExist) {
		if _, gone := s.Stat(s.out); gone != nil { // then it says nothing about what is missing in it
			return fmt.Errorf("the folder for files is not there: %s", gone.Error())
		}
		return err
	}
	return s.rename(from, path.Join(s.out, name))
}

// rename gives a file its name in one step where the server can. Otherwise OpenSSH makes a second name and takes the first one
// away: one that died in between would be told to publish the file again once the bank has fetched it. A file under both names
// is one that another kind of server has left so, and is published.
func (s *Server) rename(from, to string) error {
	if _, isOffered := s.HasExtension("posix-rename@openssh.com"); isOffered {
		return s.PosixRename(from, to)
	}
	err := s.Rename(from, to)
	if err == nil {
		return nil
	}
	first, failed := s.Stat(from)
	second, gone := s.Stat(to)
	if failed != nil || gone != nil || first.Size() != second.Size() {
		return err
	}
	_ = s.Remove(from) // one that stays is tidied away another day
	return nil
}

func (s *Server) Identity() (string, error) { return s.user + "@" + s.address + s.out, nil }

func (s *Server) Discard(temporary string) error {
	defer s.meter.watch()()
	err := s.Remove(path.Join(s.out, temporary))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (s *Server) Sent() ([]string, error) { return s.pick(s.out, isWhole) }

func (s *Server) FetchSent(name string) (*os.File, error) {
	file, _, err := s.fetch(path.Join(s.out, name))
	return file, err
}

// Answers leaves our own files out, where a bank has one folder for both: they are not ours to take away any more.
func (s *Server) Answers() ([]string, error) {
	names, err := s.pick(s.in, isWhole)
	if err != nil {
		return nil, err
	}
	defer s.meter.watch()()
	return slices.DeleteFunc(names, s.isSent), nil
}

// isSent tells one of our files by its name, its place and how it begins: a bank may call an answer as our file.
func (s *Server) isSent(name string) bool {
	if !IsOurs(name) {
		return false
	}
	sent, err := s.Stat(path.Join(s.out, name))
	if err != nil {
		return false
	}
	found, err := s.Stat(path.Join(s.in, name))
	return err == nil && isSame(found, sent) && s.isOrder(path.Join(s.in, name))
}

// isOrder looks at the beginning of a file, in which an order says that it is one. In a zip nobody can see that.
func (s *Server) isOrder(name string) bool {
	if strings.HasSuffix(name, ".zip") {
		return true
	}
	file, err := s.Open(name)
	if err != nil {
		return false
	}
	defer file.Close()
	const enough = 2 << 10
	begins, _ := io.ReadAll(io.LimitReader(file, enough)) // what can be read of it tells
	return bytes.Contains(begins, []byte("<CstmrDrctDbtInitn>")) || bytes.Contains(begins, []byte("<CstmrCdtTrfInitn>"))
}

func (s *Server) Leftovers() ([]string, error) { return s.pick(s.out, isTemporary) }

// pick gives the files of a folder whose names fit, in order.
func (s *Server) pick(folder string, fits func(name string) bool) (names []string, err error) {
	defer s.meter.watch()()
	s.meter.allow(largestListing)
	entries, err := s.ReadDir(folder)
	for _, entry := range entries {
		if entry.Mode().IsRegular() && fits(entry.Name()) {
			names = append(names, entry.Name())
		}
	}
	slices.Sort(names)
	return names, err
}

func (s *Server) Fetch(name string) (*os.File, fs.FileInfo, error) {
	return s.fetch(path.Join(s.in, name))
}

// fetch brings a file here, with what it was there, and no more of it than it is said to have: one that grows on the way is
// still being written, or never ends.
func (s *Server) fetch(name string) (*os.File, fs.FileInfo, error) {
	defer s.meter.watch()()
	from, err := s.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer from.Close()
	said, err := from.Stat()
	if err != nil {
		return nil, nil, err
	}
	if said.Size() > LargestFetch {
		return nil, nil, ErrTooLarge
	}
	s.meter.allow(2*said.Size() + largestListing)
	file, err := Spool(from, said.Size())
	if errors.Is(err, ErrTooLarge) {
		err = ErrChanged
	}
	if err != nil {
		return nil, nil, err
	}
	there, err := from.Stat()
	here, failed := file.Stat()
	if err = errors.Join(err, failed); err == nil && there.Size() != here.Size() {
		err = ErrChanged
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, there, nil
}

// Done removes an answer from the server. Its bytes are kept here, also of one that could not be read.
func (s *Server) Done(name string, fetched fs.FileInfo, _ bool) error {
	defer s.meter.watch()()
	present, err := s.Stat(path.Join(s.in, name))
	if err == nil && !isSame(present, fetched) {
		return nil // the next look reads it
	}
	if err == nil {
		err = s.Remove(path.Join(s.in, name))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
