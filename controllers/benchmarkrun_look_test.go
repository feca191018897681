package controllers

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/plan"
)

// stopping is a run of 25 blocks of one implementation that may stop, of which some trials have ended.
func stopping(ended int32, looked, stopped int32) *runScope {
	run := &v1alpha1.BenchmarkRun{}
	run.Name = "s"
	run.Spec.Blocks, run.Spec.Stop = 25, &v1alpha1.Stop{MaxWidth: "0.05"}
	run.Status.LookedAfterBlock, run.Status.StoppedAfterBlock = looked, stopped
	s := &runScope{run: run, plan: &plan.Plan{Blocks: 25}, now: noon}
	for block := int32(1); block <= 25; block++ {
		t := v1alpha1.Trial{}
		t.Spec.Block = block
		if block <= ended {
			t.Status.CompletionTime = &metav1.MicroTime{Time: noon}
			t.Status.ManifestKey = "k"
		}
		s.trials = append(s.trials, t)
	}
	return s
}

func TestARunLooksWhetherEnoughIsMeasured(t *testing.T) {
	tests := map[string]struct {
		scope *runScope
		want  int32
	}{
		"not before ten blocks": {stopping(9, 0, 0), 0},
		"after ten":             {stopping(10, 0, 0), 10},
		"once after ten":        {stopping(11, 10, 0), 0},
		"after twenty":          {stopping(20, 10, 0), 20},
		"not at the end, which is looked at anyway": {stopping(25, 20, 0), 0},
		"not after it has stopped":                  {stopping(25, 10, 10), 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.scope.lookDue(); got != tc.want {
				t.Errorf("it looks after block %d, want %d", got, tc.want)
			}
		})
	}
	without := stopping(10, 0, 0)
	without.run.Spec.Stop = nil
	if got := without.lookDue(); got != 0 {
		t.Errorf("a run that may not stop looks after block %d", got)
	}
}

func TestABlockWaitsForTheLookBeforeIt(t *testing.T) {
	tests := map[string]struct {
		looked, block int32
		want          bool
	}{
		"block ten waits for nothing":      {0, 10, false},
		"block eleven waits for a look":    {0, 11, true},
		"and goes on after it":             {10, 11, false},
		"block twenty-one waits for both":  {10, 21, true},
		"a spare block has seen all looks": {20, 26, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := awaitsLook(stopping(0, tc.looked, 0).run, tc.block); got != tc.want {
				t.Errorf("it waits: %v, want %v", got, tc.want)
			}
		})
	}
}

func TestARunThatStoppedIsOneOfItsMeasuredBlocks(t *testing.T) {
	s := stopping(10, 10, 10)
	s.run.Status.StartTime = &metav1.Time{Time: noon}
	for i := 10; i < len(s.trials); i++ {
		s.trials[i].Status.CompletionTime = &metav1.MicroTime{Time: noon}
		s.trials[i].Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionSucceeded, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonEnoughMeasured}}
	}
	for i := range s.trials {
		s.trials[i].Spec.Index = new(int32)
	}
	m := s.manifest("test")
	if m.Blocks != 10 || len(m.Trials) != 10 || len(m.Notes) != 1 {
		t.Errorf("the manifest has %d blocks, %d trials and notes %q", m.Blocks, len(m.Trials), m.Notes)
	}
	if failed := s.failed(); len(failed) != 0 {
		t.Errorf("%d trials that were not needed count as failed", len(failed))
	}
}
