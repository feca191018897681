package e2e

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/profiler"
	"loadstone.dev/loadstone/internal/profiler/memcheck"
	"loadstone.dev/loadstone/internal/profiler/perfstat"
)

// plantedProfiles is the sample of profiles with planted faults in place of its second server. Each server runs under the tools that can find its
// fault. The images have a static file, a file with its libraries, or a whole Debian.
func plantedProfiles(t *testing.T) *v1alpha1.BenchmarkRun {
	t.Helper()
	run := sample(t, "profile.yaml")
	run.Spec.Blocks, run.Spec.Baseline = 1, "clean"
	run.Spec.Loads[0].DurationSeconds, run.Spec.Loads[0].WarmupSeconds = 1, new(int32(0))
	run.Spec.Implementations = run.Spec.Implementations[:1]
	for name, from := range map[string]string{
		"clean": "planted", "leak": "planted", "slow": "planted", "arena": "planted", "uninit": "planted-debian", "syscall": "planted-debian",
	} {
		run.Spec.Implementations = append(run.Spec.Implementations, v1alpha1.Implementation{
			Name: name, Image: image(from), Command: []string{"/usr/local/bin/planted-" + name}, Port: 8080,
		})
	}
	of := map[string][]string{
		"instructions": {"clean", "slow", "gohttp"}, "calls": {"clean", "syscall"}, "memory": {"clean", "leak", "uninit", "arena", "gohttp"}, "heap": {"clean", "leak", "gohttp"},
		"counters": {"clean", "gohttp"},
	}
	// Exact counts need few requests, and two repeats to show a spread. CPU time varies, and leaks must add up.
	requests, repeats := map[string]int32{"counters": 2000, "heap": 2000}, map[string]int32{"instructions": 2, "calls": 2}
	for i := range run.Spec.Profiles {
		p := &run.Spec.Profiles[i]
		p.Requests, p.Repeats, p.Implementations = cmp.Or(requests[p.Name], 500), repeats[p.Name], of[p.Name]
	}
	return run
}

// Each planted fault is found by file and line, or by name. The correct twin has none.
func TestProfilersFindWhatIsPlanted(t *testing.T) {
	run := plantedProfiles(t)
	data, table := measure(t, run, 15*time.Minute)
	if len(data.Following) != 15 || len(table.Profiles) != 5 {
		t.Fatalf("%d trials followed the blocks, for %d profiles", len(data.Following), len(table.Profiles))
	}
	for _, p := range table.Profiles {
		for _, f := range p.Found {
			t.Logf("%s of %s: %d launches, first answer within %d ms, %+v, %+v", p.Name, f.Implementation, f.Launches, f.FirstAnswerMillis, f.PerRequest, f.Versus)
			if p.Name == "memory" && f.Implementation == "gohttp" {
				if f.Launches > 0 || !strings.Contains(f.Cut, "Go's runtime") {
					t.Errorf("a Go server is run under memcheck: %+v", f)
				}
				continue
			}
			if f.Missing != "" || f.Wrong > 0 || f.Asked == 0 || f.Unended > 0 || f.Cut != "" || f.Result == nil || len(f.Result.Unread) > 0 {
				t.Errorf("%s of %s is not whole: %+v", p.Name, f.Implementation, f)
			}
		}
	}
	t.Run("memory", func(t *testing.T) { checkMemory(t, table) })
	t.Run("counts", func(t *testing.T) { checkCounts(t, table) })
	clean, leaking := found(t, table, "heap", "clean").Result.Massif.PeakHeap(), found(t, table, "heap", "leak").Result.Massif.PeakHeap()
	if leaking < 10*clean {
		t.Errorf("the peak heap of the leaking server is %d bytes, of the clean one %d", leaking, clean)
	}
	if used := found(t, table, "heap", "gohttp").Tool; used != profiler.MassifPages {
		t.Errorf("a Go server's memory is measured by %s", used)
	}
	checkReport(t, run, table)
}

