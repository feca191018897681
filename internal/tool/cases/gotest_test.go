package cases_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool/cases"
)

func TestRecordedGoTestIsRead(t *testing.T) {
	out, err := cases.Read(record.GoTest, recorded(t, "go-test.txt"))
	if err != nil {
		t.Fatal(err)
	}
	checkOutput(t, out)
	want := []string{"BenchmarkCopy/size=64", "BenchmarkCopy/size=4096", "BenchmarkLog"}
	if diff := cmp.Diff(want, names(out)); diff != "" {
		t.Errorf("names, without GOMAXPROCS (-want +got):\n%s", diff)
	}
	got := out.Cases[0]
	wantCase := record.Case{
		Name: "BenchmarkCopy/size=64", Axes: []record.Axis{{Name: "size", Value: "64"}}, Iterations: 2000,
		Values: []record.CaseValue{
			{Metric: "Time", Unit: "ns", Better: "Less", Samples: got.Values[0].Samples},
			{Metric: "Throughput", Unit: "MB/s", Better: "More", Samples: got.Values[1].Samples},
			{Metric: "hops", Unit: "hops", Better: "Unknown", Samples: []float64{2, 2}},
			{Metric: "records/s", Unit: "records/s", Better: "Unknown", Samples: []float64{3, 3}},
			{Metric: "Bytes allocated", Unit: "B/op", Better: "Less", Samples: []float64{64, 64}},
			{Metric: "Allocations", Unit: "allocs/op", Better: "Less", Samples: []float64{1, 1}},
		},
	}
	if diff := cmp.Diff(wantCase, got); diff != "" {
		t.Errorf("the first case (-want +got):\n%s", diff)
	}
	for i, want := range []string{"ns/op", "MB/s"} {
		for _, x := range got.Values[i].Samples {
			if text := fmt.Sprint(x); !strings.Contains(string(recorded(t, "go-test.txt")), text) {
				t.Errorf("%s %s is not as printed", text, want)
			}
		}
	}
	if out.Context["goos"] != "linux" || out.Context["pkg"] != "example.com/gt" || out.Context["gomaxprocs"] != "2" {
		t.Errorf("context %v", out.Context)
	}
}

