//go:build unix

package main

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
)

// openPaid starts a server on a database of its own and has one subscription paid for, so that there are rows as the
// program writes them, which can be copied.
func (l *lab) openPaid(ctx context.Context, name string) (server *process, databaseURL string, err error) {
	if databaseURL, err = l.database(ctx, name); err != nil {
		return nil, "", err
	}
	server, shop, err := l.openSepad(ctx, databaseURL)
	if err != nil {
		return nil, "", err
	}
	result, err := load(ctx, loadJob{Kind: "pay", Address: server.address, Connections: 1, Count: 1, Merchants: shop.Merchants})
	if err == nil && result.errors > 0 {
		err = errors.New(result.trouble)
	}
	if err != nil {
		server.stop()
	}
	return server, databaseURL, err
}

// fill writes many rows with one statement, past foreign keys and triggers. Indexes are made anew after it, which is quicker than
// keeping them, and then is done what PostgreSQL would come to do by itself.
func fill(ctx context.Context, databaseURL, statement string, arguments ...any) error {
	connection, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		return err
	}
	defer connection.Close(ctx)
	indexes, err := dropIndexes(ctx, connection)
	if err != nil {
		return err
	}
	if _, err := connection.Exec(ctx, "SET session_replication_role = replica"); err != nil {
		return err
	}
	if _, err := connection.Exec(ctx, statement, arguments...); err != nil {
		return err
	}
	for _, text := range append([]string{"SET maintenance_work_mem = '512MB'"}, append(indexes, "VACUUM (ANALYZE)")...) {
		if _, err := connection.Exec(ctx, text); err != nil {
			return err
		}
	}
	return nil
}

// dropIndexes drops those that are no keys, and gives the statements that make them again. Indexes of the queue stay.
func dropIndexes(ctx context.Context, connection *pgx.Conn) (definitions []string, err error) {
	rows, err := connection.Query(ctx, `SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename NOT LIKE 'river%'
		AND indexdef NOT LIKE '%UNIQUE%'`)
	if err != nil {
		return nil, err
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct{ Name, Definition string }])
	for _, index := range all {
		if err == nil {
			definitions = append(definitions, index.Definition)
			_, err = connection.Exec(ctx, "DROP INDEX "+pgx.Identifier{index.Name}.Sanitize())
		}
	}
	return definitions, err
}
