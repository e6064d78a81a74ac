package limit

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var turns Turns
		take := func(key string) func() {
			t.Helper()
			leave, taken := turns.Take(t.Context(), key, 2)
			if !taken {
				t.Fatal("no turn came")
			}
			return leave
		}
		first, second, other := take("one"), take("one"), take("other")
		began := time.Now()
		if _, taken := turns.Take(t.Context(), "one", 2); taken || time.Since(began) != turnPatience {
			t.Errorf("a third one: taken %v after %v", taken, time.Since(began))
		}
		if _, taken := turns.TakeAtOnce("one", 2); taken {
			t.Error("a third one was taken at once")
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, taken := turns.Take(gone, "one", 2); taken {
			t.Error("who had gone got a turn")
		}
		time.AfterFunc(time.Second, first)
		began = time.Now()
		third := take("one")
		if waited := time.Since(began); waited != time.Second {
			t.Errorf("a turn that was left was taken after %v", waited)
		}
		second()
		if leave, taken := turns.TakeAtOnce("one", 2); taken {
			leave()
		} else {
			t.Error("there was room, and it was not taken at once")
		}
		third()
		other()
		if len(turns.lines) != 0 {
			t.Errorf("%d lines are kept in which nobody is", len(turns.lines))
		}
	})
}
