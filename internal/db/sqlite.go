package db

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	sqlitedriver "modernc.org/sqlite"
	sqlitecode "modernc.org/sqlite/lib"

	"sepad/internal/clock"
	"sepad/internal/turn"
)

// writerPragmas make an acknowledged write survive a power cut: WAL with
// synchronous=FULL syncs the log at every commit, which is why units share one.
// The busy timeout is for short commands that run beside the server. What is removed
// or overwritten is blotted out where its page is written anyway: who was erased is not
// to be found between the rows.
var writerPragmas = []string{
	"journal_mode(WAL)", checkpointPragma, "synchronous(FULL)", busyPragma, "foreign_keys(ON)", "secure_delete(FAST)",
}

// logPages is how many pages the log gathers before they are brought into the file, some 32 MB: eight times SQLite's own
// measure. A page that is written in every commit is brought over that much less often, while a commit waits for it.
const logPages = 8000

var checkpointPragma = fmt.Sprintf("wal_autocheckpoint(%d)", logPages)

// readerPragmas keep the read pool from writing by mistake.
var readerPragmas = []string{busyPragma, "query_only(ON)"}

// busyTimeout is how long one process waits for another one's lock on the file.
const busyTimeout = 10 * time.Second

var busyPragma = fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds())

// ownerOnly is the mode of every file with data in it.
const ownerOnly = 0o600

// asItIs has a connection open the file that is there. A pool opens connections whenever
// it needs one, even after it was closed, and would leave an empty file where ours was.
const asItIs = "&mode=rw"

// maxReaders bounds the read pool; each connection has a page cache of its own.
const maxReaders = 4

// sqlite is the engine inside the binary: one writer connection, shared with the
// queue, a pool of readers, and one for what reads at length.
type sqlite struct {
	path    string
	file    os.FileInfo // that was opened
	hadLog  bool        // another process, or one that crashed, had left a log beside the file
	writer  *sql.DB
	readers *sql.DB
	// browsers are for what reads at length, and browsing who has how many of them.
	browsers *sql.DB
	browsing turn.Turns[any]
	queue    *river.Client[*sql.Tx]
	group    *groupCommit
	clock    *sharedClock
	leave    func() // tells others that this process has the file open no longer
}

