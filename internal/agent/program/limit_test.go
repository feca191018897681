package program

import (
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/profiler"
)

func TestAServerThatTheLimitEndsIsNotBlamedForIt(t *testing.T) {
	t.Parallel()
	m := monitoring(t, profiler.Memcheck, "")
	m.task.LimitSeconds = 9
	address := somewhere(t)
	got, _ := m.profile(t, leastLeft+4*time.Second, address, serves(t, address, mute, 5)...)
	for _, l := range got.Launches {
		if l.Killed || got.Cut == "" {
			t.Errorf("killed %v, asked %d, wrong %d, example %q, cut %q, exit %+v", l.Killed, l.Asked, l.Wrong, l.Example, got.Cut, l.Exit)
		}
	}
}
