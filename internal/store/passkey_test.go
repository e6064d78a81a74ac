package store_test

import (
	"errors"
	"testing"
	"time"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

func passkeyOf(t *testing.T, env *storetest.Env, o store.Operator, device string) store.Passkey {
	t.Helper()
	p := store.Passkey{ID: payment.NewID(), OperatorID: o.ID, Name: device, CredentialID: device, Credential: "signed once", CreatedAt: env.Now}
	env.Write(t, func(tx *store.Tx) error { tx.AddPasskey(p); return nil })
	return p
}

// TestTheLastSecondFactorStays: who has neither a code nor a provider keeps a passkey, and removes no other's.
func TestTheLastSecondFactorStays(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		other := operatorOf(t, env, "other@shop.example")
		foreign := passkeyOf(t, env, other, "foreign")
		for name, c := range map[string]struct {
			change func(*store.Operator)
			want   error
		}{
			"with nothing else":   {func(*store.Operator) {}, store.ErrLastPasskey},
			"with a code":         {func(o *store.Operator) { o.SealedTOTP = "sealed" }, nil},
			"with a provider":     {func(o *store.Operator) { o.ProviderSubject = "subject" }, nil},
			"of another operator": {func(*store.Operator) {}, store.ErrNoPasskey},
			"with a past state":   {func(*store.Operator) {}, store.ErrOperatorChanged},
		} {
			o := operatorOf(t, env, payment.NewID().String()+"@shop.example", c.change)
			removed := passkeyOf(t, env, o, name)
			switch c.want {
			case store.ErrNoPasskey:
				removed = foreign
			case store.ErrOperatorChanged:
				o.UpdatedAt = o.UpdatedAt.Add(time.Second)
			}
			err := env.TryWrite(t, func(tx *store.Tx) error { tx.RemovePasskey(o, removed.ID); return nil })
			kept, listErr := env.Store.Passkeys(t.Context(), removed.OperatorID)
			if listErr != nil || !errors.Is(err, c.want) || len(kept) != map[bool]int{true: 1}[c.want != nil] {
				t.Errorf("%s: %v, and %d are left (%v)", name, err, len(kept), listErr)
			}
		}
		two := operatorOf(t, env, "two@shop.example")
		first := passkeyOf(t, env, two, "first")
		passkeyOf(t, env, two, "second")
		if err := env.TryWrite(t, func(tx *store.Tx) error { tx.RemovePasskey(two, first.ID); return nil }); err != nil {
			t.Errorf("the first of two: %v", err)
		}
	})
}

// TestAPasskeySignsOnce: of two uses of what was read one holds, and it is seen at no other passkey.
func TestAPasskeySignsOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		o := operatorOf(t, env, "one@shop.example")
		was, beside := passkeyOf(t, env, o, "device"), passkeyOf(t, env, o, "beside")
		env.Now = env.Now.Add(time.Minute)
		use := func() error {
			return env.TryWrite(t, func(tx *store.Tx) error { tx.UsePasskey(was, "signed twice"); return nil })
		}
		if err := use(); err != nil {
			t.Error(err)
		}
		if err := use(); !errors.Is(err, store.ErrPasskeyUsed) {
			t.Errorf("a second time: %v", err)
		}
		was.Credential, was.LastUsedAt = "signed twice", env.Now
		kept, err := env.Store.Passkeys(t.Context(), o.ID)
		if err != nil || len(kept) != 2 {
			t.Fatalf("%d are kept: %v", len(kept), err)
		}
		storetest.Equal(t, kept[0], was)
		storetest.Equal(t, kept[1], beside)
		again := beside
		again.ID = payment.NewID()
		if err := env.TryWrite(t, func(tx *store.Tx) error { tx.AddPasskey(again); return nil }); !store.IsPasskeyTaken(err) || store.IsPasskeyTaken(store.ErrNoPasskey) {
			t.Errorf("a device that is known: %v", err)
		}
	})
}

// TestWhatAPasskeyWasAskedIsAnsweredOnce, in the browser where it was asked.
func TestWhatAPasskeyWasAskedIsAnsweredOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		o := operatorOf(t, env, "one@shop.example")
		admit(t, env, o, "one")
		other := operatorOf(t, env, "other@shop.example")
		admit(t, env, other, "other")
		answer := func(hash, challenge string) error {
			return env.TryWrite(t, func(tx *store.Tx) error {
				tx.AnswerPasskey(store.OperatorSession{Hash: hash, Challenge: challenge})
				return nil
			})
		}
		if err := answer("session one", ""); !errors.Is(err, store.ErrNoChallenge) {
			t.Errorf("before anything is asked: %v", err)
		}
		env.Write(t, func(tx *store.Tx) error { tx.AskPasskey("session one", "what"); return nil })
		for what, err := range map[string]error{"in another browser": answer("session other", "what"), "to another question": answer("session one", "who")} {
			if !errors.Is(err, store.ErrNoChallenge) {
				t.Errorf("%s: %v", what, err)
			}
		}
		if err := answer("session one", "what"); err != nil {
			t.Error(err)
		}
		if err := answer("session one", "what"); !errors.Is(err, store.ErrNoChallenge) {
			t.Errorf("a second time: %v", err)
		}
	})
}
