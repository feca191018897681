package validity

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/record"
)

func TestTheServersCoreIsItsOwn(t *testing.T) {
	const unknown = "The use of the hardware threads that share a core with the server's CPUs (CPUs 5) is unknown."
	for name, tc := range map[string]struct {
		siblings, generator, node string
		pinning                   record.Strictness
		want                      []finding
		said                      bool
	}{
		"the kernel does not tell":                        {siblings: "", generator: "5", node: "server"},
		"a core of one thread":                            {siblings: "1", generator: "5", node: "server"},
		"the generator is on the other thread":            {siblings: "1,5", generator: "5", node: "server", want: []finding{{SharedCore, Void}}, said: true},
		"the same where pinning is preferred":             {siblings: "1,5", generator: "5", node: "server", pinning: record.Preferred, want: []finding{{SharedCore, Suspect}}, said: true},
		"the generator is on another core":                {siblings: "1,5", generator: "2", node: "server", said: true},
		"the generator is on that thread of another node": {siblings: "1,5", generator: "5", node: "loadgen", said: true},
		"siblings of other CPUs than the cell's":          {siblings: "3,5", generator: "5", node: "server"},
		"siblings that cannot be read":                    {siblings: "one", generator: "5", node: "server"},
	} {
		t.Run(name, func(t *testing.T) {
			d := oneCell()
			if tc.pinning != "" {
				d.Manifest.Plan.Placement.Pinning = tc.pinning
			}
			trial := &d.Trials[0]
			trial.Servers[0].Environment.SMTSiblings, trial.Generators[0].Environment.Node = tc.siblings, tc.node
			trial.Generators[0].Cells[0].CPUsAllowed = tc.generator
			got, err := read(d)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, found(got.Groups[0].Cells[0])); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
			says := UnseenSiblings(trial.Servers[0], &trial.Servers[0].Cells[0])
			if said := says == unknown; said != tc.said {
				t.Errorf("said so %v, want %v: %s", said, tc.said, says)
			}
		})
	}
}

func TestAThroughputIsDilutedByABusyGeneratorBesideAServerThatWaits(t *testing.T) {
	for name, tc := range map[string]struct {
		generator, server int64
		want              bool
	}{
		"seven tenths of its CPU":                         {3_500_000_000, 3_000_000_000, false},
		"nine tenths of its CPU, and six of the server's": {4_500_000_000, 3_000_000_000, true},
		"nine tenths of its CPU, and all of the server's": {4_500_000_000, 4_990_000_000, false},
	} {
		t.Run(name, func(t *testing.T) {
			d := oneCell()
			d.Trials[0].Generators[0].Cells[0].CPUNanos = tc.generator
			seen := &d.Trials[0].Servers[0].Cells[0]
			seen.CPUNanos, seen.BusyNanos = tc.server, tc.server
			got, err := read(d)
			if err != nil {
				t.Fatal(err)
			}
			if c := got.Groups[0].Cells[0]; c.ThroughputIsDiluted != tc.want || c.ThroughputIsBound {
				t.Errorf("diluted %v, bound %v; want %v, false", c.ThroughputIsDiluted, c.ThroughputIsBound, tc.want)
			}
		})
	}
}