func TestFailedGoBenchmarksAreCasesWithAReason(t *testing.T) {
	for name, tc := range map[string]struct {
		file string
		want map[string]string
	}{
		"as go test prints them": {"go-test-failed.txt", map[string]string{
			"BenchmarkLog": "", "BenchmarkFail": "gt_test.go:7: it broke in two lines", "BenchmarkParent/good": "",
			"BenchmarkParent/bad": "gt_test.go:8: sub broke", "BenchmarkLate": "gt_test.go:9: no more room",
		}},
		"as go test -v prints them": {"go-test-failed-verbose.txt", map[string]string{
			"BenchmarkSkip": "it was skipped", "BenchmarkFail": "it failed", "BenchmarkParent/good": "", "BenchmarkParent/bad": "it failed",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := cases.Read(record.GoTest, recorded(t, tc.file))
			if err != nil {
				t.Fatal(err)
			}
			checkOutput(t, out)
			got := map[string]string{}
			for _, c := range out.Cases {
				got[c.Name] = c.Failure
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("failures by name (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNamesKeepASuffixThatIsNotGOMAXPROCS(t *testing.T) {
	for name, tc := range map[string]struct {
		output string
		want   []string
	}{
		"as -cpu=1,2 prints them": {
			string(recorded(t, "go-test-cpus.txt")),
			[]string{"BenchmarkCopy/size=64", "BenchmarkCopy/size=64-2", "BenchmarkCopy/size=4096", "BenchmarkCopy/size=4096-2"},
		},
		"numbers of their own": {"BenchmarkA-64 1 2 ns/op\nBenchmarkA-128 1 2 ns/op\n", []string{"BenchmarkA-64", "BenchmarkA-128"}},
		"a one":                {"BenchmarkA-1 1 2 ns/op\n", []string{"BenchmarkA-1"}},
		"a number with a zero": {"BenchmarkA-08 1 2 ns/op\n", []string{"BenchmarkA-08"}},
		"all of one number":    {"BenchmarkA-8 1 2 ns/op\nBenchmarkB-8 1 2 ns/op\n", []string{"BenchmarkA", "BenchmarkB"}},
		"lines of Windows":     {"BenchmarkA-8 1 2 ns/op\r\n--- FAIL: BenchmarkB\r\n    x\r\nFAIL\r\n", []string{"BenchmarkA", "BenchmarkB"}},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := cases.Read(record.GoTest, []byte(tc.output))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, names(out)); diff != "" {
				t.Errorf("names (-want +got):\n%s", diff)
			}
		})
	}
}

func TestABenchmarkMayDeclareWhatIsBetter(t *testing.T) {
	out, err := cases.Read(record.GoTest, []byte("Unit hops better=higher\nUnit hops/s better=lower\nBenchmarkA 1 2 hops 3 hops/s\n"))
	if err != nil {
		t.Fatal(err)
	}
	if v := out.Cases[0].Values; v[0].Better != "More" || v[1].Better != "Less" {
		t.Errorf("values %+v", v)
	}
}

func TestGoTestThatCannotBeReadIsRefused(t *testing.T) {
	var many strings.Builder
	for i := range 10_001 {
		fmt.Fprintf(&many, "BenchmarkA/n=%d 1 2 ns/op\n", i)
	}
	checkRefusals(t, record.GoTest, map[string]refusal{
		"text within a line of one":   {"BenchmarkA hello\nBenchmarkB 1 2 ns/op\n", "BenchmarkA: line 1: ", []string{"BenchmarkB"}},
		"NaN in one of two":           {"BenchmarkA-2 1 NaN ns/op\nBenchmarkB-2 1 2 ns/op\n", `BenchmarkA: line 1: case "BenchmarkA": "Time" is NaN`, []string{"BenchmarkB"}},
		"a bad line without a suffix": {"BenchmarkA he\nBenchmarkB-2 1 2 ns/op\n", "BenchmarkA: line 1: ", []string{"BenchmarkB"}},
		"a long line after a good":    {"BenchmarkA 1 2 ns/op\n" + strings.Repeat("x", 70_000) + "\n", "line 2: reading it and what follows", []string{"BenchmarkA"}},
		"garbage":                     {"hello\nworld\n", "holds no case: no line begins with Benchmark", nil},
		"go test -json":               {`{"Action":"output","Output":"BenchmarkA"}` + "\n", "print text, not -json", nil},
		"half of the last line":       {"BenchmarkA 1 2 ns/op\nBenchmarkB 1 2 ns", "the last line has no end: let the program end by itself", []string{"BenchmarkA"}},
		"a line without values":       {"BenchmarkA 1\n", `line 1: "BenchmarkA 1": missing measurements: let benchmarks print nothing but by b.Log`, nil},
		"text within a line":          {"BenchmarkA hello\n", `line 1: "BenchmarkA hello": parsing iteration count`, nil},
		"NaN":                         {"BenchmarkA 1 NaN ns/op\n", `line 1: case "BenchmarkA": "Time" is NaN`, nil},
		"infinity":                    {"BenchmarkA 1 +Inf hops\n", `"hops" is +Inf`, nil},
		"a negative time":             {"BenchmarkA 1 -2 ns/op\n", `"Time" is -2`, nil},
		"no iterations":               {"BenchmarkA 0 2 ns/op\n", `counts 0 iterations`, nil},
		"a panic":                     {"BenchmarkA 1 2 ns/op\npanic: boom\n\ngoroutine 1:\nFAIL\n", `line 2: the program ended with "panic: boom"`, []string{"BenchmarkA"}},
		"a failed test":               {"--- FAIL: TestA (0.00s)\nBenchmarkA 1 2 ns/op\nFAIL\n", `line 1: "TestA" is no benchmark and failed`, []string{"BenchmarkA"}},
		"a failure of nobody":         {"BenchmarkA 1 2 ns/op\nFAIL\texample.com/a\t0.1s\n", "line 2: the program says FAIL of no benchmark", []string{"BenchmarkA"}},
		"a control character":         {"BenchmarkA\x1b[2J 1 2 ns/op\n", "holds U+001B", nil},
		"a line that is far too long": {"BenchmarkA " + strings.Repeat("x", 70_000) + "\n", "print shorter lines", nil},
		"too many cases":              {many.String(), `line 10001: case "BenchmarkA/n=10000" is one more than 10000`, []string{"BenchmarkA/n=0"}},
	})
}

func FuzzGoTest(f *testing.F) {
	fuzz(f, record.GoTest, recorded(f, "go-test.txt"), recorded(f, "go-test-failed.txt"), recorded(f, "go-test-failed-verbose.txt"),
		recorded(f, "go-test-cpus.txt"), []byte("Unit hops better=higher\nBenchmarkA 1 2 hops\n"))
}
