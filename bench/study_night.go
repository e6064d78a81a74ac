//go:build unix

package main

import (
	"context"
	"fmt"
)

// studyNight has two processes bill all that falls due in one night, and a tenth of it before: memory must not follow the number.
func studyNight(ctx context.Context, l *lab, rows int) (found figuresTable, err error) {
	found.add("due, and billed once each", "seconds", "per second", "by each process", "their memory at most, MB")
	for _, due := range []int{rows / 10, rows} {
		// As many again are due on other days.
		const oneIn = 2
		s, err := l.openSubscribers(ctx, fmt.Sprint("night_", due), oneIn*due, oneIn)
		if err != nil {
			return found, err
		}
		l.say("billing %d of %d subscriptions", s.due, s.count)
		b, err := s.billByTwo(ctx, l)
		if err != nil {
			return found, err
		}
		found.add(fmt.Sprint(s.due), shortNumber(b.seconds), shortNumber(float64(s.due)/b.seconds), fmt.Sprintf("%d and %d", b.made[0], b.made[1]),
			fmt.Sprintf("%.0f and %.0f", b.memory[0], b.memory[1]))
	}
	return found, nil
}
