package cases_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool/cases"
)

func TestRecordedGoogleBenchmarkIsRead(t *testing.T) {
	out, err := cases.Read(record.GoogleBenchmark, recorded(t, "google-benchmark.json"))
	if err != nil {
		t.Fatal(err)
	}
	checkOutput(t, out)
	want := []string{"Copy/size:64", "Copy/size:4096", "Wait/threads:2", "Broken"}
	if diff := cmp.Diff(want, names(out)); diff != "" {
		t.Errorf("names, without Google Benchmark's own settings (-want +got):\n%s", diff)
	}
	var metrics []string
	for _, v := range out.Cases[0].Values {
		metrics = append(metrics, fmt.Sprintf("%s|%s|%s|%d", v.Metric, v.Unit, v.Better, len(v.Samples)))
	}
	wantMetrics := []string{"Time|ns|Less|3", "CPU time|ns|Less|3", "bytes_per_second|B/s|More|3", "depth||Unknown|3", "items_per_second|items/s|More|3"}
	if diff := cmp.Diff(wantMetrics, metrics); diff != "" {
		t.Errorf("metrics of three repetitions, times first (-want +got):\n%s", diff)
	}
	if got := named(t, out, "Broken"); got.Failure != `no such file: "x"` {
		t.Errorf("the failure is %q", got.Failure)
	}
	if got := named(t, out, "Wait/threads:2"); got.Iterations != 200 || got.Values[0].Samples[0] < 100 {
		t.Errorf("microseconds are read as %+v", got)
	}
	if out.Context["num_cpus"] != "2" || out.Context["library_build_type"] == "" || out.Context["caches"] != "" {
		t.Errorf("context %v", out.Context)
	}
}

func googleRuns(all ...string) string {
	for i, members := range all {
		good := ""
		for _, m := range []string{
			`"run_name":"Copy"`, `"run_type":"iteration"`, `"repetition_index":0`, `"iterations":10`, `"real_time":2.5`, `"cpu_time":2`, `"time_unit":"ns"`,
		} {
			if name, _, _ := strings.Cut(m, ":"); !strings.Contains(members, name) {
				good += "," + m
			}
		}
		all[i] = "{" + members + strings.TrimPrefix(good, map[bool]string{true: ","}[members == ""]) + "}"
	}
	return `{"context":{},"benchmarks":[` + strings.Join(all, ",\n") + `]}`
}

func TestGoogleBenchmarkIsReadAsDocumented(t *testing.T) {
	value := func(metric, unit string, better record.Direction, samples ...float64) record.CaseValue {
		return record.CaseValue{Metric: metric, Unit: unit, Better: better, Samples: samples}
	}
	for name, tc := range map[string]struct {
		output string
		want   []record.Case
	}{
		"times in other units are converted": {
			googleRuns(`"time_unit":"ms"`),
			[]record.Case{{Name: "Copy", Iterations: 10, Values: []record.CaseValue{
				value("Time", "ns", "Less", 2.5e6), value("CPU time", "ns", "Less", 2e6),
			}}},
		},
		"counters that are rates are better when higher": {
			googleRuns(`"hops/s":1,"hopsPerSecond":2,"hops_per_second":3,"hops":4,"label":"x","threads":1`),
			[]record.Case{{Name: "Copy", Iterations: 10, Values: []record.CaseValue{
				value("Time", "ns", "Less", 2.5), value("CPU time", "ns", "Less", 2), value("hops", "", "Unknown", 4),
				value("hops/s", "", "Unknown", 1), value("hopsPerSecond", "", "Unknown", 2), value("hops_per_second", "", "Unknown", 3),
			}}},
		},
		"a counter may be named like a member in capitals": {
			googleRuns(`"Iterations":7`),
			[]record.Case{{Name: "Copy", Iterations: 10, Values: []record.CaseValue{
				value("Time", "ns", "Less", 2.5), value("CPU time", "ns", "Less", 2), value("Iterations", "", "Unknown", 7),
			}}},
		},
		"interleaved repetitions belong to their cases": {
			googleRuns(`"run_name":"A/repeats:2"`, `"run_name":"B/min_time:1.000/repeats:2/process_time/real_time"`,
				`"run_name":"A/repeats:2","repetition_index":1,"real_time":3`),
			[]record.Case{
				{Name: "A", Iterations: 20, Values: []record.CaseValue{value("Time", "ns", "Less", 2.5, 3), value("CPU time", "ns", "Less", 2, 2)}},
				{Name: "B", Iterations: 10, Values: []record.CaseValue{value("Time", "ns", "Less", 2.5), value("CPU time", "ns", "Less", 2)}},
			},
		},
		"one failed repetition fails its case": {
			googleRuns(`"repetition_index":0`, `"repetition_index":1,"skipped":true,"skip_message":"no\nroom"`),
			[]record.Case{{Name: "Copy", Failure: "no room"}},
		},
		"a failure without words": {
			googleRuns(`"error_occurred":true`),
			[]record.Case{{Name: "Copy", Failure: "it ended with an error that it does not explain"}},
		},
		"a parameter that is named like a setting is kept before others": {
			googleRuns(`"run_name":"Copy/iterations:5/size:8"`),
			[]record.Case{{
				Name: "Copy/iterations:5/size:8", Axes: []record.Axis{{Name: "iterations", Value: "5"}, {Name: "size", Value: "8"}}, Iterations: 10,
				Values: []record.CaseValue{value("Time", "ns", "Less", 2.5), value("CPU time", "ns", "Less", 2)},
			}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := cases.Read(record.GoogleBenchmark, []byte(tc.output))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, out.Cases); diff != "" {
				t.Errorf("cases (-want +got):\n%s", diff)
			}
		})
	}
}

