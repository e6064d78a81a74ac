//go:build unix

package main

import (
	"context"
	_ "embed"
	"fmt"
	"time"
)

//go:embed sql/create.sql
var createSQL string

var (
	createWork     = createWith("create", connections)
	createOneWork  = createWith("create-1", 1)
	createManyWork = createWith("create-64", 64)
)

func createWith(name string, callers int) work {
	return work{
		name:    name,
		what:    fmt.Sprintf("sessions created on PostgreSQL, connections: %d", callers),
		against: "pgbench, the same rows in one statement",
		unit:    "per second",
		better:  moreIsBetter,
		floor:   0.75,
		goal:    1,
		measure: func(ctx context.Context, l *lab, w work) (measurement, error) {
			return measureCreate(ctx, l, w, callers)
		},
	}
}

func measureCreate(ctx context.Context, l *lab, w work, callers int) (measurement, error) {
	ours, err := l.database(ctx, fmt.Sprint("create_ours_", callers))
	if err != nil {
		return measurement{}, err
	}
	server, shop, err := l.openSepad(ctx, ours)
	if err != nil {
		return measurement{}, err
	}
	defer server.stop()
	limit, err := l.limitDatabase(ctx, fmt.Sprint("create_limit_", callers))
	if err != nil {
		return measurement{}, err
	}
	bench, err := l.newPgbench("create", createSQL, limit)
	if err != nil {
		return measurement{}, err
	}
	bench.clients = callers
	job := loadJob{
		Kind: "create", Address: server.address, Connections: callers,
		Seconds: l.roundTime().Seconds(), Merchants: shop.Merchants,
	}
	m, err := alternate(ctx, l, w, l.rounds(),
		func(ctx context.Context) (sample, error) { return load(ctx, job) },
		func(ctx context.Context) (sample, error) {
			bench.variables["now"] = time.Now().UnixMicro()
			return bench.forTime(ctx, l.roundTime())
		})
	return m.withLatency(), err
}
