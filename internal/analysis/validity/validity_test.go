package validity

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
)

// oneCell has one good cell, with a server far slower than the generator.
func oneCell() record.RunData {
	return recordtest.Run(recordtest.Options{
		Name: "one", Seed: 1, Blocks: 1, Levels: []int32{100}, Seconds: 5,
		Servers: []recordtest.Server{{Name: "go", CPUMicros: 12, RSSBytes: 1 << 20}},
	})
}

type finding struct {
	Code   Code
	Weight Validity
}

func found(c Cell) []finding {
	var out []finding
	for _, r := range c.Reasons {
		out = append(out, finding{r.Code, r.Weight})
	}
	return out
}

type cellCase struct {
	change   func(*record.CellRun, *record.CellObservation)
	streams  int32
	pinning  record.Strictness
	want     []finding
	validity Validity
	bound    bool
}

func (tc cellCase) run(t *testing.T) {
	d := oneCell()
	for i := range d.Manifest.Plan.Cells {
		d.Manifest.Plan.Cells[i].StreamsPerConnection = tc.streams
	}
	if tc.pinning != "" {
		d.Manifest.Plan.Placement.Pinning = tc.pinning
	}
	if tc.change != nil {
		tc.change(recordtest.Cell(&d, 1, "go", 100))
	}
	got, err := read(d)
	if err != nil {
		t.Fatal(err)
	}
	cell := got.Groups[0].Cells[0]
	if diff := cmp.Diff(tc.want, found(cell)); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
	if cell.Validity != tc.validity || cell.ThroughputIsBound != tc.bound {
		t.Errorf("validity %s, bound %v; want %s, %v", cell.Validity, cell.ThroughputIsBound, tc.validity, tc.bound)
	}
	if (got.Groups[0].Throughput == nil) != (tc.validity == Void) || (len(got.Groups[0].Latency) == 0) != (tc.validity == Void) {
		t.Errorf("a cell that is %s has throughput %v and %d distributions", cell.Validity, got.Groups[0].Throughput, len(got.Groups[0].Latency))
	}
}

func halve(r *record.CellRun) {
	r.Measurement.DurationMicros /= 2
	recordtest.SetRequests(r.Measurement, r.Measurement.Requests/2)
	r.CPUNanos /= 2
}

func TestValidity(t *testing.T) {
	for name, tc := range map[string]cellCase{
		"a good cell": {validity: Valid},
		"a tool that failed": {
			change:   func(r *record.CellRun, _ *record.CellObservation) { r.Measurement, r.Error = nil, "exit status 1" },
			want:     []finding{{ToolFailed, Void}},
			validity: Void,
		},
		"a generator that was late": {
			change: func(r *record.CellRun, _ *record.CellObservation) {
				r.Measurement, r.Error, r.Late = nil, "the generator was late for the cell: 120ms", true
			},
			want:     []finding{{GeneratorLate, Void}},
			validity: Void,
		},
		"an observer that failed": {
			change:   func(_ *record.CellRun, o *record.CellObservation) { o.Error = "no such process" },
			want:     []finding{{ObserverFailed, Void}},
			validity: Void,
		},
		"no request at all": {
			change:   func(r *record.CellRun, _ *record.CellObservation) { r.Measurement.Requests = 0 },
			want:     []finding{{NoRequests, Void}},
			validity: Void,
		},
		"a tool that stopped early": {
			change:   func(r *record.CellRun, _ *record.CellObservation) { halve(r) },
			want:     []finding{{CutShort, Void}},
			validity: Void,
		},
		"a tool that ran other connections": {
			change:   func(r *record.CellRun, _ *record.CellObservation) { r.Measurement.Connections = 96 },
			want:     []finding{{WrongLabel, Void}},
			validity: Void,
		},
		"one error page": {
			change:   func(r *record.CellRun, _ *record.CellObservation) { r.Measurement.Errors.Status = 1 },
			want:     []finding{{WrongStatus, Void}},
			validity: Void,
		},
		"one read error in hundreds of thousands": {
			change:   func(r *record.CellRun, _ *record.CellObservation) { r.Measurement.Errors.Read = 1 },
			want:     []finding{{Errors, Suspect}},
			validity: Suspect,
		},
		"more than one failed request in a thousand": {
			change: func(r *record.CellRun, _ *record.CellObservation) {
				r.Measurement.Errors.Read = r.Measurement.Requests / 900
			},
			want:     []finding{{Errors, Void}},
			validity: Void,
		},
		"two timeouts among a hundred connections": {
			change:   func(r *record.CellRun, _ *record.CellObservation) { r.Measurement.Errors.Timeout = 2 },
			want:     []finding{{Errors, Suspect}, {Starved, Void}},
			validity: Void,
		},
		"a server on two CPUs when pinning is required": {
			change:   func(_ *record.CellRun, o *record.CellObservation) { o.CPUsAllowed = "1-2" },
			want:     []finding{{NotPinned, Void}},
			validity: Void,
		},
		"a server on two CPUs when pinning is preferred": {
			change:   func(_ *record.CellRun, o *record.CellObservation) { o.CPUsAllowed = "1-2" },
			pinning:  record.Preferred,
			want:     []finding{{NotPinned, Suspect}},
			validity: Suspect,
		},
		"a generator whose CPUs were not read": {
			change:   func(r *record.CellRun, _ *record.CellObservation) { r.CPUsAllowed = "" },
			want:     []finding{{NotPinned, Void}},
			validity: Void,
		},
		"a generator that is the limit": {
			change: func(r *record.CellRun, o *record.CellObservation) {
				r.CPUNanos, o.CPUNanos = 4_900_000_000, 4_000_000_000
				o.BusyNanos = o.CPUNanos
			},
			want:     []finding{{GeneratorLimited, Suspect}},
			validity: Suspect, bound: true,
		},
		"a generator whose CPU is full of other processes is the bottleneck": {
			change: func(r *record.CellRun, o *record.CellObservation) {
				r.CPUNanos, r.CoreNanos, r.BusyNanos, r.StealNanos = 3_000_000_000, 5_000_000_000, 4_700_000_000, 200_000_000
				o.CPUNanos = 4_000_000_000
				o.BusyNanos = o.CPUNanos
			},
			want:     []finding{{GeneratorLimited, Suspect}},
			validity: Suspect, bound: true,
		},
		"a generator next to a few other processes is not": {
			change: func(r *record.CellRun, o *record.CellObservation) {
				r.CPUNanos, r.CoreNanos, r.BusyNanos = 3_000_000_000, 5_000_000_000, 3_500_000_000
				o.CPUNanos = 4_000_000_000
				o.BusyNanos = o.CPUNanos
			},
			validity: Valid,
		},
		"a generator is not the limit of a server whose CPU was taken away": {
			change: func(r *record.CellRun, o *record.CellObservation) {
				r.CPUNanos, o.CPUNanos = 4_900_000_000, 4_650_000_000
				o.BusyNanos, o.StealNanos = o.CPUNanos, o.CoreNanos*4/100
			},
			want:     []finding{{GeneratorBusy, Suspect}, {Steal, Suspect}},
			validity: Suspect,
		},
		"a generator that is as busy as the server is not the limit": {
			change:   func(r *record.CellRun, _ *record.CellObservation) { r.CPUNanos = 4_900_000_000 },
			want:     []finding{{GeneratorBusy, Suspect}},
			validity: Suspect,
		},
		"other processes on the server's CPU": {
			change:   func(_ *record.CellRun, o *record.CellObservation) { o.BusyNanos = o.CPUNanos + o.CoreNanos/10 },
			want:     []finding{{NoisyNeighbours, Suspect}},
			validity: Suspect,
		},
		"many other processes on the server's CPU": {
			change:   func(_ *record.CellRun, o *record.CellObservation) { o.BusyNanos = o.CPUNanos + o.CoreNanos/5 },
			want:     []finding{{NoisyNeighbours, Void}},
			validity: Void,
		},
		"two hundredths of steal": {
			change:   func(_ *record.CellRun, o *record.CellObservation) { o.StealNanos = o.CoreNanos / 50 },
			want:     []finding{{Steal, Suspect}},
			validity: Suspect,
		},
		"a tenth of steal": {
			change:   func(_ *record.CellRun, o *record.CellObservation) { o.StealNanos = o.CoreNanos / 10 },
			want:     []finding{{Steal, Void}},
			validity: Void,
		},
		"a little throttling": {
			change:   func(_ *record.CellRun, o *record.CellObservation) { o.ThrottledNanos = 1_000_000 },
			want:     []finding{{Throttled, Suspect}},
			validity: Suspect,
		},
	} {
		t.Run(name, tc.run)
	}
}

