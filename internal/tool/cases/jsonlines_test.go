package cases_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool/cases"
)

func documented(tb testing.TB) []byte {
	tb.Helper()
	page, err := os.ReadFile("../../../docs/reference/cases.md")
	if err != nil {
		tb.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```json\n")
	example, _, found := strings.Cut(rest, "```")
	if !found {
		tb.Fatal("docs/reference/cases.md has no example")
	}
	return []byte(example)
}

func TestTheExampleOfTheDocumentationIsRead(t *testing.T) {
	got, err := cases.Read(record.JSONLines, documented(t))
	if err != nil {
		t.Fatal(err)
	}
	want := cases.Output{
		Cases: []record.Case{
			{
				Name: "switch/depth:1", Axes: []record.Axis{{Name: "depth", Value: "1"}}, Iterations: 160_000_000,
				Values: []record.CaseValue{
					{Metric: "Time", Unit: "ns", Better: "Less", Samples: []float64{12.5, 12.75}},
					{Metric: "switchesPerSecond", Unit: "1/s", Better: "More", Samples: []float64{80_000_000}},
				},
			},
			{Name: "switch/depth:8", Axes: []record.Axis{{Name: "depth", Value: "8"}}, Failure: "no memory for 8 stacks"},
		},
		Context: map[string]string{"compiler": "gcc 12.2"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Read() (-want +got):\n%s", diff)
	}
}

// caseLine is a good line with changed members: `"name":value` sets one, `"name"` alone removes it.
func caseLine(changed ...string) string {
	var members []string
	for _, m := range []string{`"schema":"loadstone.case/v1"`, `"case":"a"`, `"metric":"Time"`, `"unit":"ns"`, `"better":"Less"`, `"value":1`} {
		name, _, _ := strings.Cut(m, ":")
		keep := true
		for _, c := range changed {
			keep = keep && !strings.HasPrefix(c, name)
		}
		if keep {
			members = append(members, m)
		}
	}
	for _, c := range changed {
		if strings.Contains(c, ":") {
			members = append(members, c)
		}
	}
	return "{" + strings.Join(members, ",") + "}\n"
}

func TestLinesOfJSONAreReadAsDocumented(t *testing.T) {
	for name, tc := range map[string]struct {
		output string
		want   record.Case
	}{
		"times are converted and come first": {
			caseLine(`"metric":"hops"`, `"unit":"1"`) + caseLine(`"metric":"wait"`, `"unit":"ms"`) + caseLine(`"metric":"CPU time"`, `"unit":"s"`) +
				caseLine(`"unit":"us"`, `"value":2.5`),
			record.Case{Name: "a", Values: []record.CaseValue{
				{Metric: "Time", Unit: "ns", Better: "Less", Samples: []float64{2500}},
				{Metric: "CPU time", Unit: "ns", Better: "Less", Samples: []float64{1e9}},
				{Metric: "hops", Unit: "1", Better: "Less", Samples: []float64{1}},
				{Metric: "wait", Unit: "ns", Better: "Less", Samples: []float64{1e6}},
			}},
		},
		"0 is a value": {caseLine(`"value":0`), record.Case{Name: "a", Values: []record.CaseValue{{Metric: "Time", Unit: "ns", Better: "Less", Samples: []float64{0}}}}},
		"a value after a failure does not undo it": {`{"schema":"loadstone.case/v1","case":"a","failure":"no\nroom"}` + "\n" + caseLine(), record.Case{Name: "a", Failure: "no room"}},
		"the last line may lack its end": {
			strings.TrimSpace(caseLine()),
			record.Case{Name: "a", Values: []record.CaseValue{{Metric: "Time", Unit: "ns", Better: "Less", Samples: []float64{1}}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := cases.Read(record.JSONLines, []byte(tc.output))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]record.Case{tc.want}, out.Cases); diff != "" {
				t.Errorf("cases (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLinesOfJSONThatCannotBeReadAreRefused(t *testing.T) {
	var many, metrics strings.Builder
	for i := range 10_001 {
		many.WriteString(caseLine(fmt.Sprintf(`"case":"c%d"`, i)))
	}
	for i := range 101 {
		metrics.WriteString(caseLine(fmt.Sprintf(`"metric":"m%d"`, i)))
	}
	checkRefusals(t, record.JSONLines, map[string]refusal{
		"NaN beside another case":     {caseLine(`"value":NaN`) + caseLine(`"case":"b"`), `a: line 1: "{`, []string{"b"}},
		"a bad line after a good one": {caseLine() + caseLine(`"value":-1`) + caseLine(`"case":"b"`), `line 2: case "a": "Time" is -1`, []string{"a", "b"}},
		"half a line before others":   {caseLine()[:60] + "\n" + caseLine(`"case":"b"`), "a: line 1: the line ends in the middle of JSON: print each line at once", []string{"b"}},
		"no iterations of one case":   {caseLine(`"iterations":0`) + caseLine(`"case":"b"`), "a: line 1: case \"a\" counts 0 iterations", []string{"b"}},
		"half of the last line":       {caseLine() + caseLine(`"case":"b"`)[:60], "line 2: the output ends in the middle of JSON", []string{"a"}},
		"a second line of one case":   {caseLine() + caseLine()[:60], "line 2: the output ends in the middle of JSON", []string{"a"}},
		"a broken name":               {caseLine() + `{"case":"\x","value":` + "\n", "line 2: ", []string{"a"}},
		"garbage":                     {caseLine() + "hello\n", `line 2: "hello" is no JSON object`, []string{"a"}},
		"an empty line":               {caseLine() + "\n" + caseLine(), `line 2: "" is no JSON object`, []string{"a"}},
		"half a line":                 {caseLine() + caseLine()[:40], "line 2: the output ends in the middle of JSON: let the program end by itself", []string{"a"}},
		"broken JSON":                 {`{"schema";1}` + "\n", "line 1:", nil},
		"two objects on a line":       {strings.TrimSpace(caseLine()) + caseLine(), "line 1: something follows its JSON object", nil},
		"NaN":                         {caseLine(`"value":NaN`), "holds what is no number: print only what is finite", nil},
		"C's infinity":                {caseLine(`"value":inf`), "holds what is no number: print only what is finite", nil},
		"an error beside a word":      {caseLine(`"case":"info"`, `"value":;`), "is no JSON", nil},
		"a number beyond all bounds":  {caseLine(`"value":1e999`), "line 1: value holds a number 1e999 that is no float64", nil},
		"a number in quotes":          {caseLine(`"value":"1"`), "value holds a string that is no float64", nil},
		"a negative value":            {caseLine(`"value":-1`), `case "a": "Time" is -1: print a number that is finite and at least 0`, nil},
		"a time that overflows":       {caseLine(`"value":1e308`, `"unit":"s"`), `"Time" is +Inf`, nil},
		"an unknown unit of time":     {caseLine(`"unit":"min"`), `the unit of "Time" is "min", no unit of time: print ns, us, ms or s`, nil},
		"bytes that are no bytes":     {caseLine(`"metric":"Bytes allocated"`, `"unit":"KiB"`), `case "a" has "Bytes allocated" in "KiB", less is better: this metric is in "B/op", and less is better`, nil},
		"allocations to be proud of":  {caseLine(`"metric":"Allocations"`, `"unit":"allocs/op"`, `"better":"More"`), `case "a" has "Allocations" in "allocs/op", more is better: this metric is in "allocs/op", and less is better`, nil},
		"a metric in two units":       {caseLine() + caseLine(`"unit":"ms"`), `line 2: case "a" has "Time" both in "ns" and in "ms": print one unit`, nil},
		"a metric in two directions":  {caseLine() + caseLine(`"better":"More"`), `both as better when Less and as better when More`, nil},
		"an unknown direction":        {caseLine(`"better":"less"`), `better is "less": print "Less" or "More"`, nil},
		"another schema":              {caseLine(`"schema":"loadstone.case/v2"`), `schema is "loadstone.case/v2": print "loadstone.case/v1" on every line`, nil},
		"no schema":                   {caseLine(`"schema"`), `schema is ""`, nil},
		"no case":                     {caseLine(`"case"`), "a case has no name: print one", nil},
		"no metric":                   {caseLine(`"metric"`), "a metric has no name: print one", nil},
		"no unit":                     {caseLine(`"unit"`), `case "a" has no unit: print one`, nil},
		"no value":                    {caseLine(`"value"`), `case "a" has neither value nor failure`, nil},
		"an unknown member":           {caseLine(`"vlaue":1`), `unknown field "vlaue"`, nil},
		"a value and a failure":       {caseLine(`"failure":"x"`), "failure stands beside a value", nil},
		"a value and context":         {caseLine(`"context":{"a":"b"}`), "context stands beside other members", nil},
		"context alone":               {`{"schema":"loadstone.case/v1","context":{"a":"b"}}`, "holds no case: it has lines of context alone", nil},
		"iterations of other metrics": {caseLine(`"metric":"hops"`, `"iterations":1`), `print them beside "Time" alone`, nil},
		"no iterations":               {caseLine(`"iterations":0`), "counts 0 iterations", nil},
		"too many iterations":         {caseLine(`"iterations":9223372036854775807`) + caseLine(`"iterations":1`), "after 9223372036854775807, more than 64 bits hold", nil},
		"a name that turns around":    {caseLine(`"case":"a\u202eb"`), "holds U+202E", nil},
		"a metric with a new line":    {caseLine(`"metric":"a\nb"`), "holds U+000A", nil},
		"a unit with a new line":      {caseLine(`"unit":"a\nb"`, `"metric":"hops"`), "holds U+000A", nil},
		"too many cases":              {many.String(), `line 10001: case "c10000" is one more than 10000`, []string{"c0"}},
		"too many metrics":            {metrics.String(), `line 101: case "a" has more than 100 metrics`, nil},
	})
}

func FuzzJSONLines(f *testing.F) {
	fuzz(f, record.JSONLines, documented(f), []byte(caseLine(`"iterations":3`)), []byte(caseLine(`"value":NaN`)))
}
