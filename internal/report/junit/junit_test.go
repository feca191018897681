package junit_test

import (
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/report/junit"
)

func TestHowLongASuiteTook(t *testing.T) {
	noon := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		from, to        time.Time
		took, timestamp string
	}{
		"it began and ended":              {noon, noon.Add(90500 * time.Millisecond), "90.500", "2026-03-02T12:00:00"},
		"it was refused before its turn":  {time.Time{}, noon, "0.000", ""},
		"it has begun, and has not ended": {noon, time.Time{}, "0.000", "2026-03-02T12:00:00"},
		"nothing of it is known":          {time.Time{}, time.Time{}, "0.000", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var s junit.Suite
			if s.Last(tc.from, tc.to); s.Seconds != tc.took || s.Timestamp != tc.timestamp {
				t.Errorf("it took %s from %q on, want %s from %q on", s.Seconds, s.Timestamp, tc.took, tc.timestamp)
			}
		})
	}
}
