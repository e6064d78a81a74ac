package db

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// Begin is told what a copy will hold before its bytes come, and says where to.
type Begin func(Tally) (io.Writer, error)

// Dump copies the database as it is at one moment, while others go on writing. A
// file may be needed on the way; it is nobody else's to read and gone afterwards.
func (d *DB) Dump(ctx context.Context, scratch string, begin Begin) error {
	return d.engine.dump(ctx, scratch, begin)
}

// EngineOf names the engine of an address, as manifests do.
func EngineOf(address string) string {
	if strings.HasPrefix(address, "sqlite:") {
		return "sqlite"
	}
	return "postgres"
}

// dump has SQLite write a compact copy, which is read once it is whole.
func (s *sqlite) dump(ctx context.Context, scratch string, begin Begin) (err error) {
	// A name that begins with file: would be an address to SQLite, which would lead elsewhere.
	if scratch, err = filepath.Abs(scratch); err != nil {
		return err
	}
	file, err := os.OpenFile(scratch, os.O_RDWR|os.O_CREATE|os.O_EXCL, ownerOnly)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close(), os.Remove(scratch)) }()
	source, err := sql.Open("sqlite", sqliteDSN(s.path, []string{busyPragma})+asItIs)
	if err != nil {
		return err
	}
	defer source.Close()
	if _, err := source.ExecContext(ctx, `VACUUM INTO $1`, scratch); err != nil {
		return fmt.Errorf("the copy could not be written: %w", err)
	}
	copied, err := sql.Open("sqlite", sqliteDSN(scratch, readerPragmas)+"&mode=ro&immutable=1")
	if err != nil {
		return err
	}
	defer copied.Close()
	sums, err := tally(ctx, func(ctx context.Context, text string, args ...any) (Rows, error) {
		result, err := copied.QueryContext(ctx, text, args...)
		return sqliteRows{result}, err
	}, s.catalog())
	if err != nil {
		return err
	}
	out, err := begin(sums)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, file)
	return err
}

// dump counts and copies in one snapshot, which pg_dump is given.
func (p *postgres) dump(ctx context.Context, _ string, begin Begin) error {
	return p.snapshot(ctx, func(read reading) error {
		result, err := read(ctx, `SELECT pg_export_snapshot()`)
		snapshot, err := One(result, err, func(r Rows) (id string, err error) { return id, r.Scan(&id) })
		if err != nil {
			return err
		}
		sums, err := tally(ctx, read, p.catalog())
		if err != nil {
			return err
		}
		out, err := begin(sums)
		if err != nil {
			return err
		}
		return p.tool(ctx, nil, out, "pg_dump", "--format=custom", "--no-owner", "--no-privileges", "--snapshot="+snapshot)
	})
}

// tool runs a program of PostgreSQL's on this database. The password does not
// stand on its command line, which everybody on the machine can read.
func (p *postgres) tool(ctx context.Context, in io.Reader, out io.Writer, name string, args ...string) error {
	config := p.connections.Config().ConnConfig
	address, err := toolAddress(config.ConnString())
	if err != nil {
		return err
	}
	return run(ctx, in, out, []string{"PGPASSWORD=" + config.Password}, name, append(args, "--dbname="+address)...)
}

// run has a program of PostgreSQL's do something, and says what it complains of.
func run(ctx context.Context, in io.Reader, out io.Writer, env []string, name string, args ...string) error {
	var complaint bytes.Buffer
	command := exec.CommandContext(ctx, name, args...) //nolint:gosec // G204: programs and options of ours
	command.Env = append(os.Environ(), env...)
	command.Stdin, command.Stdout, command.Stderr = in, out, &complaint
	if err := command.Run(); err != nil {
		first, _, _ := strings.Cut(strings.TrimSpace(complaint.String()), "\n")
		return fmt.Errorf("%s failed (%w): %s", name, err, first)
	}
	return nil
}

