//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

var overloadWork = work{
	name:    "overload",
	what:    "payments answered within 4 s while four times as many come as can be made",
	against: "its own capacity, the best of 16, 64 and 256 connections that pay without a pause; callers have a processor of their own",
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
	connections int // those of the best capacity
	// capacities are those that were seen with so many connections.
	capacities []float64
	// Of all rounds, at the capacity and beyond it.
	at, beyond loadResult
}

func measureOverload(ctx context.Context, l *lab, w work) (m measurement, err error) {
	processor, rejoin, err := keepApart()
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, rejoin()) }()
	database, err := l.database(ctx, "overload")
	if err != nil {
		return m, err
	}
	server, shop, err := l.openSepad(ctx, database)
	if err != nil {
		return m, err
	}
	defer server.stop()
	r := &rushLab{job: loadJob{
		Kind: rushKind, Address: server.address, Seconds: rushSeconds, Merchants: shop.Merchants, Server: server.command.Process.Pid, Processor: processor,
	}}
	if err := r.calibrate(ctx, l); err != nil {
		return m, err
	}
	before, err := server.peakMemory()
	if err != nil {
		return m, err
	}
	m, err = alternate(ctx, l, w, l.rounds()/2, r.overload, r.atCapacity)
	if err != nil {
		return m, err
	}
	after, err := server.peakMemory()
	m.notes = append(m.notes, fmt.Sprintf("%d of %d payers were refused at once, %d answered too late, capacity with %d connections; memory of the server at most %.0f MB, %.0f MB before the overload",
		r.beyond.Refused, r.beyond.Due, r.beyond.Late, r.connections, after, before), r.costs())
	return m, err
}

// costs tells what a refusal takes of the processors, which payments do without: what was used beyond the capacity, less
// what the payments cost that were made meanwhile.
func (r *rushLab) costs() string {
	micros := func(at, beyond time.Duration) (payment, refusal float64) {
		payment = float64(at.Microseconds()) / float64(r.at.Requests)
		return payment, (float64(beyond.Microseconds()) - payment*float64(r.beyond.Requests)) / float64(max(1, r.beyond.Refused))
	}
	payment, refusal := micros(r.at.ServerTime, r.beyond.ServerTime)
	calling, heard := micros(r.at.CallerTime, r.beyond.CallerTime)
	return fmt.Sprintf("a refusal takes %.0f µs of the server's processor time and %.0f µs of its caller's, a payment at the capacity %.0f and %.0f",
		refusal, heard, payment, calling)
}

// calibrate finds how many connections bring the most about. Each has two turns, as others may be at work in one of them.
func (r *rushLab) calibrate(ctx context.Context, l *lab) error {
	best, counts := &rushLab{}, []int{connections, 4 * connections, 16 * connections}
	for _, count := range slices.Concat(counts, counts) {
		tried := &rushLab{job: r.job, connections: count}
		s, err := tried.atCapacity(ctx)
		if err != nil {
			return err
		}
		l.say("overload: %s per second with %d connections", shortNumber(s.figure), count)
		if s.figure > median(best.capacities) {
			best = tried
		}
	}
	*r = *best
	return nil
}

func (r *rushLab) atCapacity(ctx context.Context) (sample, error) {
	job := r.stocked()
	job.Connections = r.connections
	result, err := runLoad(ctx, job)
	s := result.sample()
	r.capacities = append(r.capacities, s.figure)
	r.at.add(result)
	return s, err
}

// capacity is that of the last rounds: on a machine that has become slower a rate of the first ones would be far more
// than four times as many.
func (r *rushLab) capacity() float64 {
	const last = 3
	return median(r.capacities[max(0, len(r.capacities)-last):])
}

// stocked has sessions for half as many payments again as were made at best, and for
// those that wait.
func (r *rushLab) stocked() loadJob {
	const margin = 1.5
	job := r.job
	job.Count = max(rushStock, crowd+int(margin*(rushSeconds+rushUp.Seconds())*quantile(r.capacities, 1)))
	return job
}

// overload is four times the capacity. Who is refused comes again with the same session.
func (r *rushLab) overload(ctx context.Context) (sample, error) {
	job := r.stocked()
	job.Connections, job.Rate = crowd, overloadFactor*r.capacity()
	result, err := runLoad(ctx, job)
	r.beyond.add(result)
	s := result.sample()
	// Fewer would be no overload; a machine on which others work keeps some from coming.
	const enough = 0.75
	if came := float64(result.Due) / rushSeconds; came < enough*job.Rate {
		s.errors, s.trouble = s.errors+1, fmt.Sprintf("only %s of %s payers a second came", shortNumber(came), shortNumber(job.Rate))
	}
	return s, err
}

// add sums up rounds.
func (r *loadResult) add(round loadResult) {
	r.Requests, r.Due, r.Refused, r.Late = r.Requests+round.Requests, r.Due+round.Due, r.Refused+round.Refused, r.Late+round.Late
	r.ServerTime, r.CallerTime = r.ServerTime+round.ServerTime, r.CallerTime+round.CallerTime
}
