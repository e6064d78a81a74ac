//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgxpool"
)

// memoryCommand is the argument with which this program gives one answer to
// everybody: the least that a server in Go can do.
const memoryCommand = "memory"

const (
	// memoryAnswer names the file with the answer, as it goes over the wire.
	memoryAnswer = "BENCH_MEMORY_ANSWER"
	// memoryDatabase and memoryAsks are what is asked before each answer, where anything is.
	memoryDatabase = "BENCH_MEMORY_DATABASE"
	memoryAsks     = "BENCH_MEMORY_ASKS"
)

// bareAsk is a statement that is made before each answer, about one after the other.
type bareAsk struct {
	Statement string
	About     [][]string
	// about and from are what they are, as columns of a table.
	about, from string
}

// serveMemory is the server. It has the answer, headers and all, before anybody asks.
func serveMemory() error {
	file, err := os.Open(os.Getenv(memoryAnswer))
	if err != nil {
		return err
	}
	answer, err := http.ReadResponse(bufio.NewReader(file), nil)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(answer.Body)
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	answer.Header.Del("Date") // the server writes its own
	ask, err := openAsks(context.Background())
	if err != nil {
		return err
	}
	return http.ListenAndServe(os.Getenv(ownListen), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := ask(r.Context()); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		header := w.Header()
		for name, values := range answer.Header {
			header[name] = values
		}
		_, _ = w.Write(body) // who has gone cannot be told so
	}))
}

// openAsks gives what asks the database as often as it is told to, and nothing where there is none.
func openAsks(ctx context.Context) (func(context.Context) error, error) {
	if os.Getenv(memoryDatabase) == "" {
		return func(context.Context) error { return nil }, nil
	}
	var asks []bareAsk
	if err := json.Unmarshal([]byte(os.Getenv(memoryAsks)), &asks); err != nil {
		return nil, err
	}
	config, err := pgxpool.ParseConfig(os.Getenv(memoryDatabase))
	if err != nil {
		return nil, err
	}
	config.MaxConns = connections
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	var turn atomic.Uint32
	return func(ctx context.Context) error {
		n := int(turn.Add(1))
		for _, a := range asks {
			about := a.About[n%len(a.About)]
			args := make([]any, len(about))
			for i, arg := range about {
				args[i] = arg
			}
			rows, err := pool.Query(ctx, a.Statement, args...)
			if err != nil {
				return err
			}
			found := rows.Next()
			rows.Close()
			if err := rows.Err(); err != nil || !found {
				return fmt.Errorf("nothing was found: %w", err)
			}
		}
		return nil
	}, nil
}

// startAlike starts a server that asks the same database and then gives the answer that sepad gave once.
func (r *readLab) startAlike(ctx context.Context, asks []bareAsk) (*process, error) {
	for i, a := range asks {
		var about string
		if err := readRow(ctx, r.databaseURL, "SELECT json_agg(a)::text FROM (SELECT json_build_array("+a.about+") FROM "+a.from+" LIMIT 256) AS picked (a)", &about); err != nil {
			return nil, err
		}
		if err := json.Unmarshal([]byte(about), &asks[i].About); err != nil {
			return nil, err
		}
	}
	first, err := r.job.connect(1)
	if err != nil {
		return nil, err
	}
	defer first[0].client.connection.Close()
	if asks == nil {
		return r.startMemory(ctx, r.server.address, first[0].nextRead())
	}
	text, err := json.Marshal(asks)
	if err != nil {
		return nil, err
	}
	return r.startMemory(ctx, r.server.address, first[0].nextRead(), memoryDatabase+"="+r.databaseURL, memoryAsks+"="+string(text))
}

// startMemory asks a server once and starts another that knows nothing but the answer.
func (l *lab) startMemory(ctx context.Context, address string, request []byte, environment ...string) (*process, error) {
	asked, err := dial(address)
	if err != nil {
		return nil, err
	}
	defer asked.connection.Close()
	if _, err := asked.connection.Write(request); err != nil {
		return nil, err
	}
	answer, err := http.ReadResponse(asked.reader, nil)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the answer to keep is %s", answer.Status)
	}
	folder, err := l.subfolder("answer")
	if err != nil {
		return nil, err
	}
	path := filepath.Join(folder, "answer.http")
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(answer.Write(file), file.Close()); err != nil {
		return nil, err
	}
	return l.startOwn(ctx, memoryCommand, append(environment, memoryAnswer+"="+path)...)
}
