package local

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// eight are the cores of a 16-CPU machine, as in TestNodesOfFourAndOfSixteenCPUs of package kernel.
var eight = [][]int{{0, 8}, {1, 9}, {2, 10}, {3, 11}, {4, 12}, {5, 13}, {6, 14}, {7, 15}}

func TestEveryMemberOwnsItsCPUsWhereThereAreEnough(t *testing.T) {
	for name, tc := range map[string]struct {
		cores [][]int
		needs Needs
		want  Seats
	}{
		"two CPUs": {
			[][]int{{0}, {1}}, Needs{1, []int{1}}, Seats{Server: []int{1}, Generators: [][]int{{0}}, Rest: []int{0}, Owned: true},
		},
		"four CPUs leave one to the rest": {
			[][]int{{0}, {1}, {2}, {3}}, Needs{1, []int{1}}, Seats{Server: []int{3}, Generators: [][]int{{2}}, Rest: []int{0, 1}, Owned: true},
		},
		"the threads beside the server's and the generator's stay free": {
			[][]int{{0, 4}, {1, 5}, {2, 6}, {3, 7}}, Needs{1, []int{1}}, Seats{Server: []int{3}, Generators: [][]int{{2}}, Rest: []int{0, 4, 1, 5}, Owned: true},
		},
		"the generator uses both threads of its core before it shares the server's": {
			[][]int{{0, 2}, {1, 3}}, Needs{1, []int{1, 1}}, Seats{Server: []int{1}, Generators: [][]int{{0}, {2}}, Rest: []int{0, 2}, Owned: true},
		},
		"a server of two CPUs takes a whole core where it must": {
			[][]int{{0, 2}, {1, 3}}, Needs{2, []int{1}}, Seats{Server: []int{1, 3}, Generators: [][]int{{0}}, Rest: []int{2}, Owned: true},
		},
		"one core of two threads is shared": {
			[][]int{{0, 1}}, Needs{1, []int{1}}, Seats{Server: []int{1}, Generators: [][]int{{0}}, Rest: []int{0}, Owned: true},
		},
		"a generator that owns none has what is left over": {
			[][]int{{0}, {1}, {2}}, Needs{1, []int{0, 0}}, Seats{Server: []int{2}, Generators: [][]int{{0, 1}, {0, 1}}, Rest: []int{0, 1}, Owned: true},
		},
		"eight cores: nobody else has a thread of the server's, and each generator a core of its own": {
			eight, Needs{2, []int{1, 1}}, Seats{Server: []int{7, 6}, Generators: [][]int{{5}, {4}}, Rest: []int{0, 8, 1, 9, 2, 10, 3, 11}, Owned: true},
		},
		"eight cores: generators take whole cores where there would be none left": {
			eight, Needs{4, []int{2, 2, 2}}, Seats{
				Server: []int{7, 6, 5, 4}, Generators: [][]int{{3, 11}, {2, 10}, {1, 9}}, Rest: []int{0, 8}, Owned: true,
			},
		},
		"eight cores: a server of more CPUs than there are cores takes whole cores": {
			eight, Needs{9, []int{1}}, Seats{Server: []int{7, 15, 6, 14, 5, 13, 4, 12, 3}, Generators: [][]int{{2}}, Rest: []int{0, 8, 1, 9}, Owned: true},
		},
		"a program without generators": {
			[][]int{{0}, {1}}, Needs{server: 1}, Seats{Server: []int{1}, Rest: []int{0}, Owned: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := Take(tc.cores, tc.needs)
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(Seats{})); !ok || diff != "" {
				t.Errorf("taken: %v (-want +got):\n%s", ok, diff)
			}
		})
	}
}

func TestTooFewCPUsAreShared(t *testing.T) {
	for name, tc := range map[string]struct {
		cores  [][]int
		needs  Needs
		server []int
		rest   []int
	}{
		"one CPU":                             {[][]int{{0}}, Needs{1, []int{1}}, []int{0}, []int{0}},
		"two CPUs and two generators":         {[][]int{{0}, {1}}, Needs{1, []int{1, 1}}, []int{1}, []int{0}},
		"a server that wants all of the CPUs": {[][]int{{0}, {1}}, Needs{2, []int{1}}, []int{1}, []int{0}},
	} {
		t.Run(name, func(t *testing.T) {
			if got, ok := Take(tc.cores, tc.needs); ok {
				t.Fatalf("everybody owns CPUs: %+v", got)
			}
			got := Share(tc.cores, tc.needs)
			if got.Owned || !slices.Equal(got.Server, tc.server) || !slices.Equal(got.Rest, tc.rest) || len(got.Generators) != len(tc.needs.generators) {
				t.Errorf("they share %+v", got)
			}
		})
	}
}

func TestTheNeedsOfAnyTrialAreMet(t *testing.T) {
	for name, tc := range map[string]struct{ one, other, want Needs }{
		"the larger server counts":             {Needs{server: 1}, Needs{server: 2}, Needs{server: 2}},
		"the larger generator counts":          {Needs{1, []int{2, 1}}, Needs{1, []int{1, 3}}, Needs{1, []int{2, 3}}},
		"a generator that only one trial has":  {Needs{1, []int{1}}, Needs{1, []int{1, 1}}, Needs{1, []int{1, 1}}},
		"a trial that needs nothing":           {Needs{2, []int{1}}, Needs{}, Needs{2, []int{1}}},
		"a generator that only the first uses": {Needs{1, []int{1, 4}}, Needs{3, []int{2}}, Needs{3, []int{2, 4}}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.one.Most(tc.other), cmp.AllowUnexported(Needs{})); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestAMemberNeedsWholeCPUs(t *testing.T) {
	for milli, want := range map[int64]int{0: 0, 1: 1, 400: 1, 1000: 1, 1001: 2, 4000: 4} {
		if got := Whole(milli); got != want {
			t.Errorf("%d thousandths need %d CPUs, want %d", milli, got, want)
		}
	}
}
