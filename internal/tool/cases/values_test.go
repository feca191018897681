package cases_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool/cases"
)

// printedCases are "NAME: METRIC UNIT SAMPLES" of all cases that did not fail, and "NAME fails" of the others.
func printedCases(t *testing.T, f record.CaseFormat, output string) []string {
	t.Helper()
	out, err := cases.Read(f, []byte(output))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, c := range out.Cases {
		if c.Failure != "" {
			all = append(all, c.Name+" fails: "+c.Failure)
		}
		for _, v := range c.Values {
			all = append(all, strings.Join(strings.Fields(c.Name+": "+v.Metric+" "+v.Unit+" "+cmpText(v.Samples)), " "))
		}
	}
	return all
}

func TestAValueThatIsNoNumberCostsThatValue(t *testing.T) {
	const goTest = "pkg: a\nBenchmarkGet-8 100 8 ns/op NaN hit-ratio 16 B/op\nBenchmarkGet-8 100 9 ns/op NaN hit-ratio 16 B/op\nBenchmarkPut-8 100 7 ns/op -3.0 growth\n"
	want := []string{"BenchmarkGet: Time ns 8 9", "BenchmarkGet: Bytes allocated B/op 16 16", "BenchmarkPut: Time ns 7"}
	if diff := cmp.Diff(want, printedCases(t, record.GoTest, goTest)); diff != "" {
		t.Errorf("go test (-want +got):\n%s", diff)
	}
	google := googleRuns(`"delta":-4.0,"bytes_per_second":inf,"hit_ratio":0.5`)
	got := strings.Join(printedCases(t, record.GoogleBenchmark, google), "\n")
	if !strings.Contains(got, "Copy: Time ns") || !strings.Contains(got, "hit_ratio") || strings.Contains(got, "delta") || strings.Contains(got, "bytes_per_second") {
		t.Errorf("Google Benchmark: %s", got)
	}
}

func TestNamesAreShortenedOnlyWhileTheyAreUnique(t *testing.T) {
	google := googleRuns(`"run_name":"BM_Sort/8"`, `"run_name":"BM_Sort/8/real_time"`, `"run_name":"BM_Find/8/real_time"`)
	want := []string{"BM_Sort/8", "BM_Sort/8/real_time", "BM_Find/8"}
	out, err := cases.Read(record.GoogleBenchmark, []byte(google))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, names(out)); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

func TestPackagesTellBenchmarksOfOneNameApart(t *testing.T) {
	const text = "pkg: x/a\nBenchmarkE-8 10 5 ns/op\nBenchmarkOnly-8 10 6 ns/op\nPASS\npkg: x/b\nBenchmarkE-8 10 7 ns/op\nPASS\n"
	want := []string{"x/a.BenchmarkE: Time ns 5", "BenchmarkOnly: Time ns 6", "x/b.BenchmarkE: Time ns 7"}
	if diff := cmp.Diff(want, printedCases(t, record.GoTest, text)); diff != "" {
		t.Errorf("cases (-want +got):\n%s", diff)
	}
}

func TestLongNamesAreKeptByTheirDigest(t *testing.T) {
	long := "Benchmark" + strings.Repeat("x", 300)
	out, err := cases.Read(record.GoTest, []byte(long+"1 10 5 ns/op\n"+long+"2 10 6 ns/op\n"))
	if err != nil {
		t.Fatal(err)
	}
	got := names(out)
	if len(got) != 2 || got[0] == got[1] || len(got[0]) > 200 || !strings.HasPrefix(got[0], "Benchmarkxxx") {
		t.Fatalf("names %q", got)
	}
	renamed := cases.Rename(out.Cases[:1], []record.CaseName{{Printed: got[0], Name: "short"}})
	if renamed[0].Name != "short" {
		t.Errorf("renamed %+v", renamed)
	}
}

func cmpText(samples []float64) string {
	text := make([]string, len(samples))
	for i, v := range samples {
		text[i] = strconv.FormatFloat(v, 'g', 6, 64)
	}
	return strings.Join(text, " ")
}