// toolAddress is an address as libpq takes it: without the password, and without
// what only our own driver understands.
func toolAddress(address string) (string, error) {
	parsed, err := url.Parse(address)
	if err != nil {
		return "", errors.New("the database address is no URL")
	}
	parsed.User = url.User(parsed.User.Username())
	query := parsed.Query()
	for name := range query {
		if strings.HasPrefix(name, "pool_") || name == "default_query_exec_mode" || name == "statement_cache_capacity" || name == "password" {
			query.Del(name)
		}
	}
	parsed.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20") // libpq takes no plus for a blank
	return parsed.String(), nil
}

// Undump makes a database at an address of what Dump wrote. One that holds
// anything is refused, and so is the log of another one beside the file: SQLite
// would take it for the new file's own. PostgreSQL runs a last statement in the unit
// in which everything appears: nobody finds the database without it.
func Undump(ctx context.Context, address string, in io.Reader, last string) error {
	if path, isFile := strings.CutPrefix(address, "sqlite:"); isFile {
		return undumpFile(path, in)
	}
	p, err := openPostgres(ctx, address, Options{MaxConnections: 2})
	if err != nil {
		return err
	}
	defer p.connections.Close()
	all, err := columns(ctx, p.query, p.catalog())
	if err != nil {
		return fmt.Errorf("the database cannot be used: %w", err)
	}
	if len(all) > 0 {
		return errors.New("the database is not empty: restore into a new one")
	}
	return p.load(ctx, in, last)
}

// load runs what pg_restore makes of a copy, and a last statement, in one transaction.
// One that is cut off is not committed: COMMIT follows when pg_restore has ended well.
func (p *postgres) load(ctx context.Context, in io.Reader, last string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	script, writer := io.Pipe()
	source := &firstError{Reader: in}
	made := make(chan error, 1)
	go func() {
		err := run(ctx, source, writer, nil, "pg_restore", "--no-owner", "--no-privileges", "--file=-")
		err = cmp.Or(source.err, err)
		made <- err                    // before the end is seen: who sees it asks why
		_ = writer.CloseWithError(err) // it never fails
	}()
	statements := io.MultiReader(strings.NewReader("BEGIN;\n"), script, strings.NewReader("\nRESET search_path;\n"+last+"\nCOMMIT;\n"))
	err := p.tool(ctx, statements, io.Discard, "psql", "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1")
	select {
	case fault := <-made:
		return cmp.Or(fault, err)
	default: // psql has ended first
		_ = script.Close()
		cancel()
		<-made
		return err
	}
}

// firstError remembers why a source could not be read, which a program that is fed from
// it cannot say.
type firstError struct {
	io.Reader
	err error
}

func (r *firstError) Read(to []byte) (int, error) {
	n, err := r.Reader.Read(to)
	if err != nil && err != io.EOF && r.err == nil {
		r.err = err
	}
	return n, err
}

// CheckVacant refuses a path at which a database lies, or what one has left, or that is none for a database.
func CheckVacant(path string) error {
	if err := checkName(path); err != nil {
		return err
	}
	for _, suffix := range append([]string{""}, besideSuffixes...) {
		switch _, err := os.Stat(path + suffix); {
		case errors.Is(err, fs.ErrNotExist):
		case errors.Is(err, syscall.ENAMETOOLONG):
			return fmt.Errorf("the name %s is too long for a database, beside which there are files of that name with some letters more: give it a shorter one", path)
		case err != nil:
			return err
		default:
			return fmt.Errorf("%s is in the way: move it elsewhere together with all files of that name (-wal, -shm)", path+suffix)
		}
	}
	return nil
}

// DraftOf is where a database that is restored or moved to a path is made. While it lies there, nobody makes an empty one
// at the path.
func DraftOf(path string) string { return path + ".unfinished" }

// checkNoDraft refuses to make a database where another one is about to have its place.
func checkNoDraft(path string) error {
	_, err := os.Stat(path)
	_, draftErr := os.Stat(DraftOf(path))
	if !errors.Is(err, fs.ErrNotExist) || draftErr != nil {
		return nil
	}
	return fmt.Errorf("a database is being restored or moved there; if that was broken off, do it again or remove %s", DraftOf(path))
}

func undumpFile(path string, in io.Reader) error {
	if err := CheckVacant(path); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, ownerOnly)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, in)
	return errors.Join(err, file.Sync(), file.Close())
}
