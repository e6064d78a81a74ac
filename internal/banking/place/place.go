package place

import (
	"io"
	"io/fs"
	"os"
	"strings"
)

// Place is where files for a bank are put and its answers are found: a folder, or the bank's server.
type Place interface {
	Outbox
	Inbox
	// Leftovers lists what lies under temporary names.
	Leftovers() ([]string, error)
	// Identity tells where files are put: at another place it is another one.
	Identity() (string, error)
}

// Outbox takes files under a temporary name first; only Publish gives a file its own, at once and as a whole.
type Outbox interface {
	// Put has content written under a temporary name, and does not return before it is safely there in full.
	Put(temporary string, content func(io.Writer) error) error
	// Publish gives the file its own name. Where the temporary one is not there it gives fs.ErrNotExist.
	Publish(temporary, name string) error
	// Discard takes away what was put and is not to be published.
	Discard(temporary string) error
	// Sent lists what lies where files are put, and has not been fetched or is kept there.
	Sent() ([]string, error)
	FetchSent(name string) (*os.File, error)
}

// Inbox is where the bank's answers are.
type Inbox interface {
	// Answers lists what the bank has put there, by name.
	Answers() ([]string, error)
	// Fetch opens one, and says what lay there.
	Fetch(name string) (*os.File, fs.FileInfo, error)
	// Done takes an answer away that was read, or could not be, if it is still what was fetched: banks use names again.
	Done(name string, fetched fs.FileInfo, failed bool) error
}

// LargestFetch is more than any bank sends at once.
const LargestFetch = 4 << 30

// MessagePrefix begins the ids of our messages, which stand in the names of our files.
const MessagePrefix = "SD-"

// IsOurs tells a file of ours by its name.
func IsOurs(name string) bool { return strings.Contains(name, "-"+MessagePrefix) }

// Temporary names are of an id that tells when the try began, and of a mark of the place.
const (
	temporaryPrefix = "."
	temporaryMark   = "_"
	temporarySuffix = ".part"
)

// TemporaryName is a name under which a file is put.
func TemporaryName(id, mark string) string {
	return temporaryPrefix + id + temporaryMark + mark + temporarySuffix
}

// OfTemporaryName tells what one is made of; the mark is "" in those of an older version.
func OfTemporaryName(name string) (id, mark string) {
	id, mark, _ = strings.Cut(strings.TrimSuffix(strings.TrimPrefix(name, temporaryPrefix), temporarySuffix), temporaryMark)
	return id, mark
}

func isTemporary(name string) bool {
	return strings.HasPrefix(name, temporaryPrefix) && strings.HasSuffix(name, temporarySuffix)
}

// isWhole tells a file that is ready: hidden ones are not yet.
func isWhole(name string) bool { return !strings.HasPrefix(name, temporaryPrefix) }

// isSame tells that a file has not been written since.
func isSame(now, then fs.FileInfo) bool {
	return now.Size() == then.Size() && now.ModTime().Equal(then.ModTime())
}

// counter counts what goes through to out.
type counter struct {
	out   io.Writer
	count int64
}

func (c *counter) Write(content []byte) (int, error) {
	n, err := c.out.Write(content)
	c.count += int64(n)
	return n, err
}
