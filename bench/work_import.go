//go:build unix

package main

import (
	"bufio"
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

//go:embed sql/import.sql
var importSQL string

var importWork = work{
	name:    "import",
	what:    "lines of a processor's CSV taken in on PostgreSQL, sepad import",
	against: `psql, \copy into a staging table and one insert-select with ON CONFLICT`,
	unit:    "lines per second",
	better:  moreIsBetter,
	floor:   0.75,
	goal:    1.0,
	measure: measureImport,
}

const (
	importLines     = 100_000
	importLinesFull = 1_000_000
	importRounds    = 10
)

func measureImport(ctx context.Context, l *lab, w work) (measurement, error) {
	lines := importLines
	if l.full {
		lines = importLinesFull
	}
	file := filepath.Join(l.folder, "processor.csv")
	if err := writeProcessorFile(file, lines); err != nil {
		return measurement{}, err
	}
	ours, err := l.importDatabase(ctx, "import_ours")
	if err != nil {
		return measurement{}, err
	}
	theirs, err := l.importDatabase(ctx, "import_limit")
	if err != nil {
		return measurement{}, err
	}
	limit, err := l.newStagingLimit(ctx, theirs, importSQL, file)
	if err != nil {
		return measurement{}, err
	}
	gateway := recordID(kindGateway, 1)
	return alternate(ctx, l, w, importRounds,
		timedImport(ours, lines, func(ctx context.Context) error {
			return l.runSepad(ctx, ours, "import", "transactions", "--gateway", gateway, file)
		}),
		timedImport(theirs, lines, limit))
}

// importDatabase is a database with our schema and the shop.
func (l *lab) importDatabase(ctx context.Context, name string) (string, error) {
	databaseURL, err := l.database(ctx, name)
	if err != nil {
		return "", err
	}
	s, err := l.openShop()
	if err != nil {
		return "", err
	}
	for _, command := range [][]string{{"migrate"}, {"apply", "-f", s.path}} {
		if err := l.runSepad(ctx, databaseURL, command...); err != nil {
			return "", err
		}
	}
	return databaseURL, nil
}

// timedImport takes the file in on an empty table and counts what has arrived.
func timedImport(databaseURL string, lines int, play func(context.Context) error) side {
	return func(ctx context.Context) (sample, error) {
		if err := execute(ctx, databaseURL, "TRUNCATE transactions CASCADE"); err != nil {
			return sample{}, err
		}
		began := time.Now()
		if err := play(ctx); err != nil {
			return sample{}, err
		}
		took := time.Since(began)
		var arrived int
		err := readRow(ctx, databaseURL, "SELECT COUNT(*) FROM transactions", &arrived)
		if err == nil && arrived != lines {
			err = fmt.Errorf("%d of %d lines arrived", arrived, lines)
		}
		return sample{figure: float64(lines) / took.Seconds()}, err
	}
}

// newStagingLimit makes the staging table and gives the call of psql that takes a
// file through it.
func (l *lab) newStagingLimit(ctx context.Context, databaseURL, statements, file string) (func(context.Context) error, error) {
	program, err := exec.LookPath("psql")
	if err != nil {
		return nil, fmt.Errorf("psql: %w", errMissing)
	}
	err = execute(ctx, databaseURL, `CREATE UNLOGGED TABLE bench_staging (merchant_transaction_id text, adapter_unique_id text,
		status text, type text, amount numeric(10,2), currency text, date_processed timestamptz, iban text, bic text,
		customer_email_csv text, customer_name_csv text, mandate_reference_id text, mandate_date timestamptz)`)
	if err != nil {
		return nil, err
	}
	script := file + ".sql"
	text := strings.NewReplacer("FILE", file, "TENANT", recordID(kindTenant, 1), "GATEWAY", recordID(kindGateway, 1)).Replace(statements)
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		output, err := exec.CommandContext(ctx, program, "-X", "-q", "-f", script, databaseURL).CombinedOutput()
		if err != nil {
			return fmt.Errorf("psql: %w\n%s", err, output)
		}
		return nil
	}, nil
}

// writeProcessorFile writes a file as a processor would: ids in no order, a few
// refusals, some months of days.
func writeProcessorFile(path string, lines int) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(file, 1<<20)
	fmt.Fprintln(out, "merchant_transaction_id,adapter_unique_id,status,type,amount,currency,date_processed,iban,bic,"+
		"customer_email_csv,customer_name_csv,mandate_reference_id,mandate_date")
	const spread = 2_654_435_761 // takes the counter to places far apart
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range lines {
		mixed := uint32(i) * uint32(spread%(1<<32))
		status := "approved"
		if i%25 == 0 {
			status = "declined"
		}
		at := start.Add(time.Duration(i) * 7 * time.Second)
		fmt.Fprintf(out, "TXN-%s-%08X,P%010d,%s,sdd_sale,%d.%02d,EUR,%s,DE8937040044%010d,COBADEFFXXX,payer%d@mail.example,Payer Number %d,MND-%012d,%s\n",
			at.Format("20060102"), mixed, i, status, 5+i%95, i%100, at.Format(time.RFC3339), i%100_000_000, i, i, i, at.Format(time.RFC3339))
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return file.Close()
}
