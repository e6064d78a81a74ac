//go:build unix

package main

import (
	"context"
	_ "embed"
	"errors"
	"os/exec"
	"path/filepath"
	"time"
)

//go:embed sql/match.sql
var matchSQL string

var matchWork = work{
	name:    "match",
	what:    "lines of a processor's CSV held against twice as many records on PostgreSQL, sepad reconcile",
	against: `psql, \copy into a staging table and one join`,
	unit:    "lines per second",
	better:  moreIsBetter,
	floor:   0.5,
	goal:    0.9,
	measure: measureMatch,
}

const (
	matchRounds = 5
	// differencesExit tells that something is to be looked at.
	differencesExit = 3
)

// measureMatch takes a file in and holds its first half against it. The last of the days that it covers has records that
// it lacks, which are listed.
func measureMatch(ctx context.Context, l *lab, w work) (measurement, error) {
	lines := importLines
	if l.full {
		lines = importLinesFull
	}
	records, file := filepath.Join(l.folder, "records.csv"), filepath.Join(l.folder, "lines.csv")
	for path, count := range map[string]int{records: 2 * lines, file: lines} {
		if err := writeProcessorFile(path, count); err != nil {
			return measurement{}, err
		}
	}
	databaseURL, err := l.importDatabase(ctx, "match")
	if err != nil {
		return measurement{}, err
	}
	gateway := recordID(kindGateway, 1)
	l.say("%s: taking in %d records", w.name, 2*lines)
	if err := l.runSepad(ctx, databaseURL, "import", "transactions", "--gateway", gateway, records); err != nil {
		return measurement{}, err
	}
	limit, err := l.newStagingLimit(ctx, databaseURL, matchSQL, file)
	if err != nil {
		return measurement{}, err
	}
	timed := func(play func(context.Context) error) side {
		return func(ctx context.Context) (sample, error) {
			began := time.Now()
			err := play(ctx)
			return sample{figure: float64(lines) / time.Since(began).Seconds()}, err
		}
	}
	return alternate(ctx, l, w, matchRounds, timed(func(ctx context.Context) error {
		err := l.runSepad(ctx, databaseURL, "reconcile", "--gateway", gateway, "--file", file)
		if exit, ended := errors.AsType[*exec.ExitError](err); ended && exit.ExitCode() == differencesExit {
			return nil
		}
		return err
	}), timed(limit))
}
