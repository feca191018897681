package kinds_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind/kinds"
	"loadstone.dev/loadstone/internal/trial/kind/microbenchmark"
)

func TestASpecAsksForOneKindOfWork(t *testing.T) {
	loads := []v1alpha1.Load{{Name: "sweep", Tool: v1alpha1.ToolWrk}}
	own := v1alpha1.Microbenchmark{Format: v1alpha1.FormatGoTest}
	for name, tc := range map[string]struct {
		spec v1alpha1.BenchmarkRunSpec
		want record.WorkType
		says string
	}{
		"loads":                 {spec: v1alpha1.BenchmarkRunSpec{Loads: loads}, want: record.Sweep},
		"programs":              {spec: v1alpha1.BenchmarkRunSpec{Microbenchmark: own}, want: record.Microbenchmark},
		"programs of no format": {spec: v1alpha1.BenchmarkRunSpec{Microbenchmark: v1alpha1.Microbenchmark{LimitSeconds: 5}}, want: record.Microbenchmark},
		"neither":               {says: "spec.loads and spec.microbenchmark are empty: name at least one load, or give spec.microbenchmark to compare programs that measure themselves"},
		"both":                  {spec: v1alpha1.BenchmarkRunSpec{Loads: loads, Microbenchmark: own}, says: "spec.loads and spec.microbenchmark are given together"},
	} {
		t.Run(name, func(t *testing.T) {
			k, v := kinds.Asked(tc.spec)
			if tc.says != "" {
				if k != nil || v == nil || v.Reason != v1alpha1.ReasonInvalidSpec || !strings.HasPrefix(v.Error(), tc.says) {
					t.Errorf("got %v, %v; want a refusal that says %q", k, v, tc.says)
				}
				return
			}
			if v != nil || k.Type() != tc.want {
				t.Errorf("got %v, %v; want a %s", k, v, tc.want)
			}
		})
	}
}

func TestATrialOfAProgramDoesWhatWasPlanned(t *testing.T) {
	outputs := []record.ProgramOutput{{Implementation: "old", Format: record.GoTest}, {Implementation: "new", Format: record.JSONLines}}
	p := record.Plan{
		Implementations: []record.Implementation{{Name: "old", Image: "bench:1"}, {Name: "new", Image: "bench:2", CPUs: 3}},
		Programs:        &record.Programs{Format: record.JSONLines, LimitSeconds: 77, Outputs: outputs},
	}
	want := microbenchmark.Microbenchmark{Program: p.Implementations[1], Programs: record.Programs{Format: record.JSONLines, LimitSeconds: 77, Outputs: outputs[1:]}}
	if diff := cmp.Diff(want, kinds.Planned(p, record.PlannedTrial{Type: record.Microbenchmark, Servers: []string{"new"}})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(p.Programs.Outputs) != 2 {
		t.Error("a trial has changed its plan")
	}
}
