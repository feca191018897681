package progress

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
)

// Event is something that happened in a run, for users.
type Event struct {
	Kind EventKind
	// Trial is nil if the event concerns the run.
	Trial *record.PlannedTrial
	// Blocks counts planned blocks, Repeats the repeat blocks begun.
	Blocks, Repeats int32
	// Cell is the current cell's timetable name; empty before and between cells.
	Cell string
	// Done and All count cells, or trials if WholeTrials (trials without cells).
	Done, All   int
	WholeTrials bool
	// Left is the estimated remaining time.
	Left time.Duration
	// Results are those of a measured trial or of finished cells.
	Results []Result
	// Troubles says which blocks were disturbed, and by what; empty if none.
	Troubles string
	// Message is a sentence.
	Message string
}

// EventKind is the kind of an event.
type EventKind int

const (
	// EventProgress is the only event that the next one of its kind replaces.
	EventProgress EventKind = iota
	// EventFinished has results of cells before their trial ends.
	EventFinished
	// EventNote is a sentence about the run.
	EventNote
	// EventMeasured has the results of a trial.
	EventMeasured
	// EventFailed says why a trial or an attempt failed.
	EventFailed
)

// Result is one value of a trial.
type Result struct {
	// Name is the cell's or the row's.
	Name  string
	Value float64
	Unit  string
	// P99Micros is the 99th percentile of latency in microseconds; nil if unknown.
	P99Micros *float64
	// Failed says why there is no value; empty if there is one.
	Failed string
	// Doubt says that the value is void or suspect, and the codes of the findings; empty if it is valid or not judged.
	Doubt string
}

// Ending is how a run ended.
type Ending struct {
	conduct.Outcome
	// Verdict is the report's; nil without one.
	Verdict *conduct.Verdict
	// Counts: any measurement counts.
	Counts bool
	// Gated: objectives decide about success.
	Gated bool
	// Report is the page's path; empty without one.
	Report string
	// Interrupted: someone ended the run early.
	Interrupted bool
}

// Open says why a successful run gives no answer: nothing counts or, without objectives, a comparison has no verdict.
// Empty if it gives one.
func (e Ending) Open() string {
	switch {
	case !e.Counts:
		return v1alpha1.ReasonNoValidResults
	case !e.Verdict.Conclusive && !e.Gated && e.Verdict.Reason != v1alpha1.ReasonNothingToCompare:
		return e.Verdict.Reason
	}
	return ""
}

// maxTroubles bounds the named disturbances; the report has all.
const maxTroubles = 3

// Troubles says what disturbed blocks and which trials were lost: the reasons' codes by block, in order.
func Troubles(table analysis.Table, trials conduct.Trials) string {
	disturbed, found := table.DisturbedBlocks(), Codes(table)
	for _, t := range trials {
		if !t.Follows() && !t.Ended.IsZero() && t.Stored == nil && v1alpha1.OriginOf(t.Reason) == v1alpha1.OriginInfrastructure {
			found[t.Block] = append(found[t.Block], t.Reason)
			disturbed = append(disturbed, t.Block)
		}
	}
	return Disturbed(disturbed, found)
}

// Codes returns the codes of external reasons in a table's disturbed cells, by block.
func Codes(table analysis.Table) map[int32][]string {
	found := map[int32][]string{}
	add := func(c validity.Cell) {
		if !c.Disturbed() {
			return
		}
		for _, r := range c.Reasons {
			if r.External() {
				found[c.Block] = append(found[c.Block], string(r.Code))
			}
		}
	}
	for _, g := range table.Groups {
		if g.Role != record.RoleReference {
			for _, c := range g.Cells {
				add(c)
			}
		}
	}
	for _, p := range table.Programs {
		add(p.Cell)
	}
	return found
}

// Repeated announces a repeat block and its cause.
func Repeated(troubles string, repeat int32) string {
	return fmt.Sprintf("disturbed: %s: repeat block %d is measured", troubles, repeat)
}

// Disturbed names each block once, in order, with its codes; empty if none.
func Disturbed(blocks []int32, found map[int32][]string) string {
	blocks = slices.Compact(slices.Sorted(slices.Values(blocks)))
	var texts []string
	for i, block := range blocks {
		if i == maxTroubles {
			texts = append(texts, fmt.Sprintf("and %d more", len(blocks)-i))
			break
		}
		codes := slices.Compact(slices.Sorted(slices.Values(found[block])))
		text := fmt.Sprintf("block %d", block)
		if len(codes) > 0 {
			text += " (" + strings.Join(codes, ", ") + ")"
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ", ")
}
