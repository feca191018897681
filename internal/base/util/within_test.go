package util

import (
	"slices"
	"testing"
)

func TestWithinKeepsTheFirstEntriesThatFit(t *testing.T) {
	for name, tc := range map[string]struct {
		list, want []string
		most       int
	}{
		"all":                {[]string{"aa", "bb"}, []string{"aa", "bb"}, 12},
		"the first":          {[]string{"aa", "bb", "c"}, []string{"aa"}, 11},
		"one that is larger": {[]string{"aaaaaaaaaa", "b"}, []string{"aaaaaaaaaa"}, 3},
		"none":               {nil, nil, 0},
		"as JSON":            {[]string{"\x01", "bb"}, []string{"\x01"}, 15},
	} {
		if got := Within(tc.list, tc.most); !slices.Equal(got, tc.want) {
			t.Errorf("%s: got %q, want %q", name, got, tc.want)
		}
	}
}
