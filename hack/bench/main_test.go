package main

import (
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"loadstone.dev/loadstone/hack/bench/cluster"
	"loadstone.dev/loadstone/hack/bench/figures"
	"loadstone.dev/loadstone/hack/bench/rates"
	"loadstone.dev/loadstone/internal/record"
)

func TestChoosingMeasurements(t *testing.T) {
	const each = "start, sweep, pairs, generators, memory, profiles, stored, dependency, chart, local, cases, program, rates, merging, verdicts, power, regression, duet"
	for name, tc := range map[string]struct {
		only          string
		want          string
		wantOnCluster bool
		wantErr       string
	}{
		"all of them":                     {"", each, true, ""},
		"one":                             {"duet", "duet", false, ""},
		"several, in the order asked":     {"power,merging", "power, merging", false, ""},
		"one of several on the cluster":   {"merging,memory", "merging, memory", true, ""},
		"one that there is not":           {"merging,nonsense", "", false, "-only nonsense: there are " + each},
		"a comma behind which is nothing": {"merging,", "", false, "-only : there are " + each},
	} {
		t.Run(name, func(t *testing.T) {
			log := figures.NewLog(io.Discard)
			got, err := choose(all(cluster.New(log, cluster.Full), here{}, log), tc.only)
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Fatalf("got %v, want %q", err, tc.wantErr)
				}
				return
			}
			if err != nil || names(got) != tc.want || onCluster(got) != tc.wantOnCluster {
				t.Errorf("got %q, on a cluster: %v, %v; want %q and %v", names(got), onCluster(got), err, tc.want, tc.wantOnCluster)
			}
		})
	}
}

func TestEveryMeasurementIsReckoned(t *testing.T) {
	log := figures.NewLog(io.Discard)
	own := here{log: log, pairs: herePairs, seconds: hereSeconds, rates: rates.Full}
	full, tiny := all(cluster.New(log, cluster.Full), own, log), all(cluster.New(log, cluster.Tiny), own, log)
	for i, m := range full {
		if m.reckoned <= 0 || m.onCluster && tiny[i].reckoned >= m.reckoned {
			t.Errorf("%s takes %s, and %s where next to nothing is measured", m.name, m.reckoned, tiny[i].reckoned)
		}
	}
	if got := reckoned(full); got < 25*time.Minute || got > 45*time.Minute {
		t.Errorf("all take %s, want about the 40 minutes that are documented", got)
	}
}

func TestHowFiguresArePrinted(t *testing.T) {
	list := []figures.Figure{
		figures.Of("dead-time", 3.5, "s", figures.AtMost(4), "n=3"),
		{Name: "lost", Unit: "%", Aim: figures.AtLeast(90), Missing: "no run ended"},
	}
	for name, tc := range map[string]struct {
		warning []string
		want    string
	}{
		"on a quiet machine": {nil, "dead-time\t3.5\ts\t<=4\tmet\tn=3\nlost\t-\t%\t>=90\tnot measured\tno run ended\n"},
		"beside others": {
			[]string{"NOT QUIET: others used 0.50 CPUs"},
			"dead-time\t3.5\ts\t<=4\tmet\tNOT QUIET: others used 0.50 CPUs; n=3\nlost\t-\t%\t>=90\tnot measured\tno run ended\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			if err := printLines(&out, list, tc.warning); err != nil || out.String() != tc.want {
				t.Errorf("got %q, %v; want %q", out.String(), err, tc.want)
			}
		})
	}
	if err := printLines(broken{}, list, nil); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v of an output that is closed", err)
	}
}

// broken is an output that takes nothing.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestWhatTheProgramRefuses(t *testing.T) {
	for name, args := range map[string][]string{
		"a measurement that there is not": {"-only", "nonsense"},
		"a flag that there is not":        {"-all"},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			if err := run(t.Context(), &out, io.Discard, args); err == nil || out.Len() > 0 {
				t.Errorf("got %v and the figures %q", err, out.String())
			}
		})
	}
}

