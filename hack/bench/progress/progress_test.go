package progress

import (
	"strings"
	"testing"
	"time"
)

func TestWhatIsTold(t *testing.T) {
	for name, tc := range map[string]struct {
		tell func(*Log)
		want string
	}{
		"a line":                              {func(l *Log) { l.Say("%d of %d", 1, 2) }, "1 of 2\n"},
		"a step of which nothing is expected": {func(l *Log) { l.Step("start") }, "start (about 0s left in all)\n"},
		"a step with time left": {func(l *Log) {
			l.Expect(90*time.Second + 400*time.Millisecond)
			l.Step("%s: %d", "sweep", 3)
		}, "sweep: 3 (about 1m30s left in all)\n"},
		"a step that took longer than reckoned": {func(l *Log) {
			l.Expect(-time.Minute)
			l.Step("pairs")
		}, "pairs (about 0s left in all)\n"},
		"a step with the latest reckoning": {func(l *Log) {
			l.Expect(time.Hour)
			l.Expect(2*time.Minute + 400*time.Millisecond)
			l.Step("memory")
		}, "memory (about 2m0s left in all)\n"},
		"a name with a per cent sign": {func(l *Log) { l.Step("%s", "5 %d") }, "5 %d (about 0s left in all)\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			tc.tell(New(&out))
			if out.String() != tc.want {
				t.Errorf("got %q, want %q", out.String(), tc.want)
			}
		})
	}
}
