package conduct_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
)

func TestARunIsBoundByWhatIsStored(t *testing.T) {
	trial := func(index int32, node, manifest string) conduct.Trial {
		t := trialOf(index, "go")
		if manifest != "" {
			t.Stored = &record.Artifact{Key: manifest}
		}
		if node != "" {
			t.Nodes = []record.BoundNode{{Member: "server-0", Node: node}}
		}
		return t
	}
	for name, tc := range map[string]struct {
		trials conduct.Trials
		want   map[string]string
	}{
		"nothing is stored":                    {trials: conduct.Trials{trial(0, "n1", ""), trial(1, "", "")}},
		"the first trial":                      {trials: conduct.Trials{trial(0, "n1", "key"), trial(1, "n2", "key")}, want: map[string]string{"server-0": "n1"}},
		"the first in the order of the plan":   {trials: conduct.Trials{trial(1, "n2", "key"), trial(0, "n1", "key")}, want: map[string]string{"server-0": "n1"}},
		"a trial that was lost binds nobody":   {trials: conduct.Trials{trial(0, "n1", ""), trial(1, "n2", "key")}, want: map[string]string{"server-0": "n2"}},
		"an earlier operator's trial likewise": {trials: conduct.Trials{trial(0, "", "key"), trial(1, "n2", "key")}, want: map[string]string{"server-0": "n2"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.trials.Bound(false)); diff != "" {
				t.Errorf("bound to (-want +got):\n%s", diff)
			}
			if got := tc.trials.Bound(true); got != nil {
				t.Errorf("what follows the blocks is bound to %v", got)
			}
		})
	}
}

func TestTheCPUOfADuet(t *testing.T) {
	for name, tc := range map[string]struct {
		first, second string
		generators    []string
		want          int32
	}{
		"the highest of both":                   {"0-3", "0-2", []string{"5"}, 2},
		"none that the generator owns":          {"0-3", "0-3", []string{"3"}, 2},
		"none that one of several owns":         {"0-3", "0-3", []string{"3", "1-2"}, 0},
		"one that the generator shares too":     {"0-1", "0-1", []string{"0-1"}, 1},
		"no generator beside them":              {"0-3", "0-3", nil, 3},
		"the only one":                          {"7", "7", []string{"0"}, 7},
		"none in common":                        {"1", "2", []string{"0"}, -1},
		"nothing known":                         {"unknown", "0-3", []string{"0"}, -1},
		"a generator of which nothing is known": {"0-3", "0-3", []string{"unknown"}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			got := int32(-1)
			if cpu := conduct.SharedCPU(tc.first, tc.second, tc.generators); cpu != nil {
				got = *cpu
			}
			if got != tc.want {
				t.Errorf("CPU %d, want %d", got, tc.want)
			}
		})
	}
}
