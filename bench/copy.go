//go:build unix

package main

import (
	"context"
	"net/http"
	"os"
	"path/filepath"

	"github.com/jackc/pgx/v5/pgxpool"
)

// copyCommand is the argument with which this program serves pages the shortest
// way there is: PostgreSQL writes the CSV itself, and it is handed on as it
// comes.
const copyCommand = "copy"

// The copy server is told what to serve by its environment.
const (
	copyListen    = "BENCH_COPY_LISTEN"
	copyDatabase  = "BENCH_COPY_DATABASE"
	copyStatement = "BENCH_COPY_STATEMENT"
)

// serveCopy is the copy server. It knows one page and nobody's key.
func serveCopy() error {
	pool, err := pgxpool.New(context.Background(), os.Getenv(copyDatabase))
	if err != nil {
		return err
	}
	statement := "COPY (" + os.Getenv(copyStatement) + ") TO STDOUT (FORMAT csv)"
	return http.ListenAndServe(os.Getenv(copyListen), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		connection, err := pool.Acquire(r.Context())
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		defer connection.Release()
		w.Header().Set("Content-Type", "text/csv; charset=utf-8")
		if _, err := connection.Conn().PgConn().CopyTo(r.Context(), w, statement); err != nil {
			panic(http.ErrAbortHandler) // a part is not to be taken for the whole
		}
	}))
}

// startCopy starts a copy server.
func (l *lab) startCopy(ctx context.Context, databaseURL, statement string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	folder, err := l.subfolder("copy")
	if err != nil {
		return nil, err
	}
	server, err := startProcess(self, address, filepath.Join(folder, "copy.log"), []string{
		copyListen + "=" + address, copyDatabase + "=" + databaseURL, copyStatement + "=" + statement,
	}, copyCommand)
	if err != nil {
		return nil, err
	}
	_, err = server.awaitReady(ctx, "/")
	return server, err
}
