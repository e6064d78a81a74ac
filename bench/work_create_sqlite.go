//go:build unix

package main

import (
	"context"
	"path/filepath"
)

var createSQLiteWork = work{
	name:    "create-sqlite",
	what:    "sessions created on SQLite that waits for the disk, 16 connections",
	against: "PocketBase with its own settings, a record per request",
	unit:    "per second",
	better:  moreIsBetter,
	floor:   1.5,
	goal:    2.5,
	measure: measureCreateSQLite,
}

func measureCreateSQLite(ctx context.Context, l *lab, w work) (measurement, error) {
	folder, err := l.subfolder("sqlite")
	if err != nil {
		return measurement{}, err
	}
	ours, shop, err := l.openSepad(ctx, "sqlite:"+filepath.Join(folder, "sepad.db"))
	if err != nil {
		return measurement{}, err
	}
	defer ours.stop()
	peer, err := l.openPocketBase(ctx)
	if err != nil {
		return measurement{}, err
	}
	defer peer.stop()
	job := loadJob{Connections: connections, Seconds: l.roundTime().Seconds(), Merchants: shop.Merchants}
	play := func(kind, address string) side {
		job := job
		job.Kind, job.Address = kind, address
		return func(ctx context.Context) (sample, error) { return load(ctx, job) }
	}
	return alternate(ctx, l, w, l.rounds(), play("create", ours.address), play("record", peer.address))
}
