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

var (
	payWork     = payWith("pay", connections, 50)
	payOneWork  = payWith("pay-1", 1, 300)
	payManyWork = payWith("pay-64", 64, 16)
)

// payWith has so many callers pay so often each: it is counted out, because every
// payment needs a session made beforehand.
func payWith(name string, callers, each int) work {
	return work{
		name:    name,
		what:    fmt.Sprintf("sessions paid on PostgreSQL, approved by the sandbox gateway, connections: %d", callers),
		against: "pgbench, a claim and one statement with all rows of a payment",
		unit:    "per second",
		better:  moreIsBetter,
		floor:   0.75,
		goal:    1,
		measure: func(ctx context.Context, l *lab, w work) (measurement, error) {
			return measurePay(ctx, l, w, callers, callers*each)
		},
	}
}

func measurePay(ctx context.Context, l *lab, w work, callers, pays int) (measurement, error) {
	ours, err := l.database(ctx, fmt.Sprint("pay_ours_", callers))
	if err != nil {
		return measurement{}, err
	}
	server, shop, err := l.openSepad(ctx, ours)
	if err != nil {
		return measurement{}, err
	}
	defer server.stop()
	limit, err := l.newPayLimit(ctx, callers, pays)
	if err != nil {
		return measurement{}, err
	}
	job := loadJob{
		Kind: "pay", Address: server.address, Connections: callers, Count: pays, Merchants: shop.Merchants,
	}
	m, err := alternate(ctx, l, w, l.rounds(),
		func(ctx context.Context) (sample, error) { return load(ctx, job) }, limit.play)
	if err != nil {
		return m, err
	}
	return m.withLatency(), limit.check(ctx)
}

// payLimit is pgbench with sessions to pay.
type payLimit struct {
	*pgbench
	pays, paid int64
}

func (l *lab) newPayLimit(ctx context.Context, callers, pays int) (*payLimit, error) {
	databaseURL, err := l.limitDatabase(ctx, fmt.Sprint("pay_limit_", callers))
	if err != nil {
		return nil, err
	}
	bench, err := l.newPgbench("pay", paySQL, databaseURL)
	if err != nil {
		return nil, err
	}
	bench.clients = callers
	return &payLimit{pgbench: bench, pays: int64(pays)}, nil
}

// play makes the sessions of a round, as they are made for our side too, and
// pays them.
func (p *payLimit) play(ctx context.Context) (sample, error) {
	now := time.Now().UnixMicro()
	// The script counts from 1, so the first session has the number first+clients.
	first := p.paid + int64(p.clients)
	if err := execute(ctx, p.databaseURL, payableSQL, first, first+p.pays-1, now); err != nil {
		return sample{}, err
	}
	p.variables = map[string]int64{"n": 0, "first": p.paid, "now": now, "clients": int64(p.clients)}
	p.paid += p.pays
	return p.forCount(ctx, int(p.pays))
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
