package progress

import (
	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/run/conduct"
)

// Ending is how a run has ended.
type Ending struct {
	conduct.Outcome
	// Verdict is what the report says; nil without one.
	Verdict *conduct.Verdict
	// Counts is true if anything that was measured counts.
	Counts bool
	// Gated is true if the run has objectives, which then decide whether it has succeeded.
	Gated bool
	// Report is the path of the page for people; empty without one.
	Report string
	// Interrupted is true if somebody ended the run before it was complete.
	Interrupted bool
}

// Open is the reason why a run that has succeeded gives no answer: nothing that was measured counts, or, where no objective decides, a comparison
// has no verdict. It is empty if the run gives one.
func (e Ending) Open() string {
	switch {
	case !e.Counts:
		return v1alpha1.ReasonNothingCounts
	case !e.Verdict.Conclusive && !e.Gated && e.Verdict.Reason != v1alpha1.ReasonNothingToCompare:
		return e.Verdict.Reason
	}
	return ""
}
