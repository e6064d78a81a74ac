//go:build unix

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
)

// memoryCommand is the argument with which this program gives one answer to
// everybody: the least that a server in Go can do.
const memoryCommand = "memory"

// memoryAnswer names the file with the answer, as it goes over the wire.
const memoryAnswer = "BENCH_MEMORY_ANSWER"

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
	return http.ListenAndServe(os.Getenv(ownListen), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		header := w.Header()
		for name, values := range answer.Header {
			header[name] = values
		}
		_, _ = w.Write(body) // who has gone cannot be told so
	}))
}

// startMemory asks a server once and starts another that knows nothing but the answer.
func (l *lab) startMemory(ctx context.Context, address string, request []byte) (*process, error) {
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
	return l.startOwn(ctx, memoryCommand, memoryAnswer+"="+path)
}
