package banking

import (
	"errors"
	"math/rand/v2"
	"slices"

	"golang.org/x/sync/errgroup"
)

// lanes is how many banks are spoken to at a time.
const lanes = 4

// inLanes does something for each account, for a few at a time and in no order, and gives what failed: a server that hangs
// keeps its own files waiting, and several of them nobody else's for good.
func inLanes[T any](accounts []T, do func(T) error) error {
	accounts = slices.Clone(accounts)
	rand.Shuffle(len(accounts), func(i, j int) { accounts[i], accounts[j] = accounts[j], accounts[i] })
	failed := make([]error, len(accounts))
	var group errgroup.Group
	group.SetLimit(lanes)
	for i, account := range accounts {
		group.Go(func() error {
			failed[i] = do(account)
			return nil
		})
	}
	_ = group.Wait() // each has its own place for its error
	return errors.Join(failed...)
}
