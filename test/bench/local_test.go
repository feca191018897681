package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"loadstone.dev/loadstone/hack/figures"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/inference"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/tool/cases"
)

// bin is where "make build" leaves the programs.
const bin = "../../bin"

// program returns the absolute path of a program in bin.
func (m measurement) program(name string) string {
	m.Helper()
	path, err := filepath.Abs(filepath.Join(bin, name))
	m.must(err)
	if _, err := os.Stat(path); err != nil {
		m.Fatalf("%s is not there: make build makes it", path)
	}
	return path
}

// lead runs a file with loadstone run and reads the results. It needs no verdict.
func (m measurement) lead(text string) record.RunData {
	m.Helper()
	folder := m.TempDir()
	file := filepath.Join(folder, "run.yaml")
	m.must(os.WriteFile(file, []byte(text), 0o600))
	out, err := exec.CommandContext(m.Context(), m.program("loadstone"), "run", "--out", filepath.Join(folder, "results"), file).CombinedOutput()
	const inconclusive = 4
	if code := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &code) || code.ExitCode() != inconclusive) {
		m.Fatalf("leading a run: %v: %s", err, out)
	}
	f, err := artifact.OpenFolder(folder)
	m.must(err)
	data, err := f.Load(m.Context(), "results", "")
	m.must(err)
	return data
}

func (m measurement) sweep(levels string, warmup, seconds, blocks int) record.RunData {
	m.Helper()
	return m.lead(fmt.Sprintf(`apiVersion: loadstone.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: bench}
spec:
  implementations:
  - {name: first, command: [%[1]s, --port=18081], port: 18081}
  - {name: second, command: [%[1]s, --port=18082], port: 18082}
  baseline: first
  loads: [{name: sweep, tool: wrk, levels: [%[2]s], warmupSeconds: %[3]d, durationSeconds: %[4]d}]
  blocks: %[5]d
`, m.program("gohttp"), levels, warmup, seconds, blocks))
}

// BenchmarkLocalShareUnderLoad measures the share of a sweep's time that is under load.
func BenchmarkLocalShareUnderLoad(b *testing.B) {
	m, seconds := begin(b), sized(10, 1)
	warmup := max(seconds/5, 1)
	data := m.sweep("{connections: 10}, {connections: 50}, {connections: 100}, {connections: 500}", warmup, seconds, 3)
	var loaded time.Duration
	cells := 0
	for _, t := range data.Trials {
		for _, c := range t.Generators[0].Cells {
			if c.Measurement != nil {
				loaded += time.Duration(warmup)*time.Second + time.Duration(c.Measurement.DurationMicros)*time.Microsecond
				cells++
			}
		}
	}
	took := data.Manifest.Ended.Sub(data.Manifest.Started)
	note := fmt.Sprintf("%d cells in %.1f s, %d blocks repeated", cells, took.Seconds(), data.Manifest.RepeatBlocks)
	m.report(figures.Of("local-share-under-load", 100*loaded.Seconds()/took.Seconds(), "%", figures.AtLeast(97), note))
}

// values are results by name; cpus are the CPUs of server and generator.
type (
	values map[string]float64
	cpus   [2]string
)

// inPairs compares Loadstone with the same measurement by hand, in pairs of random order and on the CPUs that Loadstone chose. A pair counts with the
// geometric mean of its ratios.
func (m measurement) inPairs(name string, pairs int, through func() (values, cpus), byHand func(cpus) values) figures.Figure {
	m.Helper()
	_, on := through()
	var ratios []float64
	for range pairs {
		var own, base values
		sides := []func(){func() { own, on = through() }, func() { base = byHand(on) }}
		for _, i := range rand.Perm(len(sides)) {
			sides[i]()
		}
		ratio, err := ratioOf(own, base)
		m.must(err)
		ratios = append(ratios, ratio)
	}
	of, err := figures.Geometric(ratios)
	m.must(err)
	return figures.Figure{
		Name: name, Value: of.Mean, Interval: of, Unit: "ratio", Aim: figures.Within(0.98, 1.02).Bound(0), Note: fmt.Sprintf("n=%d, %s", len(ratios), of),
	}
}

// ratioOf is the geometric mean of the ratios of all values.
func ratioOf(own, base values) (float64, error) {
	if len(own) == 0 || len(own) != len(base) {
		return 0, fmt.Errorf("one side has %d values, and the other %d", len(own), len(base))
	}
	var logs float64
	for name, v := range own {
		ratio := v / base[name]
		if !(ratio > 0) || math.IsInf(ratio, 1) {
			return 0, fmt.Errorf("%s has no value on both sides", name)
		}
		logs += math.Log(ratio)
	}
	return math.Exp(logs / float64(len(own))), nil
}

// BenchmarkLocalThroughputAgainstWrk compares a cell's throughput with wrk by hand, on the same CPUs.
func BenchmarkLocalThroughputAgainstWrk(b *testing.B) {
	const warmup, seconds = 1, 2
	m := begin(b)
	m.report(m.inPairs("local-throughput-against-wrk-by-hand", sized(20, 2), func() (values, cpus) {
		for _, t := range m.sweep("{connections: 100}", warmup, seconds, 1).Trials {
			if own := t.Generators[0].Cells[0]; t.Manifest.Servers[0] == "first" && own.Measurement != nil {
				return values{"requests/s": throughput(own.Measurement)}, cpus{t.Servers[0].Cells[0].CPUsAllowed, own.CPUsAllowed}
			}
		}
		m.Fatal("the run has no measurement of the first server")
		return nil, cpus{}
	}, func(on cpus) values { return values{"requests/s": m.wrk(on, warmup, seconds)} }))
}

