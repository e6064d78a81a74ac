//go:build unix

package main

import (
	"context"
	"path/filepath"
	"time"
)

var startWork = work{
	name:    "start",
	what:    "from start to ready on a fresh folder",
	against: "PocketBase on a fresh folder",
	unit:    "ms",
	better:  lessIsBetter,
	floor:   1,
	goal:    0.5,
	measure: func(ctx context.Context, l *lab, w work) (measurement, error) {
		timeOf := func(_ context.Context, _ *process, took time.Duration) (float64, error) {
			return float64(took.Microseconds()) / float64(time.Millisecond/time.Microsecond), nil
		}
		return alternate(ctx, l, w, l.rounds(), l.freshSepad(timeOf), l.freshPocketBase(timeOf))
	},
}

// observe takes a figure from a server that has just become ready.
type observe func(ctx context.Context, server *process, took time.Duration) (float64, error)

// freshSepad starts a server on a folder that has never been used.
func (l *lab) freshSepad(look observe) side {
	return l.fresh(readyPath, look, func(ctx context.Context, folder string) (*process, error) {
		return l.startSepad(ctx, "sqlite:"+filepath.Join(folder, "sepad.db"), folder)
	})
}

func (l *lab) freshPocketBase(look observe) side {
	return l.fresh(pocketBaseReady, look, l.startPocketBase)
}

func (l *lab) fresh(readyPath string, look observe, start func(context.Context, string) (*process, error)) side {
	return func(ctx context.Context) (sample, error) {
		folder, err := l.subfolder("fresh")
		if err != nil {
			return sample{}, err
		}
		server, err := start(ctx, folder)
		if err != nil {
			return sample{}, err
		}
		took, err := server.awaitReady(ctx, readyPath)
		if err != nil {
			return sample{}, err
		}
		defer server.stop()
		figure, err := look(ctx, server, took)
		return sample{figure: figure}, err
	}
}
