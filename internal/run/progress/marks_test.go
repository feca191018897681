package progress

import (
	"maps"
	"slices"
	"testing"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
	"loadstone.dev/loadstone/internal/run/conduct"
)

func TestResultsOfVoidAndSuspectCellsSaySo(t *testing.T) {
	o := recordtest.Duel(2)
	o.Levels = []int32{1, 10, 100}
	d := recordtest.Run(o)
	_, noisy := recordtest.Cell(&d, 1, "go", 10)
	noisy.BusyNanos = noisy.CPUNanos + noisy.CoreNanos/2
	_, busy := recordtest.Cell(&d, 1, "go", 100)
	busy.BusyNanos = busy.CPUNanos + busy.CoreNanos/10
	i := slices.IndexFunc(d.Trials, func(t record.TrialData) bool { return t.Manifest.Block == 1 && t.Manifest.Servers[0] == "go" })
	one := d.Trials[i : i+1]
	table, err := analysis.Analyse(record.RunData{Manifest: conduct.SoFar(one[0].Manifest.Run, d.Manifest.Plan, one), Trials: one})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, r := range Marked(Results(one[0]), table, one[0]) {
		got[r.Name] = r.Doubt
	}
	if want := map[string]string{"sweep-1": "", "sweep-10": "void: NoisyNeighbours", "sweep-100": "suspect: NoisyNeighbours"}; !maps.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
