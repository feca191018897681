package agents

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestAnAgentIsAskedAgainBeforeItsSilenceIsItsEnd(t *testing.T) {
	lost := errors.New("connection refused")
	for name, tc := range map[string]struct {
		failures  int
		ends      bool
		cancelled bool
		asked     int
		err       error
	}{
		"it answers":                          {0, true, false, 1, nil},
		"an answer is lost":                   {1, true, false, 2, nil},
		"all but the last are lost":           {Tries - 1, true, false, Tries, nil},
		"it stays silent":                     {Tries, true, false, Tries, lost},
		"it may still be silent":              {1, false, false, 1, lost},
		"nobody waits for its answer anymore": {Tries, true, true, 1, lost},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if tc.cancelled {
					cancel()
				}
				asked, began := 0, time.Now()
				answer, err := Insist(ctx, func(error) bool { return tc.ends }, func() (int, error) {
					if asked++; asked <= tc.failures {
						return 0, lost
					}
					return asked, nil
				})
				if !errors.Is(err, tc.err) || asked != tc.asked || err == nil && answer != asked {
					t.Errorf("asked %d times: %d, %v; want %d times and %v", asked, answer, err, tc.asked, tc.err)
				}
				if waited := time.Since(began); waited != time.Duration(tc.asked-1)*Pause {
					t.Errorf("it was asked for %s", waited)
				}
			})
		})
	}
}