func TestGoogleBenchmarkThatCannotBeReadIsRefused(t *testing.T) {
	whole := string(recorded(t, "google-benchmark.json"))
	many := make([]string, 10_001)
	for i := range many {
		many[i] = fmt.Sprintf(`"run_name":"c%d"`, i)
	}
	checkRefusals(t, record.GoogleBenchmark, map[string]refusal{
		"NaN in one of two":          {googleRuns(`"hops":NaN`, `"run_name":"B"`), "line 1: hops is no number that is finite: print one", []string{"Copy", "B"}},
		"a counter without a value":  {googleRuns(`"hops":null`, `"run_name":"B"`), "line 1: hops is no number", []string{"Copy", "B"}},
		"text within a benchmark":    {googleRuns(`"run_name":"A"`, `"run_name":"B", hello`, `"run_name":"C"`), `B: line 2: "{`, []string{"A", "C"}},
		"half of the only benchmark": {googleRuns(`"run_name":"A"`)[:130] + "\n", "line 1: the output ends in the middle of JSON", nil},
		"no end of the list":         {strings.TrimSuffix(googleRuns(``), "]}"), "line 1: the output ends in the middle of JSON", []string{"Copy"}},
		"a bad repetition of a case": {googleRuns(``, `"repetition_index":1,"iterations":0`, `"run_name":"B"`), `Copy: line 2: case "Copy" counts 0 iterations`, []string{"B"}},
		"aggregates of one case":     {googleRuns(``, `"run_name":"B","run_type":"aggregate","aggregate_name":"mean"`), `B: line 2: case "B" has aggregates`, []string{"Copy"}},
		"the console's text":         {"Copy  12 ns  12 ns 1000\n", `line 1: "Copy 12 ns 12 ns 1000" is no JSON`, nil},
		"text before the JSON":       {"hello\n" + whole, "line 1: it stands beside Google Benchmark's JSON: print nothing else to standard output", []string{"Copy/size:64", "Copy/size:4096", "Wait/threads:2"}},
		"text after the JSON":        {whole + "bye\n", "line 344: it stands beside Google Benchmark's JSON", []string{"Copy/size:64", "Copy/size:4096", "Wait/threads:2"}},
		"half of the JSON":           {whole[:2000], "ends in the middle of JSON: let the program end by itself", []string{"Copy/size:64"}},
		"NaN":                        {"{\n" + googleRuns(`"hops":NaN`)[1:], "line 2: hops is no number that is finite: print one", []string{"Copy"}},
		"infinity":                   {googleRuns(`"hops":Infinity`), "hops is no number that is finite", []string{"Copy"}},
		"a number beyond all bounds": {googleRuns(`"hops":1e999`), "hops is 1e999", []string{"Copy"}},
		"a negative time":            {googleRuns(`"real_time":-1`), `"Time" is -1: print a number that is finite and at least 0`, nil},
		"a time that overflows":      {googleRuns(`"real_time":1e308,"time_unit":"s"`), `"Time" is +Inf`, nil},
		"an unknown unit of time":    {googleRuns(`"time_unit":"min"`), `time_unit is "min", no unit of time: print ns, us, ms or s`, nil},
		"no benchmarks":              {`{"context":{},"benchmarks":[]}`, "holds no case: its member benchmarks is empty", nil},
		"another program's JSON":     {`{"a":1}`, "holds no case", nil},
		"a list":                     {`[]`, "line 1", nil},
		"an old Google Benchmark":    {`{"benchmarks":[{"name":"a"}]}`, "line 1: it has no run_name: use Google Benchmark 1.5 or newer", nil},
		"no iterations":              {googleRuns(`"iterations":0`), "counts 0 iterations", nil},
		"half an iteration":          {googleRuns(`"iterations":1.5`), "iterations is 1.5, which is no int64", nil},
		"a type of run of tomorrow":  {googleRuns(`"run_type":"guess"`), `run_type is "guess"`, nil},
		"aggregates alone":           {string(recorded(t, "google-benchmark-aggregates.json")), "run without --benchmark_report_aggregates_only", nil},
		"two benchmarks of one name": {googleRuns(``, ``), `case "Copy" has its repetition 0 twice`, nil},
		"a control character":        {googleRuns(`"run_name":"a\u001b[2J"`), "holds U+001B: use printable characters", nil},
		"no name":                    {googleRuns(`"run_name":" "`), "a case has no name", nil},
		"too many cases":             {googleRuns(many...), `case "c10000" is one more than 10000`, []string{"c0"}},
	})
}

func FuzzGoogleBenchmark(f *testing.F) {
	fuzz(f, record.GoogleBenchmark, recorded(f, "google-benchmark.json"), recorded(f, "google-benchmark-aggregates.json"),
		[]byte(googleRuns(`"hops/s":1,"skipped":false`, `"run_name":"A/threads:2"`)))
}
