package inputs_test

import (
	"testing"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/inputs"
)

// A run of programs has no loads, so that there is nothing to wait for, to ask the cluster for or to store.
func TestARunOfProgramsHasNoScripts(t *testing.T) {
	run := runOf()
	run.Spec.Microbenchmark = v1alpha1.Microbenchmark{Format: v1alpha1.FormatGoTest}
	if !inputs.Frozen(run) {
		t.Error("it waits for scripts that it does not have")
	}
	if got, err := inputs.Read(t.Context(), nil, run); err != nil || len(got.Scripts)+len(got.Bodies) != 0 {
		t.Errorf("read: %v, %v", got, err)
	}
	frozen, bodies, err := inputs.Texts{}.Freeze(t.Context(), nil, "bench/quick-1")
	if err != nil || len(frozen)+len(bodies) != 0 || len(inputs.Record(frozen, "bench/quick-1")) != 0 {
		t.Errorf("frozen: %v, %v", frozen, err)
	}
}
