package record_test

import (
	"testing"

	"loadstone.dev/loadstone/internal/record"
)

func TestGeneratorIndexIsTheNumberInItsRole(t *testing.T) {
	for name, tc := range map[string]struct {
		role string
		want int
		ok   bool
	}{
		"the first":          {"generator-0", 0, true},
		"one of two digits":  {"generator-12", 12, true},
		"one beyond the API": {"generator-16", 0, false},
		"one below 0":        {"generator--1", 0, false},
		"no number":          {"generator-", 0, false},
		"the server":         {"server", 0, false},
		"a number alone":     {"3", 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := record.GeneratorIndex(tc.role); got != tc.want || (err == nil) != tc.ok {
				t.Errorf("%q is generator %d, %v; want %d, ok %v", tc.role, got, err, tc.want, tc.ok)
			}
		})
	}
}
