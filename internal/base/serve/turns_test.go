package serve

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

func TestOneCallerCannotTakeAllTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := NewTurns(3, 2)
		take := func(caller string) func() {
			t.Helper()
			done, err := turns.Take(t.Context(), caller)
			if err != nil {
				t.Fatal(err)
			}
			return done
		}
		first, second := take("a"), take("a")
		third := make(chan func(), 1)
		go func() { third <- take("a") }()
		synctest.Wait()
		other := take("b") // The third request of a waits, and holds no turn.
		synctest.Wait()
		if len(third) > 0 {
			t.Error("a caller has more turns than its share")
		}
		first()
		(<-third)()
		second()
		other()
	})
}

func TestTurnsForgetCallersThatAreServed(t *testing.T) {
	turns := NewTurns(1, 1)
	for _, caller := range []string{"a", "b", "c"} {
		done, err := turns.Take(t.Context(), caller)
		if err != nil {
			t.Fatal(err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for _, name := range []string{caller, "other"} {
			if _, err := turns.Take(ended, name); !errors.Is(err, context.Canceled) {
				t.Errorf("a request that cannot wait gets %v", err)
			}
			if _, ok := turns.Try(name); ok {
				t.Error("more turns are taken than there are")
			}
		}
		done()
	}
	if len(turns.own) > 0 || turns.Taken() > 0 {
		t.Errorf("it remembers %d callers and %d turns", len(turns.own), turns.Taken())
	}
	if done, ok := turns.Try("a"); !ok {
		t.Error("a free turn is not taken")
	} else {
		done()
	}
}
