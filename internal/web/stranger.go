package web

import (
	"context"
	"errors"
	"time"

	"sepad/internal/store"
	"sepad/internal/turn"
)

// strangerPatience is how long a look-up waits for those before it.
const strangerPatience = 5 * time.Second

// EnterAsStranger waits for the caller's turn with a key that this process does not know. Whether such a key is good only
// the database can say, and a good one passes however many bad ones came from its address (contract 8.1): so they are
// looked up, but those of one address one after the other. Who cannot be looked up in time is told that the service is
// busy, and not that the key is wrong.
func EnterAsStranger(ctx context.Context, strangers *turn.Turns[string]) (leave func(), err error) {
	patient, cancel := context.WithTimeout(ctx, strangerPatience)
	defer cancel()
	leave, _, err = strangers.Take(patient, ClientKey(ctx), 1)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, store.ErrBusy
	}
	return leave, err
}
