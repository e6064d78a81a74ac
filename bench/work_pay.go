//go:build unix

package main

import (
	"context"
	_ "embed"
	"fmt"
	"time"
)

//go:embed sql/pay.sql
var paySQL string

//go:embed sql/payable.sql
var payableSQL string

var payWork = work{
	name:    "pay",
	what:    "sessions paid on PostgreSQL, approved by the sandbox gateway, 16 connections",
	against: "pgbench, a claim and one statement with all rows of a payment",
	unit:    "per second",
	better:  moreIsBetter,
	floor:   0.55,
	goal:    0.80,
	measure: measurePay,
}

// paysPerRound is counted out, because every payment needs a session made
// beforehand. It is a multiple of connections.
const paysPerRound = 50 * connections

func measurePay(ctx context.Context, l *lab, w work) (measurement, error) {
	ours, err := l.database(ctx, "pay_ours")
	if err != nil {
		return measurement{}, err
	}
	server, shop, err := l.openSepad(ctx, ours)
	if err != nil {
		return measurement{}, err
	}
	defer server.stop()
	limit, err := l.newPayLimit(ctx)
	if err != nil {
		return measurement{}, err
	}
	job := loadJob{
		Kind: "pay", Address: server.address, Connections: connections, Count: paysPerRound, Merchants: shop.Merchants,
	}
	m, err := alternate(ctx, l, w, l.rounds(),
		func(ctx context.Context) (sample, error) { return load(ctx, job) }, limit.play)
	if err != nil {
		return m, err
	}
	return m, limit.check(ctx)
}

// payLimit is pgbench with sessions to pay.
type payLimit struct {
	*pgbench
	paid int64
}

func (l *lab) newPayLimit(ctx context.Context) (*payLimit, error) {
	databaseURL, err := l.limitDatabase(ctx, "pay_limit")
	if err != nil {
		return nil, err
	}
	bench, err := l.newPgbench("pay", paySQL, databaseURL)
	return &payLimit{pgbench: bench}, err
}

// play makes the sessions of a round, as they are made for our side too, and
// pays them.
func (p *payLimit) play(ctx context.Context) (sample, error) {
	now := time.Now().UnixMicro()
	// The script counts from 1, so the first session has the number first+16.
	first := p.paid + connections
	if err := execute(ctx, p.databaseURL, payableSQL, first, first+paysPerRound-1, now); err != nil {
		return sample{}, err
	}
	p.variables = map[string]int64{"n": 0, "first": p.paid, "now": now}
	p.paid += paysPerRound
	return p.forCount(ctx, paysPerRound)
}

// check makes sure that the limit has paid what it was counted for: a script
// that finds no row to change is fast and fails nowhere.
func (p *payLimit) check(ctx context.Context) error {
	var jobs, orders int64
	err := readRow(ctx, p.databaseURL, "SELECT (SELECT COUNT(*) FROM river_job), (SELECT COUNT(*) FROM orders)", &jobs, &orders)
	if err == nil && (jobs != p.paid || orders != p.paid) {
		err = fmt.Errorf("pgbench wrote %d jobs and %d orders for %d payments", jobs, orders, p.paid)
	}
	return err
}
