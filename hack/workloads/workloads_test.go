package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/hack/figures"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/cli/runfile"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
	"loadstone.dev/loadstone/workloads/ipc/ladder"
)

const specs = "../../config/workloads"

// The runs that hack/workloads.sh counts itself.
const callsRun, shareRun, startRun, allocationsRun = "zco-system-calls", "zco-busier-share", "zco-start", "ipc-allocations"

var counted = []string{callsRun, shareRun, startRun, allocationsRun}

func atMost(limit float64) figures.Aim  { return figures.AtMost(limit).Bound(0) }
func atLeast(limit float64) figures.Aim { return figures.AtLeast(limit).Bound(0) }

// noDearer is parity.
var noDearer = figures.AtMost(1).Bound(0.05)

func under(run, implementation, load string, connections int32, of quantity) source {
	return source{run: run, implementation: implementation, at: record.Point{Load: load, Connections: connections}, of: of}
}

// speed is the throughput of a server of the simulation.
func speed(implementation string) source {
	s := under("one", implementation, "sweep", 100, rate)
	s.throughput = true
	return s
}

func slow(implementation string) source {
	s := under("one", implementation, "sweep", 100, quantities["p99"])
	s.latency = true
	return s
}

func left(run, implementation, load string, connections int32) source {
	s := under(run, implementation, load, connections, unanswered)
	s.evenFailed = true
	return s
}

func prints(run, implementation, test, metric string) source {
	return source{run: run, implementation: implementation, test: test, metric: metric}
}

func ratio(name string, over, under source, aim figures.Aim) comparison {
	return comparison{name: name, over: []source{over}, under: []source{under}, unit: "ratio", aim: aim}
}

func value(name string, of source, unit string, take take, aim figures.Aim) comparison {
	return comparison{name: name, over: []source{of}, unit: unit, take: take, aim: aim}
}

