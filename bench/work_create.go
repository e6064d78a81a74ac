//go:build unix

package main

import (
	"context"
	_ "embed"
	"time"
)

//go:embed sql/create.sql
var createSQL string

var createWork = work{
	name:    "create",
	what:    "sessions created on PostgreSQL, 16 connections",
	against: "pgbench, the same rows in one statement",
	unit:    "per second",
	better:  moreIsBetter,
	floor:   0.60,
	goal:    0.85,
	measure: measureCreate,
}

func measureCreate(ctx context.Context, l *lab, w work) (measurement, error) {
	ours, err := l.database(ctx, "create_ours")
	if err != nil {
		return measurement{}, err
	}
	server, shop, err := l.openSepad(ctx, ours)
	if err != nil {
		return measurement{}, err
	}
	defer server.stop()
	limit, err := l.limitDatabase(ctx, "create_limit")
	if err != nil {
		return measurement{}, err
	}
	bench, err := l.newPgbench("create", createSQL, limit)
	if err != nil {
		return measurement{}, err
	}
	job := loadJob{
		Kind: "create", Address: server.address, Connections: connections,
		Seconds: l.roundTime().Seconds(), Merchants: shop.Merchants,
	}
	return alternate(ctx, l, w, l.rounds(),
		func(ctx context.Context) (sample, error) { return load(ctx, job) },
		func(ctx context.Context) (sample, error) {
			bench.variables["now"] = time.Now().UnixMicro()
			return bench.forTime(ctx, l.roundTime())
		})
}
