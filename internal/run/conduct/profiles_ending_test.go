package conduct_test

import (
	"testing"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/run/conduct"
)

func TestARunThatHasEndedWellKeepsItsOutcomeWhenItsOpenProfilesAreGivenUp(t *testing.T) {
	r := profiled(t, 2, alone, measured(0), scanned(2), followed(0), left(-time.Second))
	v := &conduct.Verdict{Text: "x", Conclusive: true}
	first := r.Outcome(nil, v)
	for i := range r.Trials {
		if r.Trials[i].Follows() {
			r.Trials[i].Ended, r.Trials[i].Reason, r.Trials[i].Message = noon, first.Reason, "BenchmarkRun quick has ended"
		}
	}
	if again := r.Outcome(nil, v); again != first {
		t.Errorf("first %+v, then %+v", first, again)
	}
}

func TestADuetThatFailsForOneServerLeavesTheOtherItsProfile(t *testing.T) {
	r := compiled(t, 2, []string{"go", "epoll"}, func(spec *v1alpha1.BenchmarkRunSpec) {
		for i := range spec.Implementations {
			spec.Implementations[i].Command = []string{"/serve"}
		}
		spec.Order = v1alpha1.OrderSlicedDuet
		spec.Profiles = []v1alpha1.Profile{{Name: "costs", Tool: v1alpha1.ToolCallgrind}}
	}, measured(0), failed(0, v1alpha1.ReasonWrongResponse, "implementations[go]: GET / answered 404"), followed(0))
	view := conduct.View{Name: r.Name, Blocks: 2, Trials: r.Trials}
	for _, trial := range r.Trials {
		if f := view.GiveUp(trial); trial.Follows() && trial.Servers[0] == "epoll" && f != nil {
			t.Errorf("%s: %s", trial.Name, describe(f))
		}
	}
}
