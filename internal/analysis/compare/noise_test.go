package compare_test

import (
	"math"
	"strings"
	"testing"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/compare"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
)

func twins() record.RunData {
	o := recordtest.Duel(10)
	o.Levels, o.Seconds, o.Noise = []int32{100}, 1, 0.01
	o.Servers = []recordtest.Server{o.Servers[0], o.Servers[0]}
	o.Servers[1].Name = "again"
	d := recordtest.Run(o)
	for i := range d.Manifest.Plan.Implementations {
		d.Manifest.Plan.Implementations[i].Image = "registry.example/go:v1"
	}
	for _, trial := range d.Trials {
		for k := range trial.Manifest.Pods {
			trial.Manifest.Pods[k].ImageID = "sha256:1"
		}
	}
	return d
}

func table(t *testing.T, d record.RunData) analysis.Table {
	t.Helper()
	out, err := analysis.Analyse(d)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestAnAARunShowsItsRatiosAndTheirIntervals(t *testing.T) {
	s := compare.Of(table(t, twins()))
	if s.Nothing != "" || len(s.Values) == 0 || s.Fingerprint == "" || s.Machine == "" || s.Image != "registry.example/go:v1" || s.Started.IsZero() {
		t.Fatalf("it has seen %+v", s)
	}
	for _, v := range s.Values {
		if v.Load != "sweep" || v.Blocks != 10 || !(v.Low < v.Ratio && v.Ratio < v.High) || v.Excludes() {
			t.Errorf("there is the value %+v", v)
		}
	}
}

func TestWhatSaysNothingOfNoiseIsLeftOutWithAReason(t *testing.T) {
	for name, tc := range map[string]struct {
		data   func() record.RunData
		change func(*analysis.Table)
		want   string
	}{
		"servers that differ": {data: func() record.RunData {
			d := twins()
			d.Manifest.Plan.Implementations[1].Command = []string{"another"}
			return d
		}, want: "its servers differ in more than their names"},
		"a reference": {data: func() record.RunData {
			d := twins()
			d.Manifest.Plan.Implementations[1].Role = record.RoleReference
			return d
		}, want: "one of them is a reference"},
		"a machine of which nothing is known": {data: func() record.RunData {
			d := twins()
			for i := range d.Trials {
				for k := range d.Trials[i].Servers {
					d.Trials[i].Servers[k].Environment.Kernel = ""
				}
				for k := range d.Trials[i].Generators {
					d.Trials[i].Generators[k].Environment.Kernel = ""
				}
			}
			return d
		}, want: "its trials recorded no facts about their machine"},
		"programs without loads":     {change: func(t *analysis.Table) { t.Levels, t.NoiseFloor = nil, nil }, want: "it measures no level of a load"},
		"CPUs that others used, too": {change: func(t *analysis.Table) { t.NoiseFloorUnpinned = 7 }, want: "7 of its cells ran on shared CPUs"},
		"a tag that has moved": {data: func() record.RunData {
			d := twins()
			for k := range d.Trials[3].Manifest.Pods {
				d.Trials[3].Manifest.Pods[k].ImageID = "sha256:2"
			}
			return d
		}, want: "its image's name resolved to several images"},
		"two that are compared with a third": {change: func(t *analysis.Table) {
			for i := range t.Comparisons {
				t.Comparisons[i].Baseline = "third"
			}
		}, want: "no value of its two equal servers has an interval"},
		"a generator that bounded all": {change: func(t *analysis.Table) {
			for i := range t.Comparisons {
				for k := range t.Comparisons[i].Overall {
					t.Comparisons[i].Overall[k].BaselineIsBound = true
				}
			}
		}, want: "no value of its two equal servers has an interval"},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.data == nil {
				tc.data = twins
			}
			of := table(t, tc.data())
			if tc.change != nil {
				tc.change(&of)
			}
			if s := compare.Of(of); len(s.Values) > 0 || !strings.Contains(s.Nothing, tc.want) {
				t.Errorf("it has seen %+v", s)
			}
		})
	}
}

func TestAnIntervalHasAWidthAndHoldsOneOrNot(t *testing.T) {
	for want, v := range map[bool]compare.Value{true: {Low: 1.01, High: 1.03}, false: {Low: 0.98, High: 1.02}} {
		if v.Excludes() != want {
			t.Errorf("%+v excludes 1: %v", v, v.Excludes())
		}
	}
	if w := (compare.Value{Low: 1 / 1.02, High: 1.02}).Width(); math.Abs(w-0.02) > 1e-12 {
		t.Errorf("its width is %v", w)
	}
}

func TestWhichRunsMayBeAARuns(t *testing.T) {
	of := func(images ...string) v1alpha1.BenchmarkRunSpec {
		var s v1alpha1.BenchmarkRunSpec
		for _, image := range images {
			s.Implementations = append(s.Implementations, v1alpha1.Implementation{Image: image, Command: []string{"/server"}})
		}
		return s
	}
	other := of("a", "a")
	other.Implementations[1].Command = []string{"/server", "--fast"}
	for name, tc := range map[string]struct {
		spec v1alpha1.BenchmarkRunSpec
		want bool
	}{
		"one server": {of("a"), false}, "two images": {of("a", "b"), false}, "the same twice": {of("a", "a"), true}, "the same, and another": {of("b", "a", "a"), true},
		"another command": {other, false}, "no images": {of("", ""), false},
	} {
		if got := compare.MayBeAA(tc.spec); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
