package analysis_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/record"
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

func TestATrialThatIsMissingSaysWhy(t *testing.T) {
	o := recordtest.Duel(3)
	o.Levels = []int32{10}
	d := recordtest.Run(o)
	recordtest.Drop(&d, 1, "go", v1alpha1.ReasonServerExited, "exit code 1")
	d.Trials = slices.DeleteFunc(d.Trials, func(t record.TrialData) bool {
		m := t.Manifest
		return m.Block == 2 && m.Servers[0] == "go-slow" || m.Block == 3 && m.Servers[0] == "epoll"
	})
	d.Manifest.Trials = slices.DeleteFunc(d.Manifest.Trials, func(e record.TrialEntry) bool { return e.Block == 3 && e.Servers[0] == "epoll" })
	c := analyse(t, d).Coverage
	want := []analysis.MissingTrial{
		{Trial: "duel-b01-go", Block: 1, Implementation: "go", Reason: v1alpha1.ReasonServerExited, Message: "exit code 1"},
		{Trial: "duel-b02-go-slow", Block: 2, Implementation: "go-slow", Reason: analysis.ReasonNotRead},
		{Block: 3, Implementation: "epoll", Reason: analysis.ReasonNotStarted},
	}
	if diff := cmp.Diff(want, c.Missing); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if c.PlannedTrials != 9 || c.MeasuredTrials != 6 || c.Contenders().PlannedCells != 6 || c.Contenders().MeasuredCells != 4 {
		t.Errorf("got %+v", c)
	}
}

func TestATrialOfSeveralAttemptsNamesWhatDisturbedIt(t *testing.T) {
	o := recordtest.Duel(2)
	o.Levels = []int32{10}
	d := recordtest.Run(o)
	for i := range d.Trials {
		if m := &d.Trials[i].Manifest; m.Block == 2 && m.Servers[0] == "go" {
			m.Attempt, m.Failures = 3, []string{"PodLost", "ImagePull"}
		}
	}
	want := []analysis.RepeatedTrial{{Trial: "duel-b02-go", Block: 2, Implementation: "go", Attempt: 3, Failures: []string{"PodLost", "ImagePull"}}}
	if diff := cmp.Diff(want, analyse(t, d).Coverage.Repeated); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