func openSQLite(ctx context.Context, path string, opts Options) (*sqlite, error) {
	if err := ownFile(path); err != nil {
		return nil, fmt.Errorf("the database file %s cannot be opened: %w", path, err)
	}
	// A link leads to the file: whoever comes by another name meets the same log and the same lock.
	path, err := realPath(path)
	if err != nil {
		return nil, err
	}
	file, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	log, err := os.Stat(path + "-wal")
	hadLog := err == nil && log.Size() > 0
	writer, err := openKeeping(sqliteDSN(path, writerPragmas) + asItIs + "&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	writer.SetMaxOpenConns(1)
	if err := writer.PingContext(ctx); err != nil {
		if hadLog {
			return nil, damaged(path, err)
		}
		return nil, fmt.Errorf("the database file %s cannot be opened: %w", path, err)
	}
	readers, err := openReaders(path, maxReaders)
	if err != nil {
		return nil, err
	}
	browsers, err := openReaders(path, maxBrowsers)
	if err != nil {
		return nil, err
	}
	queue, err := river.NewClient(riversqlite.New(writer), &river.Config{Logger: opts.queueLogger()})
	if err != nil {
		return nil, err
	}
	engine := &sqlite{path: path, file: file, hadLog: hadLog, writer: writer, readers: readers, browsers: browsers, queue: queue, leave: func() {}}
	if opts.Name == "" { // who has one asks for the others, and is none of them
		if engine.leave, err = engine.holdOpen(syscall.LOCK_SH); err != nil {
			return nil, err
		}
	}
	engine.clock = &sharedClock{read: opts.Clock}
	if opts.Clock == nil {
		engine.clock.read = clock.Steady
	}
	among, err := engine.openTurns()
	if err != nil {
		return nil, err
	}
	engine.group = newGroupCommit(writer, queue, engine.clock, engine.intact, among)
	return engine, nil
}

// openReaders gives a pool of so many connections that read.
func openReaders(path string, most int) (*sql.DB, error) {
	readers, err := openKeeping(sqliteDSN(path, readerPragmas) + asItIs)
	if err != nil {
		return nil, err
	}
	readers.SetMaxOpenConns(most)
	readers.SetMaxIdleConns(most)
	return readers, nil
}

// ErrReplaced tells that the database's file is no longer the one that was opened: what is written goes where nobody
// will find it.
var ErrReplaced = errors.New("the database file was removed or replaced while it was in use")

func (s *sqlite) intact() error {
	if now, err := os.Stat(s.path); err != nil || !os.SameFile(now, s.file) {
		return fmt.Errorf("%w: %s", ErrReplaced, s.path)
	}
	return nil
}

// ownFile makes sure that the file is there and nobody but its owner can read it,
// whatever the umask. SQLite gives the files beside it (-wal, -shm) the same mode.
func ownFile(path string) error {
	if err := cmp.Or(checkName(path), checkNoDraft(path)); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, ownerOnly)
	if err != nil {
		return err
	}
	if err := errors.Join(checkDatabase(file), file.Close()); err != nil {
		return err
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if beside, err := os.Lstat(path + suffix); err == nil && suffix != "" && !beside.Mode().IsRegular() {
			continue // it leads elsewhere, and SQLite does not follow it
		}
		if err := os.Chmod(path+suffix, ownerOnly); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// realPath is where a path leads. It is absolute, for SQLite takes some names for no file at all.
func realPath(path string) (string, error) {
	path, err := filepath.EvalSymlinks(path)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	return path, cmp.Or(err, checkName(path))
}

// besideSuffixes end the names of what SQLite puts beside a database.
var besideSuffixes = []string{"-wal", "-shm", "-journal"}

// checkName refuses a name by which SQLite would keep nothing, or find a log in place of a database.
func checkName(path string) error {
	if filepath.Base(path) == ":memory:" {
		return errors.New("SQLite takes this name for a database in memory, which is gone with the process: give the path of a file")
	}
	for _, suffix := range besideSuffixes {
		if strings.HasSuffix(path, suffix) {
			return fmt.Errorf("SQLite names what it puts beside a database with %s at the end: give the database another name", suffix)
		}
	}
	return nil
}

// checkDatabase refuses what is neither empty nor a database. Its rights are none of ours: whoever mistypes the address would take
// /dev/null or /etc/hosts away from everybody on the machine. And SQLite writes over a file of a few bytes.
func checkDatabase(file *os.File) error {
	found, err := file.Stat()
	if err != nil {
		return err
	}
	if !found.Mode().IsRegular() {
		return errors.New("it is no regular file")
	}
	const begin = "SQLite format 3\x00"
	head := make([]byte, len(begin))
	n, err := file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if n > 0 && string(head) != begin {
		return errors.New("it is no SQLite database")
	}
	return nil
}

func sqliteDSN(path string, pragmas []string) string {
	query := url.Values{"_pragma": pragmas}
	return (&url.URL{Scheme: "file", Opaque: url.PathEscape(path), RawQuery: query.Encode()}).String()
}

func (s *sqlite) write(ctx context.Context, at time.Time, work func(*Tx) error) error {
	return s.group.do(ctx, at, work)
}

func (s *sqlite) query(ctx context.Context, query string, args ...any) (Rows, error) {
	query, args = s.clock.write(query, args)
	result, err := s.readers.QueryContext(ctx, query, args...)
	return sqliteRows{result}, err
}

// lookUp gains nothing from company: there is no way to go to the database.
func (s *sqlite) lookUp(ctx context.Context, query string, args ...any) (Rows, error) {
	return s.query(ctx, query, args...)
}

func (s *sqlite) pool() PoolStats {
	stats := PoolStats{Max: maxReaders + maxBrowsers + 1}
	for _, pool := range []*sql.DB{s.readers, s.browsers, s.writer} {
		of := pool.Stats()
		stats.Open += of.OpenConnections
		stats.InUse += of.InUse
		stats.Waits += of.WaitCount
		stats.Waiting += of.WaitDuration
	}
	return stats
}

func (s *sqlite) close() error {
	s.group.stop()
	defer s.leave()
	defer s.group.turns.leave()
	return errors.Join(s.readers.Close(), s.browsers.Close(), s.writer.Close())
}

// sqliteRows gives database/sql's rows the shape that pgx's have.
type sqliteRows struct{ *sql.Rows }

func (r sqliteRows) Close() { _ = r.Rows.Close() }

func (r sqliteRows) Cells() Cells { return newSQLiteCells(r.Rows) }

// sqliteConversation is one unit's part of the shared transaction.
type sqliteConversation struct {
	tx    *sql.Tx
	queue *river.Client[*sql.Tx]
	clock *sharedClock
}

// run stops at a requirement that is not met: the savepoint takes back the rest.
func (c sqliteConversation) run(ctx context.Context, statements []statement) error {
	for _, s := range statements {
		if s.read != nil {
			if err := c.read(ctx, s); err != nil {
				return err
			}
			continue
		}
		text, args := c.clock.write(s.sql, s.args)
		result, err := c.tx.ExecContext(ctx, text, args...)
		if err != nil {
			return sqliteKeyError(err)
		}
		if touched, _ := result.RowsAffected(); s.none != nil && touched == 0 {
			return s.none
		}
		if s.next.SQL == "" {
			continue
		}
		if _, err := c.tx.ExecContext(ctx, s.next.Separately(), s.args...); err != nil {
			return sqliteKeyError(err)
		}
	}
	return nil
}

func (c sqliteConversation) read(ctx context.Context, s statement) error {
	rows, err := c.query(ctx, s.sql, s.args...)
	if err != nil {
		return sqliteKeyError(err)
	}
	defer rows.Close()
	return s.read(rows)
}

func (c sqliteConversation) query(ctx context.Context, query string, args ...any) (Rows, error) {
	query, args = c.clock.write(query, args)
	result, err := c.tx.QueryContext(ctx, query, args...)
	return sqliteRows{result}, err
}

func (c sqliteConversation) enqueue(ctx context.Context, job Job, notBefore time.Time) error {
	_, err := c.queue.InsertTx(ctx, c.tx, job, &river.InsertOpts{ScheduledAt: notBefore})
	return err
}

// dialect has little to say: the commit is shared with whatever else is written,
// and there is one writer only.
func (c sqliteConversation) dialect() dialect {
	return dialect{rowID: `rowid`, listed: `json_each(PLACE)`}
}

// sqliteKeyError names a broken unique key by our rule for names, since SQLite
// tells its columns only.
func sqliteKeyError(err error) error {
	sqliteErr, ok := errors.AsType[*sqlitedriver.Error](err)
	if !ok {
		return err
	}
	code := sqliteErr.Code()
	if code != sqlitecode.SQLITE_CONSTRAINT_UNIQUE && code != sqlitecode.SQLITE_CONSTRAINT_PRIMARYKEY {
		return err
	}
	_, list, _ := strings.Cut(sqliteErr.Error(), "UNIQUE constraint failed: ")
	list, _, _ = strings.Cut(list, " (")
	var name []string
	for column := range strings.SplitSeq(list, ", ") {
		table, field, _ := strings.Cut(column, ".")
		if len(name) == 0 {
			name = append(name, table)
		}
		if field != "tenant_id" {
			name = append(name, field)
		}
	}
	return &KeyError{Key: strings.Join(name, "_") + "_key"}
}
