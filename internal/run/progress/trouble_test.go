package progress

import (
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
)

func TestWhatHasDisturbedABlockIsNamed(t *testing.T) {
	disturbed := func(block int32, codes ...validity.Code) validity.Cell {
		c := validity.Cell{Block: block, Validity: validity.Void}
		for _, code := range codes {
			c.Reasons = append(c.Reasons, validity.Reason{Code: code, Weight: validity.Void})
		}
		return c
	}
	busy := disturbed(2, validity.NoisyNeighbours, validity.Steal)
	for name, tc := range map[string]struct {
		table  analysis.Table
		trials conduct.Trials
		want   string
	}{
		"nothing":                {},
		"two reasons of a block": {table: analysis.Table{Groups: []validity.Group{{Cells: []validity.Cell{busy, busy, {Block: 1}}}}}, want: "block 2 (NoisyNeighbours, Steal)"},
		"a lost trial": {
			trials: conduct.Trials{{PlannedTrial: record.PlannedTrial{Block: 3}, Ended: time.Unix(1, 0), Reason: "PodLost"}, {PlannedTrial: record.PlannedTrial{Block: 4}, Ended: time.Unix(1, 0), Reason: "ServerExited"}},
			want:   "block 3 (PodLost)",
		},
		"a lost profile, which belongs to no block": {trials: conduct.Trials{{PlannedTrial: record.PlannedTrial{Type: record.ProfileType, Item: "cpu"}, Ended: time.Unix(1, 0), Reason: "PodLost"}}},
		"a program": {table: analysis.Table{Programs: []validity.Program{{Cell: disturbed(1, validity.Steal)}}}, want: "block 1 (Steal)"},
		"more than are named": {
			table: analysis.Table{Groups: []validity.Group{{Cells: []validity.Cell{
				disturbed(9, validity.Steal), disturbed(5, validity.Steal), disturbed(6, validity.Steal), disturbed(7, validity.Steal), disturbed(8, validity.Steal),
			}}}},
			want: "block 5 (Steal), block 6 (Steal), block 7 (Steal), and 2 more",
		},
		"a reference, with which nothing is compared": {table: analysis.Table{Groups: []validity.Group{{Role: record.RoleReference, Cells: []validity.Cell{busy}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Troubles(tc.table, tc.trials); got != tc.want {
				t.Errorf("it is %q, want %q", got, tc.want)
			}
		})
	}
}