func checkMemory(t *testing.T, table analysis.Table) {
	t.Helper()
	for name, want := range map[string]profiler.Verdicts{
		"clean":  {Errors: profiler.Verdict{Answer: profiler.Clean}, Leaks: profiler.Verdict{Answer: profiler.Clean}},
		"leak":   {Errors: profiler.Verdict{Answer: profiler.Clean}, Leaks: profiler.Verdict{Answer: profiler.Found}},
		"uninit": {Errors: profiler.Verdict{Answer: profiler.Found}, Leaks: profiler.Verdict{Answer: profiler.Clean}},
		"arena":  {Errors: profiler.Verdict{Answer: profiler.Inconclusive}, Leaks: profiler.Verdict{Answer: profiler.Inconclusive}},
	} {
		got := found(t, table, "memory", name).Result.Memcheck.Verdicts
		if got.Errors.Answer != want.Errors.Answer || got.Leaks.Answer != want.Leaks.Answer {
			t.Errorf("%s: errors are %+v, leaks %+v", name, got.Errors, got.Leaks)
		}
	}
	lost := found(t, table, "memory", "leak").Result.Memcheck.Leaks
	if !slices.ContainsFunc(lost, func(l memcheck.Leak) bool { return l.Lost() && plantedAt(memcheck.Site(l.Stack), "on_request") }) {
		t.Errorf("the planted leak is not among %+v", lost)
	}
	wrong := found(t, table, "memory", "uninit").Result.Memcheck.Errors
	if len(wrong) != 1 || !plantedAt(memcheck.Site(wrong[0].Stack), "decide") {
		t.Errorf("the planted read of what was never written is not %+v", wrong)
	}
}

// plantedAt reports whether a frame is in a function of the planted servers.
func plantedAt(f memcheck.Frame, function string) bool {
	return f.Function == function && strings.HasSuffix(f.File, "planted.c") && f.Line > 0
}

func checkCounts(t *testing.T, table analysis.Table) {
	t.Helper()
	slow := found(t, table, "instructions", "slow")
	if slow.Versus == nil || !slow.Versus.Apart || slow.Versus.Ratio < 10 || slow.Result.Costs.Self[0].Name != "checksum" || slow.Flame == nil {
		t.Errorf("the slow function is not found: %+v, %+v", slow.Versus, slow.Result.Costs)
	}
	if spread := found(t, table, "instructions", "clean").PerRequest.Spread(); spread > 0.01 {
		t.Errorf("the instructions of a request differ by %v from launch to launch", spread)
	}
	if used := found(t, table, "instructions", "gohttp"); used.Tool != profiler.Cachegrind || used.PerRequest == nil {
		t.Errorf("a Go server's instructions are counted by %s: %+v", used.Tool, used.PerRequest)
	}
	checkCounters(t, found(t, table, "counters", "clean"))
	more := found(t, table, "calls", "syscall")
	if more.Versus == nil || !more.Versus.Apart || !calls(more, "getppid") || calls(found(t, table, "calls", "clean"), "getppid") {
		t.Errorf("the additional system call is not found: %+v, %+v", more.Versus, more.Result.Calls)
	}
}

// checkCounters expects each counter to have a value or the kernel's reason, and the kernel's accounts to exist. A pod may have no hardware counters.
func checkCounters(t *testing.T, f analysis.Profiled) {
	t.Helper()
	for _, c := range f.Counters {
		t.Logf("%s: %+v per request, not measured: %q", c.Event, c.PerRequest, c.Why)
		if (c.Whole == nil) != (c.Why != "") {
			t.Errorf("%s has both a value and a reason, or neither", c.Event)
		}
		if c.Event == perfstat.TaskClock && (c.PerRequest == nil || c.Whole == nil || *c.Whole <= 0) {
			t.Errorf("a request has the CPU for %+v", c.PerRequest)
		}
	}
	if len(f.Counters) == 0 {
		t.Error("nothing was counted")
	}
}

func calls(f analysis.Profiled, name string) bool {
	for _, c := range f.Result.Calls.Calls {
		if c.Name == name {
			return true
		}
	}
	return false
}

func found(t *testing.T, table analysis.Table, profile, implementation string) analysis.Profiled {
	t.Helper()
	for _, p := range table.Profiles {
		for _, f := range p.Found {
			if p.Name == profile && f.Implementation == implementation && f.Result != nil {
				return f
			}
		}
	}
	t.Fatalf("there is no profile %s of %s", profile, implementation)
	return analysis.Profiled{}
}
