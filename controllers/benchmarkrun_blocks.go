package controllers

import (
	"slices"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/plan"
)

// outsideReasons are those of trials that were lost to something that is not their implementation's.
var outsideReasons = []string{v1alpha1.ReasonPodLost, v1alpha1.ReasonAgentLost, v1alpha1.ReasonAgentFailed, v1alpha1.ReasonUploadFailed, v1alpha1.ReasonStoreUnavailable}

// lostOutside says of a trial that it ended without a manifest by a fault from outside.
func lostOutside(t *v1alpha1.Trial) bool {
	if t.Status.CompletionTime == nil || t.Status.ManifestKey != "" {
		return false
	}
	reason, _ := trialOutcome(t)
	return slices.Contains(outsideReasons, reason)
}

// notNeeded says of a trial that its run stopped before it.
func notNeeded(t *v1alpha1.Trial) bool {
	reason, _ := trialOutcome(t)
	return t.Status.CompletionTime != nil && reason == v1alpha1.ReasonEnoughMeasured
}

// spare is the number of spare blocks that have been begun.
func (s *runScope) spare() int32 {
	var last int32
	for i := range s.trials {
		last = max(last, s.trials[i].Spec.Block)
	}
	return max(last-plan.BlocksOf(s.run.Spec), 0)
}

// reviewDue says whether cells have to be searched for faults from outside now: everything that is known to be needed has ended, and
// a block that is hit can still be measured anew. A run that stopped early has enough.
func (s *runScope) reviewDue() bool {
	measured := s.plan.Blocks + s.spare()
	return s.spare() < plan.SpareBlocks(s.plan.Blocks) && s.run.Status.StoppedAfterBlock == 0 && s.run.Status.ReviewedBlocks < measured &&
		int32(len(s.hit())) <= s.spare() && s.allEnded()
}

// lines are the trials that are needed: the planned ones, those of the spare blocks that have been begun, and those of another spare
// block if everything has ended, faults from outside have hit more blocks than were measured anew, and there is time for it.
func (s *runScope) lines() []plan.Trial {
	lines := slices.Clone(s.plan.Trials)
	begun := s.spare()
	for spare := range begun {
		lines = append(lines, s.plan.Spare(s.run.Name, spare+1)...)
	}
	if len(s.trials) < len(lines) || !s.allEnded() || int32(len(s.hit())) <= begun || begun == plan.SpareBlocks(s.plan.Blocks) {
		return lines
	}
	next := s.plan.Spare(s.run.Name, begun+1)
	if s.active() && s.now.Add(s.plan.Estimate(len(next))).Before(s.deadline()) {
		lines = append(lines, next...)
	}
	return lines
}

// hit are the blocks that a fault from outside has hit, in order: a trial was lost, or a cell is void.
func (s *runScope) hit() []int32 {
	blocks := slices.Clone(s.run.Status.SpoiledBlocks)
	for i := range s.trials {
		if lostOutside(&s.trials[i]) {
			blocks = append(blocks, s.trials[i].Spec.Block)
		}
	}
	slices.Sort(blocks)
	return slices.Compact(blocks)
}

// failed are the trials that ended without a manifest, less those whose blocks were all measured anew.
func (s *runScope) failed() []v1alpha1.Trial {
	whole := s.plan != nil && int32(len(s.hit())) <= s.spare()
	return slices.DeleteFunc(slices.Clone(s.trials), func(t v1alpha1.Trial) bool {
		return t.Status.CompletionTime == nil || t.Status.ManifestKey != "" || notNeeded(&t) || whole && lostOutside(&t)
	})
}
