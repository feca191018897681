package conduct_test

import (
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/run/conduct"
)

func TestTimeInWhichNobodyLedIsCountedOnce(t *testing.T) {
	type span struct{ from, to time.Duration }
	for name, tc := range map[string]struct {
		spans []span
		want  time.Duration
	}{
		"nobody was away":                          {nil, 0},
		"an operator was away":                     {[]span{{time.Hour, 3 * time.Hour}}, 2 * time.Hour},
		"and its successor says so again":          {[]span{{time.Hour, 3 * time.Hour}, {time.Hour, 3 * time.Hour}}, 2 * time.Hour},
		"two were away, one after the other":       {[]span{{0, time.Minute}, {time.Hour, 61 * time.Minute}}, 2 * time.Minute},
		"Argo was away before and after that":      {[]span{{0, time.Hour}, {time.Minute, 2 * time.Hour}}, 2 * time.Hour},
		"it was less than a second":                {[]span{{0, 999 * time.Millisecond}}, 0},
		"the clock of the one before was ahead":    {[]span{{time.Hour, time.Minute}}, 0},
		"a part of a second is left to the next":   {[]span{{0, 1500 * time.Millisecond}}, time.Second},
		"an earlier one is told after a later one": {[]span{{time.Hour, 2 * time.Hour}, {0, time.Minute}}, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			var a conduct.Absence
			for _, s := range tc.spans {
				a = a.With(noon.Add(s.from), noon.Add(s.to))
			}
			if a.Sum != tc.want {
				t.Errorf("nobody led for %s, want %s", a.Sum, tc.want)
			}
		})
	}
}

// Pods live for what a trial needs plus the run's patience. Patience covers their waits, and must not count twice.
func TestAnAttemptNeedsNoneOfTheTimeThatItMayWait(t *testing.T) {
	patient := attemptAt(0, func(a *conduct.Attempt) { a.Patience = time.Hour })
	if got, want := patient.Needs(), attemptAt(0).Needs(); got != want {
		t.Errorf("with an hour of patience it needs %s, and %s without", got, want)
	}
}
