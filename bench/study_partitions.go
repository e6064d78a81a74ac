//go:build unix

package main

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

//go:embed sql/partitions.sql
var partitionsSQL string

//go:embed sql/partitions_fill.sql
var partitionsFillSQL string

//go:embed sql/partitions_attempts.sql
var partitionsAttemptsSQL string

const (
	partitionBatch  = 25_000
	partitionRounds = 5
	// timedBatches are those that are timed, once all indexes are there.
	timedBatches = 4
	// forgetStep is how many events are removed at a time.
	forgetStep = 1000
)

var partitionYear = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// shelf is one of the two ways to keep events.
type shelf struct {
	suffix     string
	connection *pgx.Conn
}

// studyPartitions keeps a quarter as many events as rows, and an attempt for each, in tables as they are and again by month.
func studyPartitions(ctx context.Context, l *lab, rows int) (found figuresTable, err error) {
	events := max(rows/4/partitionBatch, 2*timedBatches) * partitionBatch
	databaseURL, err := l.limitDatabase(ctx, "partitions")
	if err != nil {
		return nil, err
	}
	const nearlyAllOfTheYear = 0.98
	step := int64(nearlyAllOfTheYear * float64(partitionYear.AddDate(1, 0, 0).Sub(partitionYear).Milliseconds()) / float64(events))
	if err := execute(ctx, databaseURL, "ALTER SYSTEM SET max_wal_size = '2GB'"); err != nil {
		return nil, err
	}
	if err := execute(ctx, databaseURL, "SELECT pg_reload_conf()"); err != nil {
		return nil, err
	}
	if err := execute(ctx, databaseURL, fmt.Sprintf(partitionsSQL, partitionYear.UnixMilli(), step, partitionYear.Format(time.DateOnly))); err != nil {
		return nil, err
	}
	connection, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		return nil, err
	}
	defer connection.Close(ctx)
	flat, parted := &shelf{suffix: "flat", connection: connection}, &shelf{suffix: "parted", connection: connection}
	found.add("", "as it is", "by month", "ratio")
	for _, part := range []func() error{
		func() error { return fillShelves(ctx, l, &found, events, flat, parted) },
		func() error { return weighShelves(ctx, &found, flat, parted) },
		func() error { return askShelves(ctx, l, &found, databaseURL, events, flat, parted) },
		func() error { return forgetAMonth(ctx, l, &found, flat, parted) },
	} {
		if err := part(); err != nil {
			return found, err
		}
	}
	return found, nil
}

// fillShelves writes events in time order, batches in turn. The last are written with all indexes in place, and timed.
func fillShelves(ctx context.Context, l *lab, found *figuresTable, events int, flat, parted *shelf) error {
	var rates [2][]float64
	for first := 1; first < events; first += partitionBatch {
		isTimed := events-first < timedBatches*partitionBatch
		if isTimed && rates[0] == nil {
			l.say("making indexes")
			if _, err := flat.connection.Exec(ctx, "CALL make_indexes()"); err != nil {
				return err
			}
		}
		for i, s := range []*shelf{flat, parted} {
			began := time.Now()
			if err := s.fill(ctx, first, first+partitionBatch-1, events-events/10); err != nil {
				return err
			}
			if isTimed {
				rates[i] = append(rates[i], partitionBatch/time.Since(began).Seconds())
			}
		}
		if first/partitionBatch%10 == 0 {
			l.say("%d of %d events", first, events)
		}
	}
	found.ratio("events with their attempts written in bulk, per second", median(rates[0]), median(rates[1]))
	_, err := flat.connection.Exec(ctx, "VACUUM (ANALYZE)")
	return err
}

func (t *figuresTable) ratio(what string, flat, parted float64) {
	t.add(what, shortNumber(flat), shortNumber(parted), fmt.Sprintf("%.2f", parted/flat))
}

