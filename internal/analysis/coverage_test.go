package analysis_test

import (
	"testing"

	"loadstone.dev/loadstone/internal/record/recordtest"
)

func TestTheCellsOfALimitAreCountedApart(t *testing.T) {
	o := recordtest.Duel(4)
	o.Levels = []int32{10, 100}
	c := analyse(t, recordtest.Run(o)).Coverage
	if c.SuspectCells != 8 || c.References.SuspectCells != 8 || c.Contenders().SuspectCells != 0 {
		t.Errorf("suspect cells: %d of all, %d of references, %d of contenders", c.SuspectCells, c.References.SuspectCells, c.Contenders().SuspectCells)
	}
	if n := c.Contenders(); n.PlannedCells != 16 || n.MeasuredCells != 16 || n.PinnedCells != 16 {
		t.Errorf("contenders %+v", n)
	}
}