func TestARecordedFigureIsPrintedWithoutACluster(t *testing.T) {
	var out, log strings.Builder
	t.Setenv("KUBECONFIG", t.TempDir()+"/none")
	if err := run(t.Context(), &out, &log, []string{"-only", "duet", "-try"}); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(out.String(), "sliced-to-sequential-sd\t") || strings.Count(out.String(), "\n") != 3 {
		t.Errorf("got %q, want the three figures of sliced pairs", out.String())
	}
	for _, want := range []string{"its figures mean nothing", "duet (about 1s left in all)"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("%q says nothing of %q", log.String(), want)
		}
	}
}

func write(t *testing.T, root, name, text string) {
	t.Helper()
	file := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestTheClustersCPUTimeByEitherVersionOfCgroups(t *testing.T) {
	tests := map[string]struct {
		files      map[string]string
		wantMillis int64
	}{
		"v2": {map[string]string{"loadstone/cpu.stat": "usage_usec 5000\nuser_usec 4000\n"}, 5},
		"v1, whose servers outside of pods are counted one by one": {
			map[string]string{
				"cpuacct/loadstone/cpuacct.usage":      "5000000\n",
				"cpuset/loadstone/system/cgroup.procs": "12\n13\n14\n",
				"12/stat":                              "12 (kube) 1 (x) S 1 12 12 0 -1 0 0 0 0 0 1 2 3 4 20 0 9 0 77\n",
				"13/stat":                              "13 (etcd) S 1 13 13 0 -1 0 0 0 0 0 10 0 0 0 20 0 9 0 77\n",
			},
			5 + 100 + 100,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			h := host{t.TempDir(), t.TempDir()}
			for file, text := range tc.files {
				write(t, h.cgroups, file, text)
				write(t, h.proc, file, text)
			}
			if got, ok := h.clusterTime(); !ok || got.Milliseconds() != tc.wantMillis {
				t.Errorf("got %s, %v; want %d ms", got, ok, tc.wantMillis)
			}
			if got, ok := h.cpuTime("nobody"); ok {
				t.Errorf("got %s of a cgroup that is not there", got)
			}
		})
	}
}

func TestTheRateThatSomebodyTypes(t *testing.T) {
	for out, want := range map[string]float64{"Running 1s test\nRequests/sec:  43250.12\nTransfer/sec: 3MB\n": 43250.12, "wrk: unknown host": 0} {
		if got, err := typedRate(out); got != want || (err == nil) != (want > 0) {
			t.Errorf("%q: got %g, %v", out, got, err)
		}
	}
}

func TestCasesAreComparedByTheirTimes(t *testing.T) {
	timed := func(name string, nanos ...float64) record.Case {
		return record.Case{Name: name, Values: []record.CaseValue{{Metric: "Time", Samples: nanos}}}
	}
	for name, tc := range map[string]struct {
		own, base []record.Case
		want      float64
	}{
		"the medians of all cases": {[]record.Case{timed("a", 1, 2, 9), timed("b", 8)}, []record.Case{timed("b", 4), timed("a", 4)}, 1},
		"nothing":                  {},
		"a case that one lacks":    {[]record.Case{timed("a", 1)}, []record.Case{timed("a", 1), timed("b", 1)}, 0},
		"another case":             {[]record.Case{timed("a", 1)}, []record.Case{timed("b", 1)}, 0},
		"a case without a time":    {[]record.Case{{Name: "a"}}, []record.Case{timed("a", 1)}, 0},
		"a time of 0":              {[]record.Case{timed("a", 1)}, []record.Case{timed("a", 0)}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ratioOf(tc.own, tc.base)
			if (err == nil) != (tc.want > 0) || math.Abs(got-tc.want) > 1e-12 {
				t.Errorf("got %g, %v; want %g", got, err, tc.want)
			}
		})
	}
}

func TestAProgramThatIsNotBuiltIsNamed(t *testing.T) {
	own := here{log: figures.NewLog(io.Discard), bin: t.TempDir(), pairs: 1, seconds: 1}
	for _, measure := range []func(context.Context) ([]figures.Figure, error){own.Local, own.Cases, own.Program} {
		if _, err := measure(t.Context()); err == nil || !strings.Contains(err.Error(), "loadstone") {
			t.Errorf("got %v", err)
		}
	}
}
