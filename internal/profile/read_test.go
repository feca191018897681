package profile_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/profile"
	"loadstone.dev/loadstone/internal/profile/callgrind"
	"loadstone.dev/loadstone/internal/profile/strace"
	"loadstone.dev/loadstone/internal/record"
)

// folder is one of outputs, by their names, of recorded files.
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

// loaded is a run under a tool that answered a hundred requests.
func loaded(tool profile.Tool) profile.Run { return profile.Run{Tool: tool, Requests: 100} }

func TestMemchecksFilesBecomeVerdicts(t *testing.T) {
	for name, tc := range map[string]struct {
		twin          string
		errors, leaks profile.Answer
	}{
		"the planted program": {"planted", profile.Found, profile.Found},
		"its clean twin":      {"clean", profile.Clean, profile.Clean},
		"a static program":    {"static", profile.Inconclusive, profile.Inconclusive},
	} {
		t.Run(name, func(t *testing.T) {
			run := loaded(profile.Memcheck)
			run.Program = profile.Program{Static: tc.twin == "static"}
			r := profile.Read(folder(t, map[string]string{
				"memcheck.7.xml": "memcheck/testdata/" + tc.twin + ".xml", "heap.7.xtree": "memcheck/testdata/" + tc.twin + ".xtree",
				"valgrind.7.log": "messages/testdata/planted.log",
			}), run)
			if r.Memcheck.Verdicts.Errors.Answer != tc.errors || r.Memcheck.Verdicts.Leaks.Answer != tc.leaks || len(r.Unread) != 0 || r.Processes != 1 {
				t.Errorf("verdicts %+v, unread %+v", r.Memcheck.Verdicts, r.Unread)
			}
		})
	}
}

func TestProcessesOfOneProgramAddUp(t *testing.T) {
	r := profile.Read(folder(t, map[string]string{
		"memcheck.7.xml": "memcheck/testdata/planted.xml", "memcheck.8.xml": "memcheck/testdata/clean.xml", "heap.7.xtree": "memcheck/testdata/planted.xtree",
		"heap.8.xtree": "memcheck/testdata/clean.xtree", "heap.9.xtree": "memcheck/testdata/clean.xtree",
	}), loaded(profile.Memcheck))
	if m := r.Memcheck; len(m.Leaks) != 1 || m.Heap.Allocations != 600 || r.Processes != 3 || m.Verdicts.Leaks.Answer != profile.Found {
		t.Errorf("%d processes, heap %+v, verdicts %+v", r.Processes, m.Heap, m.Verdicts)
	}
	r = profile.Read(folder(t, map[string]string{
		"callgrind.7.out": "callgrind/testdata/clean.out", "callgrind.8.out": "callgrind/testdata/planted.out",
	}), loaded(profile.Callgrind))
	if r.Costs == nil || r.Costs.Self[0].Name != "checksum" || r.Costs.Total[0] != r.Profiles[0].Total[0]+r.Profiles[1].Total[0] {
		t.Errorf("costs %+v", r.Costs)
	}
}

func TestFilesThatAreMissingOrCutAreNamed(t *testing.T) {
	for name, tc := range map[string]struct {
		tool  profile.Tool
		files map[string]string
		want  string
	}{
		"no XML":       {profile.Memcheck, nil, "memcheck.*.xml: the tool wrote no such file"},
		"half an XML":  {profile.Memcheck, map[string]string{"memcheck.7.xml": "memcheck/testdata/cut.xml"}, "memcheck.7.xml: reading memcheck's XML: the file ends early"},
		"no snapshots": {profile.Massif, nil, "massif.*.out: the tool wrote no such file"},
		"no costs":     {profile.Cachegrind, nil, "cachegrind.*.out: the tool wrote no such file"},
		"no calls":     {profile.Strace, nil, "strace.txt: the tool wrote no such file"},
		"another file": {profile.PerfStat, map[string]string{"perf-stat.csv": "strace/testdata/clean.txt"}, "perf-stat.csv: reading perf's counters: the file is not what the tool writes"},
	} {
		t.Run(name, func(t *testing.T) {
			r := profile.Read(folder(t, tc.files), loaded(tc.tool))
			if len(r.Unread) == 0 || !strings.HasPrefix(r.Unread[0].File+": "+r.Unread[0].Why, tc.want) {
				t.Errorf("unread %+v, want %q", r.Unread, tc.want)
			}
			if r.Memcheck != nil && r.Memcheck.Verdicts.Leaks.Answer != profile.Inconclusive {
				t.Errorf("verdicts %+v", r.Memcheck.Verdicts)
			}
		})
	}
}

