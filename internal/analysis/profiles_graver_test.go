package analysis_test

import (
	"testing"

	"loadstone.dev/loadstone/internal/profiler"
	"loadstone.dev/loadstone/internal/record"
)

func TestAnErrorOfAnEarlierLaunchIsShownThoughALeakIsInBoth(t *testing.T) {
	both, leaks := checked(profiler.Found, profiler.Found), checked(profiler.Clean, profiler.Found)
	found := &record.Profiled{Tool: profiler.Memcheck, Launches: []record.Launch{both, leaks}}
	f := foundOf(t, profiled(profiler.Memcheck, map[string]*record.Profiled{"go": found}), "go")
	if got := f.Result.Memcheck.Verdicts.Errors.Answer; got != profiler.Found {
		t.Errorf("errors are %s", got)
	}
}
