//go:build unix

package main

import (
	"context"
	"fmt"
	"slices"
)

// sample is one side of one round.
type sample struct {
	figure float64
	errors int
	// trouble is the first error in words.
	trouble string
	// half and most are how many milliseconds callers waited, where that was measured.
	half, most float64
}

// measurement is what the rounds of a row have given.
type measurement struct {
	ours, theirs []sample
	notes        []string
}

// side measures one of the two things for one round.
type side func(context.Context) (sample, error)

// alternate measures both sides in turn. One round beforehand warms caches and
// is not counted. Who comes first changes with every round, so that whatever
// grows or slows down during the run weighs on both.
func alternate(ctx context.Context, l *lab, w work, rounds int, ours, theirs side) (measurement, error) {
	var m measurement
	for round := range rounds + 1 {
		mine, other, err := playRound(ctx, round%2 == 0, ours, theirs)
		if err != nil {
			return m, err
		}
		if round == 0 {
			l.say("%s: warm-up: %s against %s %s", w.name, shortNumber(mine.figure), shortNumber(other.figure), w.unit)
			continue
		}
		m.ours, m.theirs = append(m.ours, mine), append(m.theirs, other)
		l.say("%s: round %d of %d: %s against %s %s, ratio %.2f", w.name, round, rounds,
			shortNumber(mine.figure), shortNumber(other.figure), w.unit, w.better.ratio(mine.figure, other.figure))
	}
	return m, nil
}

func playRound(ctx context.Context, oursFirst bool, ours, theirs side) (mine, other sample, err error) {
	order := []struct {
		play side
		into *sample
	}{{ours, &mine}, {theirs, &other}}
	if !oursFirst {
		slices.Reverse(order)
	}
	for _, turn := range order {
		if *turn.into, err = turn.play(ctx); err != nil {
			return mine, other, err
		}
		if turn.into.figure <= 0 {
			return mine, other, fmt.Errorf("a round measured nothing: %s", turn.into.trouble)
		}
	}
	return mine, other, nil
}

// withLatency notes how long our callers waited in a round.
func (m measurement) withLatency() measurement {
	half, most := make([]float64, len(m.ours)), make([]float64, len(m.ours))
	for i, s := range m.ours {
		half[i], most[i] = s.half, s.most
	}
	m.notes = append(m.notes, fmt.Sprintf("p50 %.2f ms, p99 %.2f ms", median(half), median(most)))
	return m
}

// ratios are those of the single rounds.
func (m measurement) ratios(better direction) []float64 {
	ratios := make([]float64, len(m.ours))
	for i := range ratios {
		ratios[i] = better.ratio(m.ours[i].figure, m.theirs[i].figure)
	}
	return ratios
}

func figures(samples []sample) []float64 {
	all := make([]float64, len(samples))
	for i, s := range samples {
		all[i] = s.figure
	}
	return all
}

// errorsOf counts the errors of a side and gives the first in words.
func errorsOf(samples []sample) (count int, trouble string) {
	for _, s := range samples {
		count += s.errors
		if trouble == "" {
			trouble = s.trouble
		}
	}
	return count, trouble
}

// quantile is the value below which a share of the sorted values lies, between
// neighbours in proportion.
func quantile(values []float64, share float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	if len(sorted) == 0 {
		return 0
	}
	position := share * float64(len(sorted)-1)
	below := int(position)
	if below+1 == len(sorted) {
		return sorted[below]
	}
	return sorted[below] + (position-float64(below))*(sorted[below+1]-sorted[below])
}

const (
	lowerQuartile = 0.25
	middle        = 0.5
	upperQuartile = 0.75
	nearlyAll     = 0.99
)

func median(values []float64) float64 { return quantile(values, middle) }

// shortNumber shows what can be told apart at a glance.
func shortNumber(value float64) string {
	const wide, narrow = 100, 10
	switch {
	case value >= wide:
		return fmt.Sprintf("%.0f", value)
	case value >= narrow:
		return fmt.Sprintf("%.1f", value)
	default:
		return fmt.Sprintf("%.2f", value)
	}
}
