package kinds_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/plan"
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

// What is planned of a program must come to its trial by way of the API server, with nothing lost and nothing of another kind.
func TestATrialOfAProgramHoldsWhatWasPlanned(t *testing.T) {
	p := record.Plan{
		Implementations: []record.Implementation{
			{Name: "old", Image: "bench:1", Command: []string{"/bench"}, CPUs: 1, MemoryBytes: 64 << 20, Role: record.RoleContender},
			{
				Name: "new", Image: "bench:2", Command: []string{"/bench", "--fast"}, CPUs: 3, MemoryBytes: 512 << 20, Role: record.RoleReference,
				Build:  record.Expectations{Optimized: record.ExpectRequired, Coverage: record.ExpectForbidden},
				Claims: []record.Claim{{Subject: record.ClaimAllocator, Value: "glibc"}, {Subject: record.ClaimSymbol, Value: "mi_malloc", Absent: true}},
			},
		},
		Programs:  &record.Programs{Format: record.JSONLines, LimitSeconds: 77},
		Placement: record.Placement{Pinning: record.Required, GeneratorPinning: record.Preferred, SeparateNodes: record.Preferred},
	}
	line := record.PlannedTrial{Name: "parsers-005-new", Index: 5, Block: 3, Type: record.Microbenchmark, Servers: []string{"new"}}
	written := kinds.Write("parsers", p, line)
	if written.RunName != "parsers" || *written.Index != 5 || written.Block != 3 || written.Type != v1alpha1.TypeMicrobenchmark || written.Start != v1alpha1.StartHeld {
		t.Errorf("it is written as %+v", written)
	}
	placement := v1alpha1.Placement{Pinning: v1alpha1.Required, GeneratorPinning: v1alpha1.Preferred, SeparateNodes: v1alpha1.Preferred}
	if len(written.Sweep.Cells) != 0 || written.Sweep.Generators != (v1alpha1.Generators{}) || written.Placement != placement {
		t.Errorf("it holds the sweep %+v and the placement %+v", written.Sweep, written.Placement)
	}
	body, err := json.Marshal(written)
	if err != nil {
		t.Fatal(err)
	}
	var read v1alpha1.TrialSpec
	if err := json.Unmarshal(body, &read); err != nil {
		t.Fatal(err)
	}
	want := microbenchmark.Microbenchmark{Program: p.Implementations[1], Programs: *p.Programs}
	got, err := kinds.Of(read)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("read back, %v (-want +got):\n%s", err, diff)
	}
	if diff := cmp.Diff(want, kinds.Planned(p, line)); diff != "" {
		t.Errorf("planned (-want +got):\n%s", diff)
	}
}

// The plans of a run must not share what its trials may change.
func TestATrialDoesNotWriteIntoItsPlan(t *testing.T) {
	p, err := plan.Compile(v1alpha1.BenchmarkRunSpec{
		Implementations: []v1alpha1.Implementation{{Name: "old", Image: "bench:1", Command: []string{"/bench", "--slow"}}},
		Microbenchmark:  v1alpha1.Microbenchmark{Format: v1alpha1.FormatGoTest},
	}, plan.Options{Name: "r", UID: "u"})
	if err != nil {
		t.Fatal(err)
	}
	before := p.Hash()
	written := kinds.Write("r", p.Plan, p.Trials[0])
	written.Servers[0].Command[1], *written.Index = "--fast", 99
	if p.Hash() != before {
		t.Error("a change of a trial's spec has changed the plan")
	}
}
