package sweep_test

import (
	"strings"
	"testing"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind/sweep"
)

func loads(change func(*v1alpha1.BenchmarkRunSpec)) v1alpha1.BenchmarkRunSpec {
	s := v1alpha1.BenchmarkRunSpec{
		Implementations: []v1alpha1.Implementation{{Name: "go", Image: "go:1", Port: 8080}, {Name: "zco", Image: "zco:1", Port: 8081}},
		Baseline:        "go", Loads: []v1alpha1.Load{{Name: "sweep", Tool: v1alpha1.ToolWrk, Levels: []v1alpha1.Level{{Connections: 10}}}},
	}
	change(&s)
	return s
}

// These are rules that the API's schema cannot express, and specs that bypass it.
func TestALoadThatCannotBePutOnItsServersIsRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*v1alpha1.BenchmarkRunSpec)
		want   string
	}{
		"all is well":            {func(*v1alpha1.BenchmarkRunSpec) {}, ""},
		"the first has no port":  {func(s *v1alpha1.BenchmarkRunSpec) { s.Implementations[0].Port = 0 }, "spec.implementations[0].port is not set: name the port on which go listens for the requests of spec.loads"},
		"the second has no port": {func(s *v1alpha1.BenchmarkRunSpec) { s.Implementations[1].Port = 0 }, "spec.implementations[1].port is not set: name the port on which zco listens"},
		"a load has no levels":   {func(s *v1alpha1.BenchmarkRunSpec) { s.Loads[0].Levels = nil }, "spec.loads[0].levels is empty: name at least one level"},
		"the second has no level": {func(s *v1alpha1.BenchmarkRunSpec) {
			s.Loads = append(s.Loads, v1alpha1.Load{Name: "b", Tool: v1alpha1.ToolWrk})
		}, "spec.loads[1].levels is empty"},
		"threads cannot share": {func(s *v1alpha1.BenchmarkRunSpec) { s.Loads[0].Generators.CPUs = 3 }, "spec.loads[0].levels[0].connections is 10, which 1 generator pods of 3 threads (spec.loads[0].generators) cannot share equally"},
	} {
		t.Run(name, func(t *testing.T) {
			v := sweep.Kind{}.Plan(loads(tc.change), &record.Plan{})
			if (v != nil) != (tc.want != "") || v != nil && (v.Reason != v1alpha1.ReasonInvalidSpec || !strings.HasPrefix(v.Message, tc.want)) {
				t.Errorf("got %v, want %q", v, tc.want)
			}
		})
	}
}

func TestASweepIsAskedForByLoadsAlone(t *testing.T) {
	for name, tc := range map[string]struct {
		spec v1alpha1.BenchmarkRunSpec
		want bool
	}{
		"loads":    {loads(func(*v1alpha1.BenchmarkRunSpec) {}), true},
		"nothing":  {v1alpha1.BenchmarkRunSpec{}, false},
		"programs": {v1alpha1.BenchmarkRunSpec{Microbenchmark: v1alpha1.Microbenchmark{Format: v1alpha1.FormatGoTest}}, false},
		"no loads": {v1alpha1.BenchmarkRunSpec{Loads: []v1alpha1.Load{}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := (sweep.Kind{}).Asked(tc.spec); got != tc.want {
				t.Errorf("it is asked for: %v", got)
			}
		})
	}
}