func TestWhatMassifStraceAndPerfSawIsKept(t *testing.T) {
	if r := profile.Read(folder(t, map[string]string{"massif.7.out": "massif/testdata/planted.out"}), loaded(profile.Massif)); r.Massif == nil || len(r.Unread) != 0 {
		t.Errorf("massif: %+v", r)
	}
	r := profile.Read(folder(t, map[string]string{"massif.7.out": "massif/testdata/static.out"}), loaded(profile.Massif))
	if last := r.Limits[len(r.Limits)-1]; !strings.Contains(last.Sentence, "saw no allocation") {
		t.Errorf("limits %+v", r.Limits)
	}
	if r := profile.Read(folder(t, map[string]string{"strace.txt": "strace/testdata/planted.txt"}), loaded(profile.Strace)); r.Calls == nil || r.Calls.Total.Count == 0 {
		t.Errorf("strace: %+v", r)
	}
	if r := profile.Read(folder(t, map[string]string{"perf-stat.csv": "perfstat/testdata/planted.csv"}), loaded(profile.PerfStat)); len(r.Counters) == 0 {
		t.Errorf("perf: %+v", r)
	}
}

// counted is a result of so many requests for so many instructions.
func counted(requests, instructions int64) profile.Result {
	r := profile.Result{Run: profile.Run{Tool: profile.Callgrind, Requests: requests}}
	r.Costs = &profile.Costs{Total: callgrind.Cost{instructions}}
	return r
}

func TestTheCostOfARequestIsTheDifferenceOfTwoRuns(t *testing.T) {
	for name, tc := range map[string]struct {
		fewer, more profile.Result
		want        float64
	}{
		"start-up cancels out":        {counted(500, 1_001_000), counted(2500, 1_005_000), 2},
		"the same number of requests": {counted(500, 100), counted(500, 200), math.NaN()},
		"fewer instructions":          {counted(500, 300), counted(2500, 200), math.NaN()},
		"a run that was not counted":  {counted(500, 0), counted(2500, 200), math.NaN()},
		"two tools":                   {profile.Result{Calls: &strace.Result{Total: strace.Call{Count: 9}}}, counted(2500, 200), math.NaN()},
		"nothing":                     {profile.Result{}, profile.Result{}, math.NaN()},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := profile.PerRequest(tc.fewer, tc.more)
			if math.IsNaN(tc.want) {
				if !errors.Is(err, profile.ErrNoDifference) {
					t.Errorf("%v, error %v", got, err)
				}
			} else if err != nil || got != tc.want {
				t.Errorf("%v, want %v; error %v", got, tc.want, err)
			}
		})
	}
}

func TestRowsAreTheValuesThatFollow(t *testing.T) {
	memory := func(twin string) profile.Result {
		return profile.Read(folder(t, map[string]string{
			"memcheck.7.xml": "memcheck/testdata/" + twin + ".xml", "heap.7.xtree": "memcheck/testdata/" + twin + ".xtree",
		}), loaded(profile.Memcheck))
	}
	heap := profile.Read(folder(t, map[string]string{"massif.7.out": "massif/testdata/clean.out"}), loaded(profile.Massif))
	unseen := profile.Read(folder(t, map[string]string{"massif.7.out": "massif/testdata/static.out"}), loaded(profile.Massif))
	calls := func(requests, n int64) profile.Result {
		return profile.Result{Run: profile.Run{Tool: profile.Strace, Requests: requests}, Calls: &strace.Result{Total: strace.Call{Count: n}}}
	}
	row := func(metric, unit string, value float64) []record.Row {
		return []record.Row{record.Exactly(metric, "load", unit, record.LessIsBetter, value)}
	}
	for name, tc := range map[string]struct {
		fewer, more profile.Result
		want        []record.Row
	}{
		"instructions of a request":   {counted(500, 1_001_000), counted(2500, 1_005_000), row(profile.MetricInstructions, "1", 2)},
		"system calls of a request":   {calls(100, 250), calls(300, 750), row(profile.MetricSystemCalls, "1", 2.5)},
		"the highest heap":            {heap, heap, row(profile.MetricPeakHeap, "B", float64(heap.Massif.PeakHeap()))},
		"no heap was seen":            {unseen, unseen, nil},
		"what leaked":                 {memory("planted"), memory("planted"), row(profile.MetricLeaked, "B", 21504)},
		"nothing leaked":              {memory("clean"), memory("clean"), nil},
		"no difference, and no value": {counted(500, 100), counted(500, 100), nil},
		"nothing at all":              {profile.Result{}, profile.Result{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, profile.Rows("load", tc.fewer, tc.more)); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
		})
	}
}
