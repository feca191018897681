package phrase

import (
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/report/format"
)

// Short words of outcomes. None is longer than MaxShort, so that kubectl get fits on a terminal.
const (
	shortBetter       = "better"
	shortWorse        = "worse"
	shortSame         = "no difference"
	shortDepends      = "depends on load"
	shortInconclusive = "inconclusive"
	shortMixed        = "mixed"
	shortDiffers      = "differs"
	shortIndicated    = "indicated"
	shortNoiseFloor   = "noise floor"
	shortNoComparison = "no comparison"

	// MaxShort is the limit of status.shortVerdict.
	MaxShort = 18
)

// Short returns a headline in at most MaxShort characters. Line has the whole sentence.
func Short(h analysis.Headline) string {
	if h.Calibration != nil {
		return shortNoiseFloor
	}
	var all []string
	for _, e := range h.Entries {
		all = append(all, shortEntry(e))
	}
	for _, c := range h.Cases {
		all = append(all, shortCases(c))
	}
	if len(all) == 0 {
		return shortNoComparison
	}
	for _, one := range all {
		if one != all[0] {
			return shortMixed
		}
	}
	if len(all) == 1 && len(h.Entries) == 1 {
		return withChange(h.Entries[0], all[0])
	}
	return all[0]
}

func shortEntry(e analysis.HeadlineEntry) string {
	switch e.Verdict {
	case verdict.Better:
		return shortBetter
	case verdict.Worse:
		return shortWorse
	case verdict.NoDifference:
		return shortSame
	case verdict.DependsOnLoad:
		return shortDepends
	case verdict.Mixed:
		return shortMixed
	case verdict.Differs:
		return shortDiffers
	case verdict.Inconclusive:
	}
	if e.Indicated != nil {
		return shortIndicated
	}
	return shortInconclusive
}

func shortCases(c analysis.CaseOutcome) string {
	switch c.Cases {
	case c.Better:
		return shortBetter
	case c.Worse:
		return shortWorse
	case c.Mixed:
		return shortMixed
	case c.Differ:
		return shortDiffers
	case c.Same:
		return shortSame
	case c.Undecided:
		return shortInconclusive
	}
	return shortMixed
}

func withChange(e analysis.HeadlineEntry, word string) string {
	ratio := e.Ratio
	switch {
	case e.Indicated != nil:
		ratio = &e.Indicated.Ratio
	case ratio == nil || e.Verdict != verdict.Better && e.Verdict != verdict.Worse:
		return word
	}
	if text := word + ": " + format.ASCII(format.Change(*ratio)); len(text) <= MaxShort {
		return text
	}
	return word
}
