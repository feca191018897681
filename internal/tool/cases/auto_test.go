package cases_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/testbed/mutated"
	"loadstone.dev/loadstone/internal/tool/cases"
)

// brought are outputs of programs that Loadstone has no name for, in their forms.
var brought = map[string]struct {
	output string
	want   []string
}{
	"JMH": {`[
 {"jmhVersion": "1.37", "benchmark": "org.x.Sort.quick", "mode": "avgt", "threads": 1, "forks": 1, "vmName": "OpenJDK", "vmVersion": "21",
  "params": {"size": "100", "kind": "a/b"},
  "primaryMetric": {"score": 900.1, "scoreError": "NaN", "scoreUnit": "us/op", "rawData": [[899.0, 901.0], [900.5]]},
  "secondaryMetrics": {"·gc.alloc.rate.norm": {"score": 16.0, "scoreUnit": "B/op", "rawData": [[16.0, 16.0], [16.0]]}}},
 {"jmhVersion": "1.37", "benchmark": "org.x.Sort.heap", "mode": "thrpt", "threads": 1, "primaryMetric": {"score": 12.5, "scoreUnit": "ops/ms", "rawData": [[12.0, 13.0]]}},
 {"jmhVersion": "1.37", "benchmark": "org.x.Sort.heap", "mode": "sample", "threads": 1, "primaryMetric": {"score": 80, "scoreUnit": "ns/op", "rawDataHistogram": [[[[70.0, 3], [110.0, 1]]]]}},
 {"jmhVersion": "1.37", "benchmark": "org.x.Broken.x", "mode": "avgt", "threads": 1, "primaryMetric": {"score": "NaN", "scoreUnit": "ns/op", "rawData": [["NaN"]]}}
]`, []string{
		"org.x.Sort.quick/kind=a_b/size=100: Time ns 899000 901000 900500", "org.x.Sort.quick/kind=a_b/size=100: gc.alloc.rate.norm B/op 16 16 16",
		"org.x.Sort.heap/mode=thrpt/threads=1: Throughput ops/ms 12 13", "org.x.Sort.heap/mode=sample/threads=1: Time ns 80",
		`org.x.Broken.x fails: line 1: case "org.x.Broken.x": "Time" is NaN: print a number that is finite and at least 0`,
	}},
	"bencher": {
		"running 2 tests\ntest sort/8 ... bench:       1,234 ns/iter (+/- 56)\ntest sort/16 ... bench:        2.5 us/iter\r\n\ntest result: ok.\n",
		[]string{"sort/8: Time ns 1234", "sort/16: Time ns 2500"},
	},
	"criterion's messages": {`{"reason":"benchmark-complete","id":"sort/8","unit":"ns","iteration_count":[10,20],"measured_values":[100,240],"mean":{"estimate":11}}` + "\n" +
		`{"reason":"group-complete","group_name":"sort"}` + "\n", []string{"sort/8: Time ns 10 12"}},
	"criterion's estimates": {
		`{"mean":{"confidence_interval":{"confidence_level":0.95},"point_estimate":12.5,"standard_error":0.1},"median":{"point_estimate":12.4},"slope":null,"std_dev":{"point_estimate":0.2}}`,
		[]string{"benchmark: Time ns 12.5"},
	},
	"pytest-benchmark": {
		`{"machine_info": {"python_version": "3.12.1", "cpu": {"brand_raw": "AMD"}}, "benchmarks": [
 {"name": "test_a", "fullname": "t/x.py::test_a", "stats": {"mean": 0.002, "data": [0.001, 0.003]}},
 {"name": "test_b", "fullname": "t/x.py::test_b", "stats": {"mean": 0.5}},
 {"name": "test_b", "fullname": "t/y.py::test_b", "stats": {"mean": 0.25}}]}`,
		[]string{"test_a: Time ns 1e+06 3e+06", "t/x.py::test_b: Time ns 5e+08", "t/y.py::test_b: Time ns 2.5e+08"},
	},
	"hyperfine": {
		`{"results": [
 {"command": "./old", "mean": 0.5, "stddev": 0.01, "user": 0.25, "system": 0.125, "times": [0.25, 0.75], "exit_codes": [0, 0]},
 {"command": "./new", "mean": 0.5, "stddev": null, "user": 0.4, "system": 0.1, "times": [0.5], "exit_codes": [3], "parameters": {"n": "2"}}]}`,
		[]string{"./old: Time ns 2.5e+08 7.5e+08", "./old: CPU time ns 3.75e+08", "./new/n=2 fails: run 1 of the command ended with exit code 3"},
	},
	"BenchmarkDotNet": {
		`{"Title": "X", "HostEnvironmentInfo": {"RuntimeVersion": ".NET 9", "ProcessorName": "AMD"}, "Benchmarks": [
 {"FullName": "X.Sort.Quick(N: 10)", "Statistics": {"OriginalValues": [10.5, 11], "Mean": 10.75}, "Memory": {"BytesAllocatedPerOperation": 32}},
 {"FullName": "X.Sort.Heap(N: 10)", "Statistics": null}]}`,
		[]string{"X.Sort.Quick(N: 10): Time ns 10.5 11", "X.Sort.Quick(N: 10): Bytes allocated B/op 32", "X.Sort.Heap(N: 10) fails: it has no statistics: it failed or was not run"},
	},
	"nanobench": {
		`{"results": [{"title": "sort", "name": "quick", "unit": "op", "measurements": [{"iterations": 10, "elapsed": 1.5e-08}, {"iterations": 12, "elapsed": 1.6e-08}]}]}`,
		[]string{"quick: Time ns 15 16"},
	},
}

