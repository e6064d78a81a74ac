//go:build unix

package main

import (
	"context"
	"fmt"
	"net/url"

	"github.com/jackc/pgx/v5"

	"sepad/internal/testenv/server"
)

// durable are the settings of a cluster that loses nothing that it has
// acknowledged. Checkpoints are put off beyond a run: one would hit whichever
// side happens to be measured.
var durable = map[string]string{
	"fsync":              "on",
	"synchronous_commit": "on",
	"full_page_writes":   "on",
	"shared_buffers":     "256MB",
	"max_wal_size":       "8GB",
	"checkpoint_timeout": "1h",
}

// database makes an empty database in the run's cluster and gives its address.
func (l *lab) database(ctx context.Context, name string) (string, error) {
	if err := l.startCluster(); err != nil {
		return "", err
	}
	if err := execute(ctx, l.cluster.URL, "CREATE DATABASE "+pgx.Identifier{name}.Sanitize()); err != nil {
		return "", err
	}
	address, err := url.Parse(l.cluster.URL)
	if err != nil {
		return "", err
	}
	address.Path = "/" + name
	return address.String(), nil
}

func (l *lab) startCluster() error {
	if l.cluster != nil {
		return nil
	}
	l.say("starting PostgreSQL")
	folder, err := l.subfolder("postgres")
	if err != nil {
		return err
	}
	cluster, err := server.StartPostgres(folder, durable)
	if err != nil {
		return fmt.Errorf("PostgreSQL: %w", err)
	}
	l.cluster = cluster
	return nil
}

// execute runs a statement on a connection of its own.
func execute(ctx context.Context, databaseURL, statement string, arguments ...any) error {
	connection, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		return err
	}
	defer connection.Close(ctx)
	_, err = connection.Exec(ctx, statement, arguments...)
	return err
}

// readRow reads the one row of a query.
func readRow(ctx context.Context, databaseURL, query string, into ...any) error {
	connection, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		return err
	}
	defer connection.Close(ctx)
	return connection.QueryRow(ctx, query).Scan(into...)
}

// limitDatabase is a database with our schema for a limit to write to, apart
// from ours so that neither side touches the other's rows.
func (l *lab) limitDatabase(ctx context.Context, name string) (string, error) {
	databaseURL, err := l.database(ctx, name)
	if err != nil {
		return "", err
	}
	return databaseURL, l.runSepad(ctx, databaseURL, "migrate")
}
