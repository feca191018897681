package report

import (
	"testing"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/report/phrase"
	"loadstone.dev/loadstone/internal/report/view"
)

func TestTheBadgeOfTheCells(t *testing.T) {
	for name, tc := range map[string]struct {
		count analysis.CellCount
		want  string
	}{
		"all are valid":                            {analysis.CellCount{PlannedCells: 4, MeasuredCells: 4}, "4 of 4 cells valid"},
		"a cell was not measured":                  {analysis.CellCount{PlannedCells: 4, MeasuredCells: 3}, "3 of 4 cells valid"},
		"suspect and void cells are not valid":     {analysis.CellCount{PlannedCells: 9, MeasuredCells: 9, SuspectCells: 2, VoidCells: 1}, "6 of 9 cells valid, 2 suspect, 1 void"},
		"suspect latencies are counted separately": {analysis.CellCount{PlannedCells: 9, MeasuredCells: 9, SuspectCells: 5, SuspectLatencies: 4}, "4 of 9 cells valid, 4 suspect in latency only, 1 suspect"},
	} {
		t.Run(name, func(t *testing.T) {
			v := run{view.New(analysis.Table{}, phrase.English)}
			if got := v.cellsBadge("badge.valid", tc.count); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
