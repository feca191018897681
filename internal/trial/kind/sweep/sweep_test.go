package sweep_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind/kinds"
	"loadstone.dev/loadstone/internal/trial/kind/sweep"
)

func TestATrialDoesWhatThePlanSaysOfItsServers(t *testing.T) {
	p := record.Plan{
		Implementations: []record.Implementation{{Name: "a", Port: 80}, {Name: "b", Port: 81}, {Name: "c", Port: 82}},
		Cells:           []record.Cell{{Load: "sweep", Connections: 10}}, Generators: record.Generators{Pods: 2, CPUs: 3}, Placement: record.Placement{Pinning: record.Required},
	}
	want := sweep.Sweep{
		Implementations: []record.Implementation{p.Implementations[2], p.Implementations[0]}, Generators: p.Generators, Cells: p.Cells, Placement: p.Placement,
	}
	if diff := cmp.Diff(want, kinds.Planned(p, record.PlannedTrial{Type: record.Sweep, Servers: []string{"c", "a"}})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestASweepOfTwoServersIsADuet(t *testing.T) {
	for servers, want := range map[int]bool{0: false, 1: false, 2: true} {
		s := sweep.Sweep{Implementations: make([]record.Implementation, servers)}
		if got := s.Duet(); got != want {
			t.Errorf("a sweep of %d servers is a duet: %v, want %v", servers, got, want)
		}
	}
}
