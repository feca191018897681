package report

import (
	"bytes"
	"encoding/csv"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/objectives"
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/inference"
)

func TestNoFieldIsAFormula(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"a name":                      {"go-slow", "go-slow"},
		"nothing":                     {"", ""},
		"a formula":                   {`=cmd|' /C calc'!A0`, `'=cmd|' /C calc'!A0`},
		"a sign":                      {"-1+1", "'-1+1"},
		"the other sign":              {"+1", "'+1"},
		"a function":                  {"@SUM(A1)", "'@SUM(A1)"},
		"a tabulator":                 {"\t=1", "'\t=1"},
		"a formula after spaces":      {"  =1", "'  =1"},
		"a sign of full width":        {"＝1", "'＝1"},
		"a sign that is not at first": {"a=b", "a=b"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := harmless(tc.text); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestRowsOfTheCSV(t *testing.T) {
	bound := compared(verdict.Better, "")
	bound.Comparisons[0].Levels[0].Results[0].ContenderIsBound = true
	weighted := compared(verdict.Better, "")
	weighted.Comparisons[0].Levels, weighted.Comparisons[0].Load = nil, ""
	for name, tc := range map[string]struct {
		of   analysis.Table
		want string
	}{
		"an objective": {
			bounded(func(o *objectives.Result) { o.Name = "=fast" }),
			"objective,'=fast,go,,sweep,10,,,Throughput,requests/s,60000,58000,62000,0.99,7,50000,,Met,,,",
		},
		"an objective on a percentile, without a value": {
			bounded(func(o *objectives.Result) {
				o.Metric, o.Percentile, o.Unit, o.Min, o.Max, o.Value, o.Low, o.High, o.N = v1alpha1.ObjectiveLatencyPercentile, "99", "µs", nil, number(100), nil, nil, nil, 0
				o.Outcome, o.Reason = objectives.Undecided, objectives.TooFewSamples
			}),
			"objective,,go,,sweep,10,,,LatencyP99,us,,,,,0,,100,Undecided,TooFewSamples,,",
		},
		"an objective on a ratio": {
			bounded(func(o *objectives.Result) {
				o.Metric, o.Of, o.Unit = v1alpha1.ObjectiveRatioToBaseline, v1alpha1.ComparedServerCPUPerRequest, "ratio"
			}),
			"objective,,go,,sweep,10,,,RatioToBaseline of ServerCPUPerRequest,ratio,60000,58000,62000,0.99,7,50000,,Met,,,",
		},
		"a comparison at a level":    {compared(verdict.Worse, ""), "comparison,,slow,go,sweep,10,,,Throughput,ratio,0.9,0.88,0.92,0.99,10,,,Worse,,true,"},
		"one whose interval is open": {bound, "comparison,,slow,go,sweep,10,,,Throughput,ratio,0.9,0.88,,0.99,10,,,Better,,true,"},
		"one over all loads":         {weighted, "comparison,,slow,go,,,,,Throughput,ratio,0.9,0.88,0.92,0.99,10,,,Better,,true,"},
		"a case":                     {printed(verdict.Better, false), "comparison,,new,old,,,,copy,Time,ratio,0.8,0.75,0.85,0.99,10,,,Better,,true,"},
		"a mean":                     {alone(), "mean,,go,,sweep,10,,,Throughput,requests/s,1000,,,,3,,,,,,"},
		"a mean that is a lower bound": {
			analysis.Table{Groups: []validity.Group{{Point: ten, Implementation: "go", ThroughputIsBound: true, Throughput: &inference.Summary{N: 3, Mean: 1000, Low: number(900), High: number(1100)}}}},
			"mean,,go,,sweep,10,,,Throughput,requests/s,1000,900,,0.99,3,,,,LowerBound,,",
		},
	} {
		t.Run(name, func(t *testing.T) {
			tc.of.Rules.Confidence = 0.99
			out, err := CSV(tc.of)
			if err != nil {
				t.Fatal(err)
			}
			rows, err := csv.NewReader(bytes.NewReader(out)).ReadAll()
			if err != nil || len(rows) != 2 {
				t.Fatalf("%d rows, %v", len(rows), err)
			}
			if diff := cmp.Diff(tc.want, strings.Join(rows[1][2:], ",")); diff != "" {
				t.Errorf("the row (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheCSVOfSeveralStreamsNamesThem(t *testing.T) {
	mean := &inference.Summary{N: 3, Mean: 1000}
	one := record.Point{Load: "one", Connections: 10}
	table := analysis.Table{
		Levels: []planned.Level{{Point: ten, StreamsPerConnection: 20}, {Point: one}},
		Groups: []validity.Group{{Point: ten, Implementation: "go", Throughput: mean}, {Point: one, Implementation: "go", Throughput: mean}},
		Cases:  []analysis.Case{{Implementation: "go", Case: "copy", Summary: mean}},
	}
	last := func() (out []string) {
		text, err := CSV(table)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			out = append(out, r[len(r)-1])
		}
		return out
	}
	if diff := cmp.Diff([]string{"streamsPerConnection", "20", "1", ""}, last()); diff != "" {
		t.Errorf("the last column (-want +got):\n%s", diff)
	}
	table.Levels[0].StreamsPerConnection = 0
	if got := last(); got[0] != "adjustedP" {
		t.Errorf("without streams, the last column is %s", got[0])
	}
}

func TestAnOpenEndHasNoNumber(t *testing.T) {
	for name, tc := range map[string]struct {
		end  float64
		want bool
	}{"an end": {0.9, true}, "none below": {0, false}, "none above": {math.Inf(1), false}} {
		t.Run(name, func(t *testing.T) {
			if got := closed(tc.end); (got != nil) != tc.want {
				t.Errorf("%v is %v", tc.end, got)
			}
		})
	}
}
