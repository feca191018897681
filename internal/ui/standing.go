package ui

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/report/format"
)

// A tone shows a state at a glance, always together with its word.
const (
	toneGood  = "good"
	toneBad   = "bad"
	toneCare  = "care"
	toneLive  = "live"
	tonePlain = "plain"
)

type standing struct{ Text, Note, Tone string }

func standingOf(r *v1alpha1.BenchmarkRun) standing {
	s := standing{Text: facts.State(r), Tone: tonePlain}
	ended := r.Status.CompletionTime != nil
	c := meta.FindStatusCondition(r.Status.Conditions, v1alpha1.ConditionSucceeded)
	switch {
	case !r.DeletionTimestamp.IsZero() || c == nil:
	case !ended && r.Status.WaitingSince != nil:
		s.Tone = toneCare
	case !ended && r.Status.StartTime != nil:
		s.Tone = toneLive
	case !ended:
	case c.Status == metav1.ConditionTrue:
		s.Tone = toneGood
		if open := facts.Ending(r).Open(); open != "" {
			s.Tone, s.Note = toneCare, format.Apart(open)
		}
	case c.Reason == v1alpha1.ReasonObjectivesUndecided:
		s.Tone = toneCare
	default:
		s.Tone = toneBad
	}
	return s
}

// verdictOf returns an ended run's verdict; empty before, whatever its status says.
func verdictOf(r *v1alpha1.BenchmarkRun) string {
	if r.Status.CompletionTime == nil {
		return ""
	}
	return r.Status.Verdict
}

func outcomeOf(o v1alpha1.RoundOutcome) standing {
	s := standing{Text: string(o), Tone: tonePlain}
	switch o {
	case v1alpha1.RoundPassed:
		s.Tone = toneGood
	case v1alpha1.RoundMissed, v1alpha1.RoundFailed:
		s.Tone = toneBad
	case v1alpha1.RoundInconclusive:
		s.Tone = toneCare
	case v1alpha1.RoundReplaced, v1alpha1.RoundIncomplete:
	}
	return s
}
