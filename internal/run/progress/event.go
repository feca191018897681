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

// Event is something that has happened in a run, for people to see.
type Event struct {
	// Kind is what has happened.
	Kind EventKind
	// Trial is the trial that it is about; nil if it is about the run.
	Trial *record.PlannedTrial
	// Blocks is how many are planned, Repeats how many repeat blocks were begun.
	Blocks, Repeats int32
	// Cell is the cell that is measured, as timetables call it; empty before and between.
	Cell string
	// Done and All count cells, or trials where WholeTrials is true: they have no cells.
	Done, All   int
	WholeTrials bool
	// Left is about how long the run will still take.
	Left time.Duration
	// Results are what a measured trial, or the cells that have finished, have found.
	Results []Result
	// Troubles says which blocks were disturbed, and by what; empty if none was.
	Troubles string
	// Message is a sentence.
	Message string
}

// EventKind is what has happened.
type EventKind int

const (
	// EventProgress tells how far the run is: the only event that is replaced by the next one of its kind.
	EventProgress EventKind = iota
	// EventFinished tells what cells have found, before their trial has ended.
	EventFinished
	// EventNote is a sentence about the run.
	EventNote
	// EventMeasured tells what a trial has found.
	EventMeasured
	// EventFailed tells why a trial, or an attempt at it, has failed.
	EventFailed
)

// Result is one value of a trial.
type Result struct {
	// Name is the cell's, or the row's.
	Name  string
	Value float64
	Unit  string
	// P99Micros is the 99th percentile of latencies, in microseconds; nil if it is unknown.
	P99Micros *float64
	// Failed says why there is no value; empty if there is one.
	Failed string
}

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
		return v1alpha1.ReasonNoValidResults
	case !e.Verdict.Conclusive && !e.Gated && e.Verdict.Reason != v1alpha1.ReasonNothingToCompare:
		return e.Verdict.Reason
	}
	return ""
}

// maxTroubles bounds how many disturbances are named where people follow a run: the report has all.
const maxTroubles = 3

// Troubles says what has disturbed the blocks of a table, and which trials were lost: the codes of the reasons by block, in order.
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

// Codes are those of the reasons that have disturbed cells of a table, by block.
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

// Repeated says that a repeat block begins, and for which blocks.
func Repeated(troubles string, repeat int32) string {
	return fmt.Sprintf("disturbed: %s: repeat block %d is measured", troubles, repeat)
}

// Disturbed names blocks, in order and each once, with the codes of what has disturbed them; empty if none was.
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
