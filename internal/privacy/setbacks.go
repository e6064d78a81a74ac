package privacy

import "fmt"

// setbacks is what failed in a sweep that goes on: the first, and how many more. A database
// that fails does so for every person and every tenant, and nobody reads as many lines.
type setbacks struct {
	first error
	more  int
}

func (s *setbacks) add(err error) {
	switch {
	case err == nil:
	case s.first == nil:
		s.first = err
	default:
		s.more++
	}
}

func (s *setbacks) err() error {
	if s.more > 0 {
		return fmt.Errorf("%w (and %d more)", s.first, s.more)
	}
	return s.first
}
