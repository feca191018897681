package measured_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/record"
)

func TestPinningIsReadBackFromTheProcesses(t *testing.T) {
	for name, tc := range map[string]struct {
		change               func(*record.TrialData)
		pinned, serverPinned bool
		overlaps             []measured.Overlap
	}{
		"each on a CPU of its own": {pinned: true, serverPinned: true},
		"a server on two CPUs": {
			change: func(d *record.TrialData) { d.Servers[0].Cells[0].CPUsAllowed = "1-2" },
		},
		"a server that was not seen": {
			change: func(d *record.TrialData) { d.Servers[0].Cells = nil },
		},
		"a generator on two CPUs": {
			change:       func(d *record.TrialData) { d.Generators[1].Cells[0].CPUsAllowed = "0-1" },
			serverPinned: true,
		},
		"a generator without a record": {
			change:       func(d *record.TrialData) { d.Generators[1].Cells = nil },
			serverPinned: true,
		},
		"a generator on the server's CPU": {
			change: func(d *record.TrialData) {
				d.Generators[1].Cells[0].CPUsAllowed, d.Generators[1].Environment.Node = "1", "server"
			},
			overlaps: []measured.Overlap{{Generator: 1, OnServer: true, List: "1"}},
		},
		"a generator on another one's CPU": {
			change:       func(d *record.TrialData) { d.Generators[1].Environment.Node = d.Generators[0].Environment.Node },
			serverPinned: true,
			overlaps:     []measured.Overlap{{Generator: 1, List: "0"}},
		},
		"the number of the server's CPU on another node": {
			change: func(d *record.TrialData) { d.Generators[1].Cells[0].CPUsAllowed = "1" },
			pinned: true, serverPinned: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := trial(2)
			if tc.change != nil {
				tc.change(d)
			}
			f := read(t, d)
			if f.Pinning.Pinned != tc.pinned || f.Pinning.ServerPinned != tc.serverPinned {
				t.Errorf("pinned %v, the server %v; want %v, %v", f.Pinning.Pinned, f.Pinning.ServerPinned, tc.pinned, tc.serverPinned)
			}
			if diff := cmp.Diff(tc.overlaps, f.Overlaps()); diff != "" {
				t.Errorf("overlaps (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheBusiestGeneratorCounts(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*record.TrialData)
		want   float64
	}{
		"two alike": {want: 0.4},
		"one is busier": {
			change: func(d *record.TrialData) { d.Generators[1].Cells[0].CPUNanos = 3_000_000_000 },
			want:   0.6,
		},
		"two share a CPU": {
			change: func(d *record.TrialData) { d.Generators[1].Environment.Node = d.Generators[0].Environment.Node },
			want:   0.8,
		},
		"other processes and the hypervisor take the rest": {
			change: func(d *record.TrialData) {
				r := &d.Generators[1].Cells[0]
				r.CoreNanos, r.BusyNanos, r.StealNanos = 5_000_000_000, 4_000_000_000, 500_000_000
			},
			want: 0.9,
		},
		"who is busy on the server's CPU is no noisy neighbour": {
			change: func(d *record.TrialData) {
				r := &d.Generators[1].Cells[0]
				r.CPUsAllowed, d.Generators[1].Environment.Node = "1", "server"
				r.CoreNanos, r.BusyNanos = 5_000_000_000, 5_000_000_000
			},
			want: 0.4,
		},
		"CPUs that were not read": {
			change: func(d *record.TrialData) { d.Generators[1].Cells[0].CPUsAllowed = "" },
			want:   0.4,
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := trial(2)
			if tc.change != nil {
				tc.change(d)
			}
			if got := read(t, d).Busiest(); got != tc.want {
				t.Errorf("Busiest() = %v, want %v", got, tc.want)
			}
		})
	}
}

func TestAServerUsesWhatItHasAndMissesWhatWasTaken(t *testing.T) {
	d := trial(1)
	_, seen := first(d)
	seen.StealNanos, seen.ThrottledNanos = 500_000_000, 250_000_000
	f := read(t, d)
	if f.ServerUtilisation() != 0.9 || f.Steal() != 0.1 || f.Throttled() != 0.05 {
		t.Errorf("utilisation %v, steal %v, throttled %v", f.ServerUtilisation(), f.Steal(), f.Throttled())
	}
	d.Servers[0].Cells = nil
	if f = read(t, d); f.ServerUtilisation() != 0 || f.Steal() != 0 || f.Throttled() != 0 {
		t.Errorf("of a server that was not seen: utilisation %v, steal %v, throttled %v", f.ServerUtilisation(), f.Steal(), f.Throttled())
	}
}

func TestSiblingsAreTheOtherThreadsOfTheServersCores(t *testing.T) {
	for name, tc := range map[string]struct {
		own, threads string
		want         []int
	}{
		"two threads a core":             {"1", "1,5", []int{5}},
		"two cores":                      {"1-2", "1-2,5-6", []int{5, 6}},
		"the server has both":            {"1,5", "1,5", []int{}},
		"the kernel does not tell":       {"1", "", nil},
		"they are those of other CPUs":   {"1", "2,6", nil},
		"the server's CPUs are not read": {"", "1,5", nil},
	} {
		t.Run(name, func(t *testing.T) {
			server := record.ObserverResult{Environment: record.Environment{SMTSiblings: tc.threads}}
			if diff := cmp.Diff(tc.want, measured.Siblings(server, &record.CellObservation{CPUsAllowed: tc.own})); diff != "" {
				t.Errorf("siblings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheServersOfADuetAreTogetherOnTheirCPUs(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*record.TrialData)
		list   string
		want   bool
	}{
		"the same CPU": {func(*record.TrialData) {}, "1", true},
		"another CPU":  {func(d *record.TrialData) { d.Servers[1].Cells[0].CPUsAllowed = "2" }, "2", false},
		"another node": {func(d *record.TrialData) { d.Servers[1].Environment.Node = "elsewhere" }, "1", false},
		"the other was not seen": {
			func(d *record.TrialData) { d.Servers[1].Cells = nil }, "", false,
		},
		"outside a duet nothing is apart": {
			func(d *record.TrialData) { d.Manifest.Servers, d.Servers = d.Manifest.Servers[:1], d.Servers[:1] }, "", true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := trial(1)
			d.Manifest.Servers, d.Servers = append(d.Manifest.Servers, "rust"), append(d.Servers, d.Servers[0])
			d.Servers[1].Cells = []record.CellObservation{d.Servers[0].Cells[0]}
			tc.change(d)
			f := read(t, d)
			list, together := f.Together()
			if list != tc.list || together != tc.want || f.Pinning.ServerPinned != tc.want {
				t.Errorf("Together() = %q, %v, pinned %v; want %q, %v", list, together, f.Pinning.ServerPinned, tc.list, tc.want)
			}
		})
	}
}
