package timing

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestAClockCountsFromItsStart(t *testing.T) {
	// A time received over the network has no monotonic part.
	start := time.Now().Add(time.Hour).Round(0)
	c := From(start)
	for name, offset := range map[string]time.Duration{"at once": 0, "later": 90 * time.Second, "before": -time.Minute} {
		t.Run(name, func(t *testing.T) {
			if got, want := c.At(offset), start.Add(offset); got.Sub(want).Abs() > time.Millisecond {
				t.Errorf("got %s, want %s", got, want)
			}
			if got := c.At(offset).String(); !strings.Contains(got, " m=") {
				t.Errorf("%s has no monotonic reading: a step of the wall clock would move it", got)
			}
		})
	}
}

func TestSleepEnds(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tc := range map[string]struct {
		ctx  context.Context
		wait time.Duration
		want error
	}{
		"at its instant":                 {t.Context(), 20 * time.Millisecond, nil},
		"at once if the instant is over": {t.Context(), -time.Hour, nil},
		"when nobody waits any more":     {cancelled, time.Hour, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			until := time.Now().Add(tc.wait)
			err := SleepUntil(tc.ctx, until)
			if !errors.Is(err, tc.want) {
				t.Errorf("got %v, want %v", err, tc.want)
			}
			if early := time.Until(until); tc.want == nil && early > 0 {
				t.Errorf("it ended %s too early", early)
			}
		})
	}
}

func TestANapIsNotOverAtOnce(t *testing.T) {
	begin := time.Now()
	Nap(-time.Hour)
	Nap(0)
	const short = 300 * time.Microsecond
	// A runtime signal may end a nap early, but not all of them.
	for range 10 {
		Nap(short)
	}
	if took := time.Since(begin); took < 5*short {
		t.Errorf("ten naps of %s took %s", short, took)
	}
}