func throughput(m *record.Measurement) float64 {
	return float64(m.Requests) / (float64(m.DurationMicros) / 1e6)
}

// wrk starts the server and runs wrk twice, first to warm up.
func (m measurement) wrk(on cpus, warmup, seconds int) float64 {
	m.Helper()
	const port, settle = "18081", 300 * time.Millisecond
	defer m.serve(pinned(m.Context(), on[0], m.program("gohttp"), "--port="+port))()
	time.Sleep(settle)
	var out []byte
	for _, d := range []int{warmup, seconds} {
		var err error
		out, err = pinned(m.Context(), on[1], "wrk", "-t1", "-c100", "-d"+strconv.Itoa(d)+"s", "http://127.0.0.1:"+port+"/").CombinedOutput()
		if err != nil {
			m.Fatalf("running wrk by hand: %v: %s", err, out)
		}
	}
	rate, err := printedRate(string(out))
	m.must(err)
	return rate
}

// serve starts a server and returns a function that stops it.
func (m measurement) serve(server *exec.Cmd) (end func()) {
	m.Helper()
	m.must(server.Start())
	return func() {
		_ = server.Process.Kill() // It may have ended already.
		_ = server.Wait()         // Its status is that of the kill.
	}
}

func pinned(ctx context.Context, cpus string, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, "taskset", append([]string{"--cpu-list", cpus}, args...)...)
}

var rateLine = regexp.MustCompile(`(?m)^Requests/sec:\s+([0-9.]+)$`)

func printedRate(out string) (float64, error) {
	found := rateLine.FindStringSubmatch(out)
	if found == nil {
		return 0, fmt.Errorf("reading wrk's output: it has no line Requests/sec: %q", out)
	}
	return strconv.ParseFloat(found[1], 64)
}

// BenchmarkLocalCasesAgainstByHand compares the cases of a program in a trial with the same program by hand, on the same CPUs. A process counts with
// the median of each case.
func BenchmarkLocalCasesAgainstByHand(b *testing.B) {
	m := begin(b)
	program := m.program("faulty")
	f := m.inPairs("case-time-against-by-hand", sized(40, 4), func() (values, cpus) {
		data := m.lead(fmt.Sprintf(`apiVersion: loadstone.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: bench}
spec:
  implementations: [{name: only, command: [%s, cases]}]
  baseline: only
  microbenchmark: {format: JSONLines, limitSeconds: 60}
  blocks: 1
`, program))
		if len(data.Trials) == 0 || data.Trials[0].Servers[0].Program == nil {
			m.Fatal("the run of the program has no trial")
		}
		own := data.Trials[0].Servers[0]
		return timesOf(own.Program.Cases), cpus{own.Cells[0].CPUsAllowed}
	}, func(on cpus) values {
		out, err := pinned(m.Context(), on[0], program, "cases").Output()
		m.must(err)
		found, err := cases.Read(record.JSONLines, out)
		m.must(err)
		var run record.ProgramRun
		found.Record(&run)
		return timesOf(run.Cases)
	})
	off := 100 * max(f.Interval.Low-1, 1-f.Interval.High, 0)
	m.report(f, figures.Of("case-time-interval-off-one", off, "%", figures.AtMost(0), "how far the interval lies from 1"))
}

func timesOf(list []record.Case) values {
	times := values{}
	for _, c := range list {
		for _, v := range c.Values {
			if v.Metric == "Time" {
				times[c.Name] = inference.Median(v.Samples)
			}
		}
	}
	return times
}

// BenchmarkLocalProgram measures the size of loadstone and the time of its help.
func BenchmarkLocalProgram(b *testing.B) {
	m := begin(b)
	program := m.program("loadstone")
	info, err := os.Stat(program)
	m.must(err)
	var took []time.Duration
	for range 11 {
		began := time.Now()
		m.must(exec.CommandContext(b.Context(), program, "--help").Run())
		took = append(took, time.Since(began))
	}
	m.report(
		figures.Of("loadstone-help", 1e3*figures.Median(took).Seconds(), "ms", figures.AtMost(50), figures.Spread(took)),
		figures.Of("loadstone-size", float64(info.Size())/1e6, "MB", figures.AtMost(60), ""),
	)
}

func TestSidesOfAPairAreComparedByAllTheirValues(t *testing.T) {
	for name, tc := range map[string]struct {
		own, base values
		want      float64
	}{
		"all values":                  {values{"a": 2, "b": 8}, values{"b": 4, "a": 4}, 1},
		"nothing":                     {},
		"a value that one lacks":      {values{"a": 1}, values{"a": 1, "b": 1}, 0},
		"another value":               {values{"a": 1}, values{"b": 1}, 0},
		"a value of 0 on either side": {values{"a": 0}, values{"a": 1}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ratioOf(tc.own, tc.base)
			if (err == nil) != (tc.want > 0) || math.Abs(got-tc.want) > 1e-12 {
				t.Errorf("got %g, %v; want %g", got, err, tc.want)
			}
		})
	}
}
