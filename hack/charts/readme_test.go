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
		"a map whose values have comments": {
			values: "# All.\na:\n  # One.\n  b: \"\"\n", want: "| **a** | All. | |\n| `a.b` | One. | `\"\"` |\n",
		},
		"a map without comments": {
			values: "# All.\na:\n  b: {c: d}\n", want: "| `a` | All. | `{b: {c: d}}` |\n",
		},
		"a list with a comment in it": {
			values: "# All.\na:\n- b: c\n# Another.\n- d\n", want: "| `a` | All. | `[{b: c}, d]` |\n",
		},
		"maps with the same value": {
			values: "# All.\na:\n  # One.\n  c: 1\n  # Two.\n  d: 2\n# More.\nb:\n  # One.\n  c: 1\n",
			want:   "| **a** | All. | |\n| `a.d` | Two. | `2` |\n| **b** | More. | |\n| `{a,b}.c` | One. | `1` |\n",
		},
		"maps with the same value and different defaults": {
			values: "# All.\na:\n  # One.\n  c: 1\n# More.\nb:\n  # One.\n  c: 2\n",
			want:   "| **a** | All. | |\n| **b** | More. | |\n| `{a,b}.c` | One. | `1`, `2` |\n",
		},
		"all maps below a map have the value": {
			values: "# All.\na:\n  # X.\n  b:\n    # One.\n    c: 1\n  # Y.\n  d:\n    # One.\n    c: 1\n",
			want:   "| **a** | All. | |\n| **a.b** | X. | |\n| **a.d** | Y. | |\n| `a.*.c` | One. | `1` |\n",
		},
		"some maps below a map have the value": {
			values: "# All.\na:\n  # X.\n  b:\n    # One.\n    c: 1\n  # Y.\n  d:\n    # One.\n    c: 1\n  # Z.\n  e:\n    # Two.\n    f: 1\n",
			want:   "| **a** | All. | |\n| **a.b** | X. | |\n| **a.d** | Y. | |\n| `a.{b,d}.c` | One. | `1` |\n| **a.e** | Z. | |\n| `a.e.f` | Two. | `1` |\n",
		},
		"the same value at different depths": {
			values: "# All.\na:\n  # X.\n  b:\n    # One.\n    c: 1\n# Y.\nd:\n  # One.\n  c: 1\n",
			want:   "| **a** | All. | |\n| **a.b** | X. | |\n| **d** | Y. | |\n| `{a.b,d}.c` | One. | `1` |\n",
		},
		"a value without a comment": {
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
			if got := table(rows); got != tc.want || tc.wantError == "" && err != nil {
				t.Errorf("got %q, %v; want %q", got, err, tc.want)
			}
			if tc.wantError != "" && (err == nil || !strings.Contains(err.Error(), tc.wantError)) {
				t.Errorf("got %v, want %q", err, tc.wantError)
			}
		})
	}
}