func TestAutoReadsFormatsByTheirContent(t *testing.T) {
	for name, tc := range brought {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, printedCases(t, record.Auto, tc.output)); diff != "" {
				t.Errorf("cases (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAutoReadsWhatHasAName(t *testing.T) {
	for name, want := range map[string]record.CaseFormat{
		"go-test.txt": record.GoTest, "go-test-cpus.txt": record.GoTest, "go-test-failed.txt": record.GoTest, "google-benchmark.json": record.GoogleBenchmark,
	} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		named, err := cases.Read(want, text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := cases.Read(record.Auto, text)
		named.Format = want
		if diff := cmp.Diff(named, got); err != nil || diff != "" {
			t.Errorf("%s: %v, (-%s +Auto):\n%s", name, err, want, diff)
		}
	}
	if out, err := cases.Read(record.Auto, []byte(caseLine())); err != nil || out.Format != record.JSONLines {
		t.Errorf("lines of JSON are %s, %v", out.Format, err)
	}
}

func TestAutoSaysWhichFormatsItKnows(t *testing.T) {
	_, err := cases.Read(record.Auto, []byte("Hello\n"))
	if err == nil || !strings.Contains(err.Error(), "the output is of no known format: print that of JSON lines, JMH, pytest-benchmark") {
		t.Errorf("error %v", err)
	}
	if _, err = cases.Read(record.Auto, []byte(`[{"primaryMetric": {`)); err == nil || !strings.Contains(err.Error(), "it looks like output of JMH: line 1: ") {
		t.Errorf("error %v", err)
	}
}

func TestEncodingsOfWindowsAreRead(t *testing.T) {
	const text = "pkg: a\r\nBenchmarkA-8 100 8 ns/op\r\n"
	wide := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(text)) {
		wide = append(wide, byte(u), byte(u>>8))
	}
	for name, output := range map[string]string{"UTF-16": string(wide), "a byte order mark": "\xef\xbb\xbf" + text} {
		for _, f := range []record.CaseFormat{record.Auto, record.GoTest} {
			if diff := cmp.Diff([]string{"BenchmarkA: Time ns 8"}, printedCases(t, f, output)); diff != "" {
				t.Errorf("%s as %s (-want +got):\n%s", name, f, diff)
			}
		}
	}
}

func FuzzAuto(f *testing.F) {
	corpus := mutated.Of[[]byte](f)
	for _, tc := range brought {
		corpus.Add([]byte(tc.output))
		corpus.Add([]byte(tc.output[:len(tc.output)/2]))
	}
	corpus.Fuzz(func(t testing.TB, output []byte) {
		if out, err := cases.Read(record.Auto, output); err == nil {
			checkOutput(t, out)
		}
	})
}
