package progress

import (
	"loadstone.dev/loadstone/internal/conduct"
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