func spec(t *testing.T, run string) *v1alpha1.BenchmarkRun {
	t.Helper()
	f, err := runfile.Open(t.Context(), filepath.Join(specs, run+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return f.Run
}

// measures reports whether a run measures the value of a source.
func measures(r *v1alpha1.BenchmarkRun, s source) bool {
	i := slices.IndexFunc(r.Spec.Implementations, func(i v1alpha1.Implementation) bool { return i.Name == s.implementation })
	if i < 0 {
		return false
	}
	if s.of == nil && slices.Contains(r.Spec.Implementations[i].Command, "ladder") {
		return slices.ContainsFunc(ladder.Cases(), func(c ladder.Case) bool { return c.Name == s.test })
	}
	if s.of == nil {
		return slices.ContainsFunc(r.Spec.Implementations[i].Command, func(arg string) bool {
			name, _, _ := strings.Cut(arg, "=")
			return name == s.test
		})
	}
	return slices.ContainsFunc(r.Spec.Loads, func(l v1alpha1.Load) bool {
		return l.Name == s.at.Load && slices.ContainsFunc(l.Levels, func(at v1alpha1.Level) bool { return at.Connections == s.at.Connections })
	})
}

func TestTheRunsMeasureWhatTheTableAsksFor(t *testing.T) {
	seen := map[string]bool{}
	opened := map[string]*v1alpha1.BenchmarkRun{}
	for _, c := range table {
		if seen[c.name] || c.unit == "" {
			t.Errorf("%s is there twice, or has no unit", c.name)
		}
		seen[c.name] = true
		for _, s := range slices.Concat(c.over, c.under) {
			if !slices.Contains(counted, s.run) && opened[s.run] == nil {
				opened[s.run] = spec(t, s.run)
			}
			if s.run != c.run() || !slices.Contains(counted, s.run) && !measures(opened[s.run], s) {
				t.Errorf("%s asks for what %s does not measure: %+v", c.name, c.run(), s)
			}
		}
	}
	files, err := filepath.Glob(specs + "/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if got := len(runs(table)); got != len(files)+len(counted) { // What hack/workloads.sh counts has no spec.
		t.Errorf("the table asks for %d runs, and there are %d specs", got, len(files))
	}
}

// simulation is a run. In it, b needs 1.2 times the CPU time of a.
func simulation(blocks int32) record.RunData {
	return recordtest.Run(recordtest.Options{
		Name: "one", Seed: 3, Blocks: blocks, Levels: []int32{10, 100}, Seconds: 2,
		Servers: []recordtest.Server{{Name: "a", CPUMicros: 10, RSSBytes: 9 << 20}, {Name: "b", CPUMicros: 12, RSSBytes: 9 << 20}},
	})
}

func simulated(t *testing.T, blocks int32) *results {
	t.Helper()
	r, err := keep(simulation(blocks))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestFiguresOfARun(t *testing.T) {
	a, b := under("one", "a", "sweep", 100, cpuPerRequest), under("one", "b", "sweep", 100, cpuPerRequest)
	slower, faster := speed("b"), speed("a")
	bound := simulated(t, 3)
	for i := range bound.sights {
		bound.sights[i].GeneratorAtLimit = true
	}
	oneSided := simulated(t, 3)
	for i := range oneSided.sights {
		oneSided.sights[i].GeneratorAtLimit = oneSided.sights[i].Implementation == "a"
	}
	queued := simulated(t, 3)
	for i := range queued.sights {
		queued.sights[i].Suspect = append(queued.sights[i].Suspect, validity.QueueInGenerator)
	}
	partly := simulated(t, 3)
	for i := range partly.sights {
		if partly.sights[i].Block == 2 {
			partly.sights[i].Suspect = append(partly.sights[i].Suspect, validity.QueueInGenerator)
		}
	}
	void := simulated(t, 3)
	for i := range void.sights {
		if void.sights[i].Block == 1 {
			void.sights[i].Void = []validity.Code{validity.CutShort}
		}
	}
	unserved := simulated(t, 3)
	for i := range unserved.sights {
		unserved.sights[i].Void, unserved.sights[i].Failed = []validity.Code{validity.Unanswered}, true
	}
	for name, tc := range map[string]struct {
		comparison comparison
		results    *results
		want       []string
	}{
		"a ratio is made within each block": {ratio("r", b, a, atMost(1.3)), simulated(t, 3), []string{"r\t1.2\tratio\t<=1.3 (bound)\tmet\tn=3, 99 % interval 1.2 to 1.2"}},
		"a void cell does not count":        {ratio("r", b, a, atMost(1.1)), void, []string{"\tshort\tn=2 of 3"}},
		"a void cell of what failed": {
			value("v", left("one", "b", "sweep", 100), "connections", theHighest, atMost(0)), unserved, []string{"v\t0\tconnections", "\tmet\tn=3"},
		},
		"a void cell of what was disturbed": {
			value("v", left("one", "b", "sweep", 100), "connections", theHighest, atMost(0)), void, []string{"\tmet\tn=2 of 3"},
		},
		"a throughput of the generator": {ratio("throughput", slower, faster, atLeast(1)), bound, []string{"not measured\tthe load generator was at its limit in each cell"}},
		"a throughput of which one side is the generator's": {
			ratio("throughput", slower, faster, atLeast(1)), oneSided, []string{"not measured\tthe load generator was at its limit in each cell of at least one side"},
		},
		"a latency with a queue in the generator": {ratio("p99", slow("b"), slow("a"), atMost(1)), queued, []string{"not measured\trequests waited in the load generator in each cell"}},
		"a latency with a queue in one block":     {ratio("p99", slow("b"), slow("a"), atMost(9)), partly, []string{"\tn=2 of 3"}},
		"CPU time with a queue in the generator":  {ratio("r", b, a, atMost(1.3)), queued, []string{"\tmet\tn=3"}},
		"one block has no interval":               {ratio("r", b, a, atMost(1)), simulated(t, 1), []string{"not measured", "fewer than two"}},
		"a value has no peer":                     {value("v", a, "µs", theHighest, atMost(11)), simulated(t, 3), []string{"v\t10.83\tµs\t<=11 (bound)\tmet\tn=3, 10.83 to 10.83"}},
		"an implementation that is missing":       {ratio("r", under("one", "c", "sweep", 100, rate), a, atMost(1)), simulated(t, 3), []string{"no block has all"}},
		"a run that is missing":                   {ratio("r", b, a, atMost(1)), &results{missing: "the run one has not ended"}, []string{"r\t-\tratio\t<=1 (bound)\tnot measured\tthe run one has not ended"}},
		"a spread against the peer's": {
			comparison{
				name: "s", over: []source{b, under("one", "a", "sweep", 10, cpuPerRequest)}, under: []source{under("one", "b", "sweep", 10, rate), a}, aim: noDearer,
			}, simulated(t, 3), []string{"s\t", "n=3"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := tc.comparison.figure(tc.results).Line()
			for _, want := range tc.want {
				if !strings.Contains(got, want) {
					t.Errorf("got  %s\nwant %s", got, want)
				}
			}
		})
	}
}

func TestQuantitiesOfARun(t *testing.T) {
	r := simulated(t, 2)
	for _, name := range []string{"cpuPerRequest", "throughput", "fairness", "p99", "memoryGrowth", "unanswered", "contextSwitches"} {
		if got := under("one", "a", "sweep", 10, quantities[name]).values(r); len(got) != 2 {
			t.Errorf("%s: got %v, want a value a block", name, got)
		}
	}
	if got := under("one", "a", "sweep", 10, unanswered).values(r); got[1] != 0 {
		t.Errorf("%g connections got no answer", got[1])
	}
}

func TestProgramOnSharedCPUAnswersNothing(t *testing.T) {
	r := toldRun("one", time.Time{}, head{}, 8, 4)
	c := ratio("r", prints("one", "a", "switch", wallTime), prints("one", "b", "switch", wallTime), atMost(3))
	if got := c.figure(r).Line(); !strings.Contains(got, "\tmet\tn=2") {
		t.Errorf("on CPUs of their own: got %s", got)
	}
	for i := range r.sights {
		if r.sights[i].Implementation == "b" {
			r.sights[i].Suspect = []validity.Code{validity.NotPinned}
		}
	}
	f := c.figure(r)
	if !unanswerable(f) || f.Missing != sharedCPU || (row{Figure: f}).verdict() != notTold {
		t.Errorf("on shared ones: got %s", f.Line())
	}
}

func TestCasesOfAProgram(t *testing.T) {
	rows := []record.Row{record.Exactly(wallTime, "switch", "ns", record.LessIsBetter, 8), {Metric: wallTime, Case: "swap", Value: 3, Void: "it ended early"}}
	r := &results{sights: []sight{{Block: 4, Implementation: "zco", Cases: printed(rows)}}}
	if got := prints("one", "zco", "switch", wallTime).values(r); len(got) != 1 || got[4] != 8 {
		t.Errorf("got %v", got)
	}
	for _, absent := range []source{prints("one", "zco", "switch", cpuTime), prints("one", "zco", "swap", wallTime), prints("one", "c", "switch", wallTime)} {
		if got := absent.values(r); len(got) != 0 {
			t.Errorf("got %v of what is not there, or does not count", got)
		}
	}
}

func program(t *testing.T, line string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bench")
	if err := os.WriteFile(path, []byte("#!/bin/sh\necho '"+line+"'\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCellsBecomeLines(t *testing.T) {
	for name, tc := range map[string]struct {
		prints, want string
	}{
		"a cell":             {`{"case":"own","operations":1000,"wallSeconds":2,"cpuSeconds":1}`, `"value":2000000}`},
		"a cell with waits":  {`{"case":"own","operations":1000,"wallSeconds":2,"cpuSeconds":1,"p99WaitSeconds":0.02}`, `"metric":"p99 wait","schema":"loadstone.case/v1","unit":"ns","value":20000000}`},
		"a cell with others": {`{"case":"own","operations":1000,"wallSeconds":2,"cpuSeconds":1,"writersCPUSeconds":0.75}`, `"metric":"CPU time of others","schema":"loadstone.case/v1","unit":"ns","value":250000}`},
		"another case":       {`{"case":"other","operations":1000,"wallSeconds":2,"cpuSeconds":1}`, `it ran the case "other"`},
		"no operation":       {`{"case":"own","operations":0,"wallSeconds":2,"cpuSeconds":1}`, "it counted 0 operations"},
		"what is no JSON":    {"none", "it printed no line of JSON"},
		"two lines at all":   {"{}\n{}", "more than one line"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			err := run(t.Context(), &out, []string{"cells", program(t, tc.prints), "name=own"})
			got := out.String()
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, tc.want) || err == nil && strings.Count(got, `"case":"name"`) < 2 {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestChoosing(t *testing.T) {
	for only, want := range map[string]string{
		"zco-switch":       "zco-switch\n",
		"coro,zco-jain":    "zco-fair\ncoro\ncoro-words\ncoro-reads\ncoro-depth\n",
		"zco-system":       "zco-system-calls\n",
		"uvhttp-cpu-to":    "uvhttp-epoll\nuvhttp-nginx\nuvhttp-streams\nuvhttp-h2o\n",
		"what there is no": "",
	} {
		var out bytes.Buffer
		err := run(t.Context(), &out, []string{"runs", only})
		if out.String() != want || (err == nil) != (want != "") {
			t.Errorf("%s: got %q, %v", only, out.String(), err)
		}
	}
	var out bytes.Buffer
	if err := run(t.Context(), &out, []string{"figures", t.TempDir(), "ipc"}); err == nil || strings.Count(out.String(), "the run ipc has not ended") != 3 {
		t.Errorf("got %v: %s", err, out.String())
	}
	if err := run(t.Context(), &out, nil); err == nil || !strings.Contains(err.Error(), "usage") {
		t.Errorf("got %v", err)
	}
}

func TestRejectsInvalidTableRow(t *testing.T) {
	for says, row := range map[string]string{
		"3 columns":           "a\tb\tc",
		"not mean":            "n\tr\ta,b,Time\t-\tns\tmedian\t-",
		"is no value":         "n\tr\ta\t-\tns\tmean\t-",
		"is no quantity":      "n\tr\ta,load,10,speed\t-\tns\tmean\t-",
		"reading the connect": "n\tr\ta,load,ten,p99\t-\tns\tmean\t-",
		"reading the aim":     "n\tr\ta,b,Time\ta,c,Time\tratio\tmean\t=1",
	} {
		if _, err := parseRow(row); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: got %v, want %q", row, err, says)
		}
	}
}
