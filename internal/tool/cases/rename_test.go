package cases_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool/cases"
)

func TestCasesGetTheNamesOfTheirRun(t *testing.T) {
	timed := func(name string) record.Case {
		return record.Case{Name: name, Values: []record.CaseValue{{Metric: "Time", Samples: []float64{1}}}}
	}
	named := func(name, printed string, axes ...record.Axis) record.Case {
		c := timed(name)
		c.Printed, c.Axes = printed, axes
		return c
	}
	twice := func(name, printed, other, why string) record.Case {
		return record.Case{Name: name, Printed: printed, Others: []string{other}, Failure: why + " are both taken for it: give each a name of its own in spec.microbenchmark.outputs[].cases"}
	}
	size := record.Axis{Name: "size", Value: "8"}
	for name, tc := range map[string]struct {
		names   []record.CaseName
		printed []string
		want    []record.Case
	}{
		"none":                           {nil, []string{"A"}, []record.Case{timed("A")}},
		"one by its name":                {[]record.CaseName{{Printed: "A", Name: "a/size:8"}}, []string{"A", "AA"}, []record.Case{named("a/size:8", "A", size), timed("AA")}},
		"a family":                       {[]record.CaseName{{Printed: "BM_*", Name: "*"}}, []string{"BM_x/size:8", "x"}, []record.Case{named("x/size:8", "BM_x/size:8", size), timed("x")}},
		"a star for nothing":             {[]record.CaseName{{Printed: "A*", Name: "a*"}}, []string{"A"}, []record.Case{named("a", "A")}},
		"the text within":                {[]record.CaseName{{Printed: "A/*/ns", Name: "a/*"}}, []string{"A/8/ns", "A/ns"}, []record.Case{named("a/8", "A/8/ns"), timed("A/ns")}},
		"the first that matches":         {[]record.CaseName{{Printed: "A/1", Name: "one"}, {Printed: "A/*", Name: "a/*"}}, []string{"A/1", "A/2"}, []record.Case{named("one", "A/1"), named("a/2", "A/2")}},
		"two families that meet":         {[]record.CaseName{{Printed: "A/*", Name: "x/*"}, {Printed: "B/*", Name: "x/*"}}, []string{"A/1", "B/1"}, []record.Case{twice("x/1", "A/1", "B/1", `"A/1" and "B/1"`)}},
		"a name that is printed as well": {[]record.CaseName{{Printed: "A", Name: "a"}}, []string{"a", "A"}, []record.Case{twice("a", "", "A", `"a" and "A"`)}},
	} {
		t.Run(name, func(t *testing.T) {
			var printed []record.Case
			for _, p := range tc.printed {
				printed = append(printed, timed(p))
			}
			if diff := cmp.Diff(tc.want, cases.Rename(printed, tc.names)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
