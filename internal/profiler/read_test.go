package profiler_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"loadstone.dev/loadstone/internal/profiler"
	"loadstone.dev/loadstone/internal/profiler/callgrind"
)

func folder(t *testing.T, files map[string]string) fstest.MapFS {
	t.Helper()
	out := fstest.MapFS{}
	for name, recorded := range files {
		text, err := os.ReadFile(filepath.FromSlash(recorded))
		if err != nil {
			t.Fatal(err)
		}
		out[name] = &fstest.MapFile{Data: text}
	}
	return out
}

func loaded(tool profiler.Tool) profiler.Run { return profiler.Run{Tool: tool, Requests: 100} }

func TestMemchecksFilesBecomeVerdicts(t *testing.T) {
	for name, tc := range map[string]struct {
		twin          string
		errors, leaks profiler.Answer
	}{
		"the planted program": {"planted", profiler.Found, profiler.Found},
		"its clean twin":      {"clean", profiler.Clean, profiler.Clean},
		"a static program":    {"static", profiler.Inconclusive, profiler.Inconclusive},
	} {
		t.Run(name, func(t *testing.T) {
			run := loaded(profiler.Memcheck)
			run.Program = profiler.Program{Static: tc.twin == "static"}
			r := profiler.Read(folder(t, map[string]string{
				"memcheck.7.xml": "memcheck/testdata/" + tc.twin + ".xml", "heap.7.xtree": "memcheck/testdata/" + tc.twin + ".xtree",
				"valgrind.7.log": "testdata/messages/planted.log",
			}), run)
			if r.Memcheck.Verdicts.Errors.Answer != tc.errors || r.Memcheck.Verdicts.Leaks.Answer != tc.leaks || len(r.Unread) != 0 || r.Processes != 1 {
				t.Errorf("verdicts %+v, unread %+v", r.Memcheck.Verdicts, r.Unread)
			}
		})
	}
}

func TestProcessesOfOneProgramAddUp(t *testing.T) {
	r := profiler.Read(folder(t, map[string]string{
		"memcheck.7.xml": "memcheck/testdata/planted.xml", "memcheck.8.xml": "memcheck/testdata/clean.xml", "heap.7.xtree": "memcheck/testdata/planted.xtree",
		"heap.8.xtree": "memcheck/testdata/clean.xtree", "heap.9.xtree": "memcheck/testdata/clean.xtree",
	}), loaded(profiler.Memcheck))
	if m := r.Memcheck; len(m.Leaks) != 1 || m.Heap.Allocations != 600 || r.Processes != 3 || m.Verdicts.Leaks.Answer != profiler.Found {
		t.Errorf("%d processes, heap %+v, verdicts %+v", r.Processes, m.Heap, m.Verdicts)
	}
	r = profiler.Read(folder(t, map[string]string{
		"callgrind.7.out": "callgrind/testdata/clean.out", "callgrind.8.out": "callgrind/testdata/planted.out",
	}), loaded(profiler.Callgrind))
	if r.Costs == nil || r.Costs.Self[0].Name != "checksum" || r.Costs.Total[0] != r.Profiles[0].Total[0]+r.Profiles[1].Total[0] {
		t.Errorf("costs %+v", r.Costs)
	}
}

func TestFilesThatAreMissingOrCutAreNamed(t *testing.T) {
	for name, tc := range map[string]struct {
		tool  profiler.Tool
		files map[string]string
		want  string
	}{
		"no XML":                {profiler.Memcheck, nil, "memcheck.*.xml: the tool wrote no such file"},
		"half an XML":           {profiler.Memcheck, map[string]string{"memcheck.7.xml": "memcheck/testdata/cut.xml"}, "memcheck.7.xml: reading memcheck's XML: the file ends early"},
		"no snapshots":          {profiler.Massif, nil, "massif.*.out: the tool wrote no such file"},
		"no costs":              {profiler.Cachegrind, nil, "cachegrind.*.out: the tool wrote no such file"},
		"no calls":              {profiler.Strace, nil, "strace.txt: the tool wrote no such file"},
		"garbage of memcheck":   {profiler.Memcheck, map[string]string{"memcheck.7.xml": "testdata/strace/clean.txt"}, "memcheck.7.xml: reading memcheck's XML: "},
		"garbage of massif":     {profiler.Massif, map[string]string{"massif.7.out": "testdata/strace/clean.txt"}, "massif.7.out: reading massif's snapshots: the file is not what the tool writes"},
		"garbage of callgrind":  {profiler.Callgrind, map[string]string{"callgrind.7.out": "testdata/strace/clean.txt"}, "callgrind.7.out: reading "},
		"garbage of cachegrind": {profiler.Cachegrind, map[string]string{"cachegrind.7.out": "massif/testdata/clean.out"}, "cachegrind.7.out: reading "},
		"garbage of strace":     {profiler.Strace, map[string]string{"strace.txt": "massif/testdata/clean.out"}, "strace.txt: reading "},
		"half a line":           {profiler.PerfStat, map[string]string{"perf-stat.csv": "perfstat/testdata/half.csv"}, "perf-stat.csv: reading perf's counters: the file ends early"},
		"another file":          {profiler.PerfStat, map[string]string{"perf-stat.csv": "testdata/strace/clean.txt"}, "perf-stat.csv: reading perf's counters: the file is not what the tool writes"},
	} {
		t.Run(name, func(t *testing.T) {
			r := profiler.Read(folder(t, tc.files), loaded(tc.tool))
			if len(r.Unread) == 0 || !strings.HasPrefix(r.Unread[0].File+": "+r.Unread[0].Why, tc.want) {
				t.Errorf("unread %+v, want %q", r.Unread, tc.want)
			}
			if r.Memcheck != nil && r.Memcheck.Verdicts.Leaks.Answer != profiler.Inconclusive {
				t.Errorf("verdicts %+v", r.Memcheck.Verdicts)
			}
		})
	}
}

