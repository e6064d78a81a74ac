//go:build unix

package main

import (
	"context"
	"fmt"
)

var overloadWork = work{
	name:    "overload",
	what:    "payments answered within 4 s while four times as many come as can be made",
	against: "its own capacity, the best of 16, 64 and 256 connections that pay without a pause",
	unit:    "per second",
	better:  moreIsBetter,
	floor:   0.8,
	goal:    0.9,
	measure: measureOverload,
}

const (
	overloadFactor = 4
	// crowd are the connections of those who come: more than wait at any time, so that
	// nobody is kept from coming.
	crowd       = 2048
	rushSeconds = 2
	// rushStock is enough for the first measurement of a capacity.
	rushStock = 8192
)

// rushLab measures one server at its capacity and beyond it.
type rushLab struct {
	job         loadJob
	connections int     // those of the best capacity
	capacity    float64 // the best that was seen
	// Of all rounds of the overload.
	due, refused, late int
}

func measureOverload(ctx context.Context, l *lab, w work) (measurement, error) {
	database, err := l.database(ctx, "overload")
	if err != nil {
		return measurement{}, err
	}
	server, shop, err := l.openSepad(ctx, database)
	if err != nil {
		return measurement{}, err
	}
	defer server.stop()
	r := &rushLab{job: loadJob{Kind: rushKind, Address: server.address, Seconds: rushSeconds, Merchants: shop.Merchants}}
	if err := r.calibrate(ctx, l); err != nil {
		return measurement{}, err
	}
	before, err := server.peakMemory()
	if err != nil {
		return measurement{}, err
	}
	m, err := alternate(ctx, l, w, l.rounds()/2, r.overload, r.atCapacity)
	if err != nil {
		return m, err
	}
	after, err := server.peakMemory()
	m.notes = append(m.notes, fmt.Sprintf("%d of %d payers were refused at once, %d answered too late, capacity with %d connections; memory of the server at most %.0f MB, %.0f MB before the overload",
		r.refused, r.due, r.late, r.connections, after, before))
	return m, err
}

// calibrate finds how many connections bring the most about.
func (r *rushLab) calibrate(ctx context.Context, l *lab) error {
	for _, connections := range []int{connections, 4 * connections, 16 * connections} {
		was := r.connections
		r.connections = connections
		best := r.capacity
		s, err := r.atCapacity(ctx)
		if err != nil {
			return err
		}
		l.say("overload: %s per second with %d connections", shortNumber(s.figure), connections)
		if s.figure <= best {
			r.connections = was
		}
	}
	return nil
}

func (r *rushLab) atCapacity(ctx context.Context) (sample, error) {
	job := r.stocked()
	job.Connections = r.connections
	s, err := load(ctx, job)
	r.capacity = max(r.capacity, s.figure)
	return s, err
}

// stocked has sessions for half as many payments again as were made at best, and for
// those that wait.
func (r *rushLab) stocked() loadJob {
	const margin = 1.5
	job := r.job
	job.Count = max(rushStock, crowd+int(margin*(rushSeconds+rushUp.Seconds())*r.capacity))
	return job
}

// overload is four times the best capacity that was seen so far. Who is refused comes
// again with the same session.
func (r *rushLab) overload(ctx context.Context) (sample, error) {
	job := r.stocked()
	job.Connections, job.Rate = crowd, overloadFactor*r.capacity
	result, err := runLoad(ctx, job)
	r.due, r.refused, r.late = r.due+result.Due, r.refused+result.Refused, r.late+result.Late
	s := result.sample()
	// Fewer would be no overload; a machine on which others work keeps some from coming.
	const enough = 0.75
	if came := float64(result.Due) / rushSeconds; came < enough*job.Rate {
		s.errors, s.trouble = s.errors+1, fmt.Sprintf("only %s of %s payers a second came", shortNumber(came), shortNumber(job.Rate))
	}
	return s, err
}
