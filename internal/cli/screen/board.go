package screen

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/run/progress"
	"loadstone.dev/loadstone/internal/trial/kind/kinds"
)

const maxResults = 6

// board is the state of the current trial.
type board struct {
	// last is the last event about the current trial, if any.
	last     progress.Event
	finished []progress.Result
}

func (b *board) take(e progress.Event) {
	switch e.Kind {
	case progress.EventMeasured, progress.EventFailed:
		*b = board{}
	case progress.EventProgress, progress.EventFinished:
		if b.last.Trial == nil || b.last.Trial.Name != e.Trial.Name {
			b.finished = nil
		}
		if e.Kind == progress.EventFinished {
			b.finished = append(b.finished, e.Results...)
			e.Cell = b.last.Cell
		}
		b.last = e
	case progress.EventNote:
	}
}

// lines are the live view: the run's position, results of the trial's cells, and disturbed blocks; none between trials.
func (b *board) lines() []string {
	if b.last.Trial == nil {
		return nil
	}
	lines := []string{progressLine(b.last)}
	for _, r := range b.finished[max(len(b.finished)-maxResults, 0):] {
		lines = append(lines, "  "+resultText(r))
	}
	if b.last.Troubles != "" {
		lines = append(lines, fmt.Sprintf("  disturbed: %s; repeat blocks begun: %d", b.last.Troubles, b.last.Repeats))
	}
	return lines
}

// lineOf is an event's permanent line; empty for a transient event.
func lineOf(e progress.Event) string {
	switch e.Kind {
	case progress.EventMeasured:
		return trialOf(e) + "  " + cmp.Or(resultsLine(e.Results), "measured") + "  " + leftOf(e)
	case progress.EventFailed:
		return trialOf(e) + "  failed: " + e.Message
	case progress.EventNote:
		return e.Message
	case progress.EventProgress, progress.EventFinished:
	}
	return ""
}

func progressLine(e progress.Event) string {
	text := trialOf(e)
	if e.Cell != "" {
		text += "  " + e.Cell
	}
	counted := "cells"
	if e.WholeTrials {
		counted = "trials"
	}
	return text + fmt.Sprintf("  %d of %d %s  ", e.Done, e.All, counted) + leftOf(e)
}

// trialOf names an event's trial by block or profile, and servers.
func trialOf(e progress.Event) string {
	if e.Trial == nil {
		return ""
	}
	return fmt.Sprintf("%-12s  %s", blockOf(e, e.Trial), strings.Join(e.Trial.Servers, " and "))
}

// blockOf names a trial's block, repeat block, or later spec item.
func blockOf(e progress.Event, t *record.PlannedTrial) string {
	if t.Follows() {
		return kinds.Field(*t)
	}
	if t.Block > e.Blocks {
		return fmt.Sprintf("repeat %d/%d", t.Block-e.Blocks, e.Repeats)
	}
	return fmt.Sprintf("block %d/%d", t.Block, e.Blocks)
}

func leftOf(e progress.Event) string { return e.Left.Round(time.Second).String() + " left" }

func resultsLine(results []progress.Result) string {
	var texts []string
	for _, r := range results[:min(len(results), maxResults)] {
		texts = append(texts, resultText(r))
	}
	if more := len(results) - maxResults; more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(texts, ", ")
}

// longTime is the least number of nanoseconds printed in ms or s.
const longTime = 1e6

func resultText(r progress.Result) string {
	if r.Failed != "" {
		return r.Name + " failed: " + r.Failed
	}
	text := fmt.Sprintf("%s %s %s", r.Name, format.Digits(r.Value), r.Unit)
	if r.Unit == "ns" && r.Value >= longTime {
		text = r.Name + " " + format.Micros(r.Value/1000)
	}
	if r.P99Micros != nil {
		text += " p99 " + format.Micros(*r.P99Micros)
	}
	if r.Doubt != "" {
		text += " (" + r.Doubt + ")"
	}
	return text
}
