package report

import (
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/report/phrase"
)

// Line puts a headline into one line of ASCII of at most 512 bytes: the objectives first, then who is better.
func Line(h analysis.Headline) string { return phrase.English.Line(h) }

// ObjectivesLine returns in one line of ASCII of at most 512 bytes which objectives keep a run from succeeding: those missed, else those
// undecided.
func ObjectivesLine(t analysis.Table) string { return phrase.English.ObjectivesLine(t) }

// NoiseLine returns in one line what an A/A run has found, or that it has found nothing.
func NoiseLine(t analysis.Table) string { return phrase.English.NoiseLine(t) }