func TestSharedCPUsCountOnlyOnOneNode(t *testing.T) {
	for name, tc := range map[string]struct {
		node string
		want Validity
	}{
		"the same CPU of another node is another CPU": {"loadgen", Valid},
		"the same CPU of the same node is shared":     {"server", Void},
	} {
		t.Run(name, func(t *testing.T) {
			d := oneCell()
			r, _ := recordtest.Cell(&d, 1, "go", 100)
			r.CPUsAllowed = "1"
			d.Trials[0].Generators[0].Environment.Node = tc.node
			got, err := read(d)
			if err != nil {
				t.Fatal(err)
			}
			if c := got.Groups[0].Cells[0]; c.Validity != tc.want || c.Pinning.Pinned != (tc.want == Valid) {
				t.Errorf("validity %s, pinned %v; want %s", c.Validity, c.Pinning.Pinned, tc.want)
			}
		})
	}
}

func TestFindingsGatherReasonsOfOneKind(t *testing.T) {
	cells := []Cell{
		{Block: 1, Reasons: []Reason{{Code: NoisyNeighbours, Weight: Suspect, Value: 0.06}}},
		{Block: 2, Reasons: []Reason{{Code: NoisyNeighbours, Weight: Suspect, Value: 0.09}, {Code: ToolFailed, Weight: Void, Detail: "x"}}},
		{Block: 3, Reasons: []Reason{{Code: ToolFailed, Weight: Void, Detail: "x"}}},
	}
	want := []Finding{
		{Code: ToolFailed, Weight: Void, Blocks: []int32{2, 3}, Details: []string{"x"}},
		{Code: NoisyNeighbours, Weight: Suspect, Blocks: []int32{1, 2}, Least: 0.06, Most: 0.09},
	}
	if diff := cmp.Diff(want, Findings(cells)); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

type outcome struct{ Groups []Group }

func (o outcome) Group(at record.Point, implementation string) *Group {
	return GroupAt(o.Groups, at, implementation)
}

func read(d record.RunData) (outcome, error) {
	p, err := planned.Of(d.Manifest)
	if err != nil {
		return outcome{}, err
	}
	r, err := NewReader(d, p)
	if err != nil {
		return outcome{}, err
	}
	groups, err := r.Groups()
	return outcome{groups}, err
}
