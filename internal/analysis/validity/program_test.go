package validity

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
)

func processes() record.RunData {
	o := recordtest.Duel(3)
	o.Servers, o.Levels = o.Servers[:2], o.Levels[:1]
	d := recordtest.Run(o)
	d.Manifest.Plan.Cells, d.Manifest.Plan.Loads = nil, nil
	begun := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	for i := range d.Trials {
		t := &d.Trials[i]
		t.Manifest.Type, t.Manifest.Cells, t.Generators = record.Microbenchmark, nil, nil
		t.Servers[0].Program = &record.ProgramRun{Started: begun, Ended: begun.Add(2 * time.Second), Output: "output.txt"}
		t.Manifest.Artifacts = []record.Artifact{{Name: "result.json", Key: "of the result"}, {Name: "output.txt", Key: "of " + t.Manifest.Name}}
	}
	return d
}

func judgedPrograms(t *testing.T, d record.RunData) []Program {
	t.Helper()
	p, err := planned.Of(d.Manifest)
	if err != nil {
		t.Fatal(err)
	}
	out, err := Programs(d, p)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestProcessesAreInTheOrderOfImplementationsAndBlocks(t *testing.T) {
	type process struct {
		Implementation, Output string
		Block                  int32
		Validity               Validity
	}
	var got []process
	for _, p := range judgedPrograms(t, processes()) {
		got = append(got, process{p.Implementation, p.Output, p.Block, p.Validity})
		if p.Seconds != 2 || p.VoidCode() != "" {
			t.Errorf("%s ran for %g s: %+v", p.Trial, p.Seconds, p.Reasons)
		}
	}
	want := []process{
		{"go", "of duel-b01-go", 1, Valid},
		{"go", "of duel-b02-go", 2, Valid},
		{"go", "of duel-b03-go", 3, Valid},
		{"go-slow", "of duel-b01-go-slow", 1, Valid},
		{"go-slow", "of duel-b02-go-slow", 2, Valid},
		{"go-slow", "of duel-b03-go-slow", 3, Valid},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWhatDisturbsAProcessIsFound(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*record.TrialData, *record.CellObservation)
		want   []finding
		void   Code
	}{
		"nothing": {func(*record.TrialData, *record.CellObservation) {}, nil, ""},
		"nobody saw it": {
			func(t *record.TrialData, _ *record.CellObservation) { t.Servers[0].Cells = nil },
			[]finding{{ObserverFailed, Void}, {NotPinned, Void}},
			ObserverFailed,
		},
		"who else used its CPUs is unknown": {
			func(_ *record.TrialData, o *record.CellObservation) { o.BusyNanos = 0 },
			[]finding{{NotChecked, Suspect}},
			"",
		},
		"its own use of its CPUs is unknown": {
			func(_ *record.TrialData, o *record.CellObservation) { o.CPUNanos = 0; o.BusyNanos = 1 },
			[]finding{{ObserverFailed, Void}},
			ObserverFailed,
		},
		"it may run on two CPUs and owns one": {
			func(_ *record.TrialData, o *record.CellObservation) { o.CPUsAllowed = "1-2" },
			[]finding{{NotPinned, Void}},
			NotPinned,
		},
		"others took a tenth of its CPU": {others(0.1), []finding{{NoisyNeighbours, Suspect}}, ""},
		"others took a third of its CPU": {others(0.33), []finding{{NoisyNeighbours, Void}}, NoisyNeighbours},
		"the hypervisor took two parts in a hundred": {
			func(_ *record.TrialData, o *record.CellObservation) { o.StealNanos = o.CoreNanos / 50 },
			[]finding{{Steal, Suspect}},
			"",
		},
		"the hypervisor took half": {
			func(_ *record.TrialData, o *record.CellObservation) { o.StealNanos = o.CoreNanos / 2 }, []finding{{Steal, Void}}, Steal,
		},
		"a quota held it back": {
			func(_ *record.TrialData, o *record.CellObservation) { o.ThrottledNanos = 1e9 }, []finding{{Throttled, Void}}, Throttled,
		},
		"another kernel": {
			func(t *record.TrialData, _ *record.CellObservation) { t.Servers[0].Environment.Kernel = "5.10" },
			[]finding{{DifferentMachine, Void}},
			DifferentMachine,
		},
		"another image": {
			func(t *record.TrialData, _ *record.CellObservation) { t.Manifest.Pods[0].ImageID = "sha256:other" },
			[]finding{{DifferentImage, Void}},
			DifferentImage,
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := processes()
			for i := range d.Trials {
				if m := d.Trials[i].Manifest; m.Block == 2 && m.Servers[0] == "go" {
					tc.change(&d.Trials[i], &d.Trials[i].Servers[0].Cells[0])
				}
			}
			for _, p := range judgedPrograms(t, d) {
				want, void := []finding(nil), Code("")
				if p.Trial == "duel-b02-go" {
					want, void = tc.want, tc.void
				}
				if diff := cmp.Diff(want, found(p.Cell)); diff != "" || p.VoidCode() != void || (p.Validity == Void) != (void != "") {
					t.Errorf("%s is %s, %q (-want +got):\n%s", p.Trial, p.Validity, p.VoidCode(), diff)
				}
			}
		})
	}
}

// others took a share of a program's CPUs.
func others(share float64) func(*record.TrialData, *record.CellObservation) {
	return func(_ *record.TrialData, o *record.CellObservation) {
		o.BusyNanos = o.CPUNanos + int64((share+2*0.01*1e9/float64(o.CoreNanos))*float64(o.CoreNanos))
	}
}

func TestWhatAProcessPrintedIsFoundByItsName(t *testing.T) {
	d := processes()
	d.Trials[0].Manifest.Artifacts = d.Trials[0].Manifest.Artifacts[:1]
	d.Trials[1].Servers[0].Program = nil
	lost := 0
	for _, p := range judgedPrograms(t, d) {
		if p.Output == "" {
			lost++
		}
	}
	if lost != 2 {
		t.Errorf("%d processes have no output, want two", lost)
	}
}

func TestOnlyProgramsAreProcesses(t *testing.T) {
	d := processes()
	for i := range d.Trials {
		d.Trials[i].Manifest.Cells = []record.Cell{{Load: "sweep", Connections: 10}}
	}
	if got := judgedPrograms(t, d); len(got) != 0 {
		t.Errorf("sweeps are processes: %+v", got)
	}
	d = processes()
	d.Trials[1].Manifest.Block, d.Trials[1].Manifest.Servers = d.Trials[0].Manifest.Block, d.Trials[0].Manifest.Servers
	p, err := planned.Of(d.Manifest)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Programs(d, p); err == nil || !strings.Contains(err.Error(), "has two") {
		t.Errorf("two processes of one block: %v", err)
	}
}

func TestTheFindingsOfProcessesAreInTheOrderOfBlocks(t *testing.T) {
	process := func(name string, block int32, reasons ...Reason) Program {
		return Program{Implementation: name, Cell: Cell{Block: block, Reasons: reasons}}
	}
	steal, noisy := Reason{Code: Steal, Weight: Suspect, Value: 0.02}, Reason{Code: NoisyNeighbours, Weight: Void, Value: 0.5}
	got := ProgramFindings([]Program{process("go", 3, steal), process("other", 2, steal), process("go", 1, steal, noisy)}, "go")
	want := []Finding{
		{Code: NoisyNeighbours, Weight: Void, Blocks: []int32{1}, Least: 0.5, Most: 0.5},
		{Code: Steal, Weight: Suspect, Blocks: []int32{1, 3}, Least: 0.02, Most: 0.02},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
