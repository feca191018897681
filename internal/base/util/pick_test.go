package util

import (
	"slices"
	"testing"
)

func TestTheFirstThatFits(t *testing.T) {
	for name, tc := range map[string]struct {
		list []int
		want int
	}{
		"of nothing":  {nil, -1},
		"none fits":   {[]int{1, 2}, -1},
		"one fits":    {[]int{1, 20, 3}, 1},
		"several fit": {[]int{1, 20, 30}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			got := First(tc.list, func(n *int) bool { return *n >= 10 })
			if tc.want < 0 {
				if got != nil {
					t.Errorf("got %d", *got)
				}
				return
			}
			if got != &tc.list[tc.want] {
				t.Errorf("got %v, want the element itself at %d", got, tc.want)
			}
		})
	}
}

func TestEachValueOnce(t *testing.T) {
	for name, tc := range map[string]struct{ values, want []string }{
		"of nothing":            {nil, nil},
		"in order":              {[]string{"c", "a", "b"}, []string{"a", "b", "c"}},
		"not beside each other": {[]string{"b", "a", "b", "a"}, []string{"a", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Distinct(tc.values); !slices.Equal(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
