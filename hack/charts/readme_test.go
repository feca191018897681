package main

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func TestValueRows(t *testing.T) {
	for name, tc := range map[string]struct{ values, want, wantError string }{
		"a value and its comment of two lines": {
			values: "# What it\n# is.\na: 1\n", want: "| `a` | What it is. | `1` |\n",
		},
		"a map of which each value is said": {
			values: "# All.\na:\n  # One.\n  b: \"\"\n", want: "| **a** | All. | |\n| `a.b` | One. | `\"\"` |\n",
		},
		"a map that is a value as a whole": {
			values: "# All.\na:\n  b: {c: d}\n", want: "| `a` | All. | `{b: {c: d}}` |\n",
		},
		"a list with a comment in it": {
			values: "# All.\na:\n- b: c\n# Another.\n- d\n", want: "| `a` | All. | `[{b: c}, d]` |\n",
		},
		"a value of which nothing is said": {
			values: "# All.\na:\n  # One.\n  b: 1\n  c: 2\n", wantError: "says nothing of a.c",
		},
		"the head of the file": {
			values: "# Every value.\n\n# One.\na: 1\n", want: "| `a` | One. | `1` |\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var doc yaml.Node
			if err := yaml.Unmarshal([]byte(tc.values), &doc); err != nil {
				t.Fatal(err)
			}
			rows, err := valueRows("", doc.Content[0])
			if got := strings.Join(rows, ""); got != tc.want || tc.wantError == "" && err != nil {
				t.Errorf("got %q, %v; want %q", got, err, tc.want)
			}
			if tc.wantError != "" && (err == nil || !strings.Contains(err.Error(), tc.wantError)) {
				t.Errorf("got %v, want %q", err, tc.wantError)
			}
		})
	}
}
