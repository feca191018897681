package local

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEveryMemberOwnsItsCPUsWhereThereAreEnough(t *testing.T) {
	for name, tc := range map[string]struct {
		cores [][]int
		needs needs
		want  seats
	}{
		"two CPUs": {
			[][]int{{0}, {1}}, needs{1, []int{1}}, seats{server: []int{1}, generators: [][]int{{0}}, rest: []int{0}, owned: true},
		},
		"four CPUs leave one to the rest": {
			[][]int{{0}, {1}, {2}, {3}}, needs{1, []int{1}}, seats{server: []int{3}, generators: [][]int{{2}}, rest: []int{0, 1}, owned: true},
		},
		"the threads beside the server's and the generator's stay free": {
			[][]int{{0, 4}, {1, 5}, {2, 6}, {3, 7}}, needs{1, []int{1}}, seats{server: []int{3}, generators: [][]int{{2}}, rest: []int{0, 4, 1, 5}, owned: true},
		},
		"the generator uses both threads of its core before it shares the server's": {
			[][]int{{0, 2}, {1, 3}}, needs{1, []int{1, 1}}, seats{server: []int{1}, generators: [][]int{{0}, {2}}, rest: []int{0, 2}, owned: true},
		},
		"a server of two CPUs takes a whole core where it must": {
			[][]int{{0, 2}, {1, 3}}, needs{2, []int{1}}, seats{server: []int{1, 3}, generators: [][]int{{0}}, rest: []int{2}, owned: true},
		},
		"one core of two threads is shared": {
			[][]int{{0, 1}}, needs{1, []int{1}}, seats{server: []int{1}, generators: [][]int{{0}}, rest: []int{0}, owned: true},
		},
		"a generator that owns none has what is left over": {
			[][]int{{0}, {1}, {2}}, needs{1, []int{0, 0}}, seats{server: []int{2}, generators: [][]int{{0, 1}, {0, 1}}, rest: []int{0, 1}, owned: true},
		},
		"a program without generators": {
			[][]int{{0}, {1}}, needs{server: 1}, seats{server: []int{1}, rest: []int{0}, owned: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := take(tc.cores, tc.needs)
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(seats{})); !ok || diff != "" {
				t.Errorf("taken: %v (-want +got):\n%s", ok, diff)
			}
		})
	}
}

func TestTooFewCPUsAreShared(t *testing.T) {
	for name, tc := range map[string]struct {
		cores  [][]int
		needs  needs
		server []int
		rest   []int
	}{
		"one CPU":                             {[][]int{{0}}, needs{1, []int{1}}, []int{0}, []int{0}},
		"two CPUs and two generators":         {[][]int{{0}, {1}}, needs{1, []int{1, 1}}, []int{1}, []int{0}},
		"a server that wants all of the CPUs": {[][]int{{0}, {1}}, needs{2, []int{1}}, []int{1}, []int{0}},
	} {
		t.Run(name, func(t *testing.T) {
			if got, ok := take(tc.cores, tc.needs); ok {
				t.Fatalf("everybody owns CPUs: %+v", got)
			}
			got := share(tc.cores, tc.needs)
			if got.owned || !slices.Equal(got.server, tc.server) || !slices.Equal(got.rest, tc.rest) || len(got.generators) != len(tc.needs.generators) {
				t.Errorf("they share %+v", got)
			}
		})
	}
}
