//go:build unix

package main

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

//go:embed sql/due.sql
var dueSQL string

var rebillWork = work{
	name:    "rebill",
	what:    "rebills of subscriptions that are due on PostgreSQL, approved by the sandbox gateway",
	against: "sessions paid on the same server, 16 connections",
	unit:    "per second",
	better:  moreIsBetter,
	floor:   0.75,
	goal:    1,
	measure: measureRebill,
}

// rebillsPerRound is a multiple of connections: as many are paid for beforehand.
const rebillsPerRound = 50 * connections

func measureRebill(ctx context.Context, l *lab, w work) (measurement, error) {
	databaseURL, err := l.database(ctx, "rebill")
	if err != nil {
		return measurement{}, err
	}
	server, shop, err := l.openSepad(ctx, databaseURL)
	if err != nil {
		return measurement{}, err
	}
	defer server.stop()
	job := loadJob{
		Kind: "pay", Address: server.address, Connections: connections, Count: rebillsPerRound, Merchants: shop.Merchants,
	}
	// What is billed was paid for before, by the other side's rounds and this one.
	if _, err := load(ctx, job); err != nil {
		return measurement{}, err
	}
	return alternate(ctx, l, w, l.rounds(),
		func(ctx context.Context) (sample, error) { return bill(ctx, server, databaseURL) },
		func(ctx context.Context) (sample, error) { return load(ctx, job) })
}

// bill makes as many subscriptions due as a round of the other side pays, has the
// server bill them, and takes the time from its own records: between the instant
// at which it began, which all rebills of a run carry, and the last answer.
func bill(ctx context.Context, server *process, databaseURL string) (sample, error) {
	var before, billed, approved, micros int64
	if err := readRow(ctx, databaseURL, "SELECT COALESCE(MAX(created_at), 0) FROM transactions WHERE type = 'sdd_rebill'", &before); err != nil {
		return sample{}, err
	}
	today := time.Now().UTC().Truncate(24 * time.Hour)
	if err := execute(ctx, databaseURL, dueSQL, rebillsPerRound, today.Format(time.DateOnly), today.UnixMicro()); err != nil {
		return sample{}, err
	}
	if err := runDue(ctx, server); err != nil {
		return sample{}, err
	}
	err := readRow(ctx, databaseURL, fmt.Sprintf(`SELECT COUNT(*), COUNT(*) FILTER (WHERE status = 'approved'),
		MAX(processed_at) - MIN(created_at) FROM transactions WHERE type = 'sdd_rebill' AND created_at > %d`, before),
		&billed, &approved, &micros)
	s := sample{figure: float64(approved) / (float64(micros) / float64(time.Second/time.Microsecond))}
	if billed != rebillsPerRound || approved != billed {
		s.errors, s.trouble = 1, fmt.Sprintf("%d rebills of %d subscriptions, %d approved", billed, int(rebillsPerRound), approved)
	}
	return s, err
}

// runDue has the server do what is due, by moving its clock by nothing.
func runDue(ctx context.Context, server *process) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+server.address+"/admin/v1/clock/",
		strings.NewReader(`{"advance": "0s"}`))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+adminToken)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("moving the clock was answered %d: %s", response.StatusCode, answer)
	}
	return err
}
