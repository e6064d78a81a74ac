//go:build unix

package main

import (
	"context"
	"net/http"
	"os"

	"github.com/jackc/pgx/v5/pgxpool"
)

// copyCommand is the argument with which this program serves pages the shortest
// way there is: PostgreSQL writes the CSV itself, and it is handed on as it
// comes.
const copyCommand = "copy"

// The copy server is told what to serve by its environment.
const (
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
	return http.ListenAndServe(os.Getenv(ownListen), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
	return l.startOwn(ctx, copyCommand, copyDatabase+"="+databaseURL, copyStatement+"="+statement)
}