// fill writes a batch with its keys and attempts.
func (s *shelf) fill(ctx context.Context, first, last, inLineAfter int) error {
	if _, err := s.connection.Exec(ctx, strings.ReplaceAll(partitionsFillSQL, "SUFFIX", s.suffix), first, last, inLineAfter); err != nil {
		return err
	}
	if s.suffix == "parted" {
		if _, err := s.connection.Exec(ctx, `INSERT INTO event_keys SELECT tenant_of(n), 'transaction.created:' || event_id(n), event_id(n)
			FROM generate_series($1::bigint, $2::bigint) AS n`, first, last); err != nil {
			return err
		}
	}
	_, err := s.connection.Exec(ctx, strings.ReplaceAll(partitionsAttemptsSQL, "SUFFIX", s.suffix), first, last)
	return err
}

// weighShelves tells what lies on the disk, in megabytes.
func weighShelves(ctx context.Context, found *figuresTable, flat, parted *shelf) error {
	const megabyte = 1 << 20
	for _, table := range []string{"events", "attempts"} {
		var sizes [2]float64
		for i, s := range []*shelf{flat, parted} {
			var bytes int64
			if err := s.connection.QueryRow(ctx, `SELECT COALESCE((SELECT SUM(pg_total_relation_size(relid)) FROM pg_partition_tree($1::text::regclass)),
				pg_total_relation_size($1::text::regclass))::bigint`, table+"_"+s.suffix).Scan(&bytes); err != nil {
				return err
			}
			sizes[i] = float64(bytes) / megabyte
		}
		found.ratio(table+" on disk with indexes, MB", sizes[0], sizes[1])
	}
	var bytes int64
	err := flat.connection.QueryRow(ctx, "SELECT pg_total_relation_size('event_keys')").Scan(&bytes)
	found.add("keys of events, MB", "in the index above", shortNumber(float64(bytes)/megabyte), "")
	return err
}

// shelfScripts are what is asked of events all day.
var shelfScripts = []struct{ what, script string }{
	{"an event written, per second", `\set n random(1, 1000000000000000)
INSERT INTO events_SUFFIX (tenant_id, id, event_key, kind, webhook_profile_id, payload, created_at)
VALUES (tenant_of(:n::bigint), (lpad(to_hex(:last::bigint), 12, '0') || '7000a000' || substr(lpad(to_hex(:n::bigint), 14, '0'), 3))::uuid, 'k:' || :n, 'transaction.created',
    profile_of(:n::bigint), repeat('A', 300), 1);
`},
	{"an event read by its id", `\set n random(1, :events)
SELECT payload FROM events_SUFFIX WHERE tenant_id = tenant_of(:n::bigint) AND id = event_id(:n::bigint);
`},
	{"what is in line for an endpoint", `\set n random(1, 32)
SELECT id, kind, payload, token_sealed, attempt_count, failure_count FROM events_SUFFIX
WHERE tenant_id = tenant_of(:n::bigint) AND webhook_profile_id = profile_of(:n::bigint) AND delivery_status = 'pending' AND next_attempt_at IS NULL
    AND id > '00000000-0000-0000-0000-000000000000' ORDER BY id LIMIT 500;
`},
	{"a page of 100 of the feed", `\set n random(1, :events)
SELECT id, kind, payload, feed_position FROM events_SUFFIX WHERE tenant_id = tenant_of(:n::bigint) AND feed_position IS NOT NULL AND feed_position > :n::bigint
ORDER BY feed_position LIMIT 100;
`},
}

// keyScript makes sure by another table that the event is written once.
const keyScript = `INSERT INTO event_keys VALUES (tenant_of(:n::bigint), 'k:' || :n, gen_random_uuid());
`