// One process's garbage must not lose another's result.
func TestWhatIsWholeIsKeptBesideGarbage(t *testing.T) {
	for tool, files := range map[profiler.Tool]map[string]string{
		profiler.Callgrind: {"callgrind.7.out": "callgrind/testdata/clean.out", "callgrind.8.out": "testdata/strace/clean.txt"},
		profiler.Massif:    {"massif.7.out": "massif/testdata/clean.out", "massif.8.out": "testdata/strace/clean.txt"},
	} {
		if r := profiler.Read(folder(t, files), loaded(tool)); len(r.Unread) != 1 || r.Costs == nil && r.Massif == nil {
			t.Errorf("%s: unread %+v, costs %v, massif %v", tool, r.Unread, r.Costs, r.Massif)
		}
	}
}

func TestAnUnknownInstructionIsToldOfEveryTool(t *testing.T) {
	for _, tool := range []profiler.Tool{profiler.Memcheck, profiler.Massif, profiler.Callgrind, profiler.Cachegrind} {
		r := profiler.Read(folder(t, map[string]string{"valgrind.7.log": "testdata/messages/illegal.log"}), loaded(tool))
		got := r.Trouble()
		if len(got) != 1 || got[0].Code != profiler.UnknownInstruction || !strings.Contains(got[0].Sentence, "0x109129 (0x62 0xF1") || !strings.Contains(got[0].Sentence, "-march=x86-64-v2") {
			t.Errorf("%s: %+v", tool, got)
		}
	}
}

func TestWhatMassifStraceAndPerfSawIsKept(t *testing.T) {
	if r := profiler.Read(folder(t, map[string]string{"massif.7.out": "massif/testdata/planted.out"}), loaded(profiler.Massif)); r.Massif == nil || len(r.Unread) != 0 {
		t.Errorf("massif: %+v", r)
	}
	r := profiler.Read(folder(t, map[string]string{"massif.7.out": "massif/testdata/static.out"}), loaded(profiler.Massif))
	if last := r.Limits[len(r.Limits)-1]; !strings.Contains(last.Sentence, "saw no allocation") {
		t.Errorf("limits %+v", r.Limits)
	}
	if r := profiler.Read(folder(t, map[string]string{"strace.txt": "testdata/strace/planted.txt"}), loaded(profiler.Strace)); r.Calls == nil || r.Calls.Total.Count == 0 {
		t.Errorf("strace: %+v", r)
	}
	if r := profiler.Read(folder(t, map[string]string{"perf-stat.csv": "perfstat/testdata/planted.csv"}), loaded(profiler.PerfStat)); len(r.Counters) == 0 {
		t.Errorf("perf: %+v", r)
	}
}

func counted(requests, instructions int64) profiler.Result {
	r := profiler.Result{Run: profiler.Run{Tool: profiler.Callgrind, Requests: requests}}
	r.Costs = &profiler.Costs{Total: callgrind.Cost{instructions}}
	return r
}

func TestTheCostOfARequestIsTheDifferenceOfTwoRuns(t *testing.T) {
	for name, tc := range map[string]struct {
		fewer, more profiler.Result
		want        float64
	}{
		"start-up cancels out":        {counted(500, 1_001_000), counted(2500, 1_005_000), 2},
		"the same number of requests": {counted(500, 100), counted(500, 200), math.NaN()},
		"fewer instructions":          {counted(500, 300), counted(2500, 200), math.NaN()},
		"a run that was not counted":  {counted(500, 0), counted(2500, 200), math.NaN()},
		"two tools":                   {profiler.Result{Calls: &profiler.SystemCalls{Total: profiler.Call{Count: 9}}}, counted(2500, 200), math.NaN()},
		"nothing":                     {profiler.Result{}, profiler.Result{}, math.NaN()},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := profiler.PerRequest(tc.fewer, tc.more)
			if math.IsNaN(tc.want) {
				if !errors.Is(err, profiler.ErrNoDifference) {
					t.Errorf("%v, error %v", got, err)
				}
			} else if err != nil || got != tc.want {
				t.Errorf("%v, want %v; error %v", got, tc.want, err)
			}
		})
	}
}
