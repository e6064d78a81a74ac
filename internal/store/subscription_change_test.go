package store_test

import (
	"errors"
	"testing"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// What comes back while another period is being settled changes neither status nor
// period: whoever settles must see it all the same, or the period would be
// forgotten.
func TestAReturnIsNotOverwritten(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*payment.Subscription){
		"a period that is owed": func(s *payment.Subscription) { s.Owed = "0" },
		"a failed billing":      func(s *payment.Subscription) { s.FailedCount++ },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, env *storetest.Env) {
				before := dueOne(t, env).Subscription
				returned, settled := before, before
				change(&returned)
				settled.Period++
				write := func(after payment.Subscription) error {
					return env.Store.Write(t.Context(), env.Now, func(tx *store.Tx) error {
						tx.ChangeSubscription(before, after)
						return nil
					})
				}
				if err := write(returned); err != nil {
					t.Fatal(err)
				}
				if err := write(settled); !errors.Is(err, store.ErrStale) {
					t.Errorf("the settlement has overwritten it: %v", err)
				}
			})
		})
	}
}