func askShelves(ctx context.Context, l *lab, found *figuresTable, databaseURL string, events int, flat, parted *shelf) error {
	for i, of := range shelfScripts {
		var sides [2]side
		for j, s := range []*shelf{flat, parted} {
			script := strings.ReplaceAll(of.script, "SUFFIX", s.suffix)
			if s == parted && strings.Contains(script, "INSERT") {
				script = strings.Replace(script, "INSERT", "BEGIN;\nINSERT", 1) + keyScript + "COMMIT;\n"
			}
			bench, err := l.newPgbench(fmt.Sprint(s.suffix, i), script, databaseURL)
			if err != nil {
				return err
			}
			bench.variables["events"], bench.variables["last"] = int64(events), partitionYear.AddDate(1, 0, -1).UnixMilli()
			sides[j] = func(ctx context.Context) (sample, error) { return bench.forTime(ctx, l.roundTime()) }
		}
		m, err := alternate(ctx, l, work{name: of.what, unit: "per second", better: moreIsBetter}, partitionRounds, sides[1], sides[0])
		if err != nil {
			return err
		}
		if count, trouble := errorsOf(append(m.ours, m.theirs...)); count > 0 {
			return fmt.Errorf("%s: %s", of.what, trouble)
		}
		found.ratio(of.what, median(figures(m.theirs)), median(figures(m.ours)))
	}
	return nil
}

// forgetAMonth removes the first month, in steps as sepad does and by dropping it.
func forgetAMonth(ctx context.Context, l *lab, found *figuresTable, flat, parted *shelf) error {
	var seconds, megabytes [2]float64
	for i, forget := range []func(context.Context) error{flat.forgetInSteps, parted.dropFirst} {
		l.say("forgetting a month, %d of 2", i+1)
		written, began := int64(0), time.Now()
		before := ""
		if err := flat.connection.QueryRow(ctx, "SELECT pg_current_wal_lsn()::text").Scan(&before); err != nil {
			return err
		}
		if err := forget(ctx); err != nil {
			return err
		}
		seconds[i] = time.Since(began).Seconds()
		if err := flat.connection.QueryRow(ctx, "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), $1::pg_lsn)::bigint", before).Scan(&written); err != nil {
			return err
		}
		megabytes[i] = float64(written) / (1 << 20)
	}
	found.add("a month forgotten: in steps of 1,000 and vacuumed, or dropped with the keys deleted, s", shortNumber(seconds[0]), shortNumber(seconds[1]),
		fmt.Sprintf("%.2f", seconds[1]/seconds[0]))
	found.add("written to the log for it, MB", shortNumber(megabytes[0]), shortNumber(megabytes[1]), fmt.Sprintf("%.2f", megabytes[1]/megabytes[0]))
	return weighShelves(ctx, found, flat, parted)
}

func (s *shelf) forgetInSteps(ctx context.Context) error {
	for tenant := range shopTenants {
		for {
			tag, err := s.connection.Exec(ctx, `WITH gone AS (DELETE FROM events_flat WHERE tenant_id = tenant_of($1) AND id IN (
					SELECT id FROM events_flat WHERE tenant_id = tenant_of($1) AND id < month_id($2::date) AND (delivery_status <> 'pending' OR webhook_profile_id IS NULL)
					ORDER BY id LIMIT $3)
				RETURNING tenant_id, id)
				DELETE FROM attempts_flat a USING gone g WHERE a.tenant_id = g.tenant_id AND a.event_id = g.id`,
				tenant, partitionYear.AddDate(0, 1, 0), forgetStep)
			if err != nil {
				return err
			}
			if tag.RowsAffected() == 0 {
				break
			}
		}
	}
	_, err := s.connection.Exec(ctx, "VACUUM events_flat, attempts_flat")
	return err
}

// dropFirst drops the month; keys go in steps, by the events that they belong to.
func (s *shelf) dropFirst(ctx context.Context) error {
	for _, statement := range []string{
		"DELETE FROM event_keys k USING events_parted_01 e WHERE k.tenant_id = e.tenant_id AND k.event_key = e.event_key", "DROP TABLE events_parted_01, attempts_parted_01", "VACUUM event_keys",
	} {
		if _, err := s.connection.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}
