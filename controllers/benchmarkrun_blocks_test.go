package controllers

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A run of two blocks of one implementation, each reckoned at 14 s, whose time is over at ten past.
func TestASpareBlockIsBegunOnlyIfItIsNeededAndThereIsTimeForIt(t *testing.T) {
	spoiled := func(blocks ...int32) func(*runScope) {
		return func(s *runScope) { s.run.Status.SpoiledBlocks = blocks }
	}
	// measured adds spare blocks that have been measured.
	measured := func(spare int32) func(*runScope) {
		return func(s *runScope) {
			for k := range spare {
				for _, line := range s.plan.Spare(s.run.Name, k+1) {
					s.trials = append(s.trials, *newTrial(s.run, s.plan, line))
				}
			}
			endTrials()(s)
		}
	}
	left := func(d time.Duration) func(*runScope) {
		return func(s *runScope) { s.run.Status.StartTime = &metav1.Time{Time: noon.Add(d - 10*time.Minute)} }
	}
	running := func(s *runScope) { s.trials[1].Status.CompletionTime = nil }
	for name, tc := range map[string]struct {
		deltas []func(*runScope)
		want   int
	}{
		"nothing was hit":                         {[]func(*runScope){measured(0)}, 2},
		"a block was hit":                         {[]func(*runScope){measured(0), spoiled(1)}, 3},
		"a block was hit, and others still run":   {[]func(*runScope){measured(0), spoiled(1), running}, 2},
		"a block was hit, and is measured anew":   {[]func(*runScope){measured(1), spoiled(1)}, 3},
		"the spare block was hit, too":            {[]func(*runScope){measured(1), spoiled(1, 3)}, 4},
		"as many were measured anew as there are": {[]func(*runScope){measured(2), spoiled(1, 3, 4)}, 4},
		"there is just time for another block":    {[]func(*runScope){measured(0), spoiled(1), left(20 * time.Second)}, 3},
		"there is no time for another block":      {[]func(*runScope){measured(0), spoiled(1), left(10 * time.Second)}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			if got := len(runScopeOf(t, tc.deltas...).lines()); got != tc.want {
				t.Errorf("%d trials are needed, want %d", got, tc.want)
			}
		})
	}
}
