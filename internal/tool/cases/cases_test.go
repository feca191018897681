package cases_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/testbed/mutated"
	"loadstone.dev/loadstone/internal/tool/cases"
)

func recorded(tb testing.TB, name string) []byte {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

func named(t *testing.T, out cases.Output, name string) record.Case {
	t.Helper()
	for _, c := range out.Cases {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no case %q in %+v", name, out.Cases)
	return record.Case{}
}

func names(out cases.Output) []string {
	var all []string
	for _, c := range out.Cases {
		all = append(all, c.Name)
	}
	return all
}

// refusal is output with something to refuse: parts of the sentence, and the cases that keep their values.
type refusal struct {
	output, want string
	kept         []string
}

func checkRefusals(t *testing.T, f record.CaseFormat, all map[string]refusal) {
	t.Helper()
	for name, tc := range all {
		t.Run(name, func(t *testing.T) {
			got, err := cases.Read(f, []byte(tc.output))
			said := fmt.Sprint(err)
			if err == nil {
				checkOutput(t, got)
				said = lost(got)
			}
			if !strings.Contains(said, tc.want) {
				t.Errorf("Read() says %q\nwant %q in it", said, tc.want)
			}
			var kept []string
			for _, c := range got.Cases {
				if c.Failure == "" {
					kept = append(kept, c.Name)
				}
			}
			if len(kept) > 1000 {
				kept = kept[:1]
			}
			if diff := cmp.Diff(tc.kept, kept); diff != "" {
				t.Errorf("cases that are kept (-want +got):\n%s", diff)
			}
		})
	}
}

func lost(out cases.Output) string {
	var all strings.Builder
	for _, u := range out.Unread {
		fmt.Fprintf(&all, "line %d: %s\n", u.Line, u.Why)
	}
	for _, c := range out.Cases {
		if c.Failure != "" {
			fmt.Fprintf(&all, "%s: %s\n", c.Name, c.Failure)
		}
	}
	return all.String()
}

func checkOutput(t testing.TB, out cases.Output) {
	t.Helper()
	if len(out.Cases) == 0 || len(out.Cases) > 10_000 {
		t.Errorf("%d cases", len(out.Cases))
	}
	checkUnread(t, out)
	seen := map[string]bool{}
	for _, c := range out.Cases {
		if seen[c.Name] || len(c.Name) > 200 || strings.ContainsFunc(c.Name, unicode.IsControl) || strings.TrimSpace(c.Name) == "" {
			t.Errorf("a case is named %q", c.Name)
		}
		seen[c.Name] = true
		if (c.Failure == "") != (len(c.Values) > 0) || c.Iterations < 0 || strings.ContainsFunc(c.Failure, unicode.IsControl) {
			t.Errorf("case %+v", c)
		}
		for _, v := range c.Values {
			checkValue(t, v)
		}
	}
}

func checkUnread(t testing.TB, out cases.Output) {
	t.Helper()
	if len(out.Unread) > 20 || out.UnreadMore > 0 && len(out.Unread) < 20 {
		t.Errorf("%d parts are listed, and %d are not", len(out.Unread), out.UnreadMore)
	}
	for _, u := range out.Unread {
		if u.Line < 1 || u.Why == "" || len(u.Text) > 130 || strings.ContainsFunc(u.Text+u.Why, unicode.IsControl) {
			t.Errorf("a part is listed as %+v", u)
		}
	}
}

func checkValue(t testing.TB, v record.CaseValue) {
	t.Helper()
	if v.Metric == "" || len(v.Samples) == 0 || v.Better != record.LessIsBetter && v.Better != record.MoreIsBetter && v.Better != record.UnknownDirection {
		t.Errorf("value %+v", v)
	}
	if (v.Metric == "Time" || v.Metric == "CPU time") && v.Unit != "ns" {
		t.Errorf("%s is in %q", v.Metric, v.Unit)
	}
	for _, x := range v.Samples {
		if math.IsNaN(x) || math.IsInf(x, 0) || x < 0 {
			t.Errorf("%s is %g", v.Metric, x)
		}
	}
}

// fuzz mutates outputs: nothing may panic, and results must be sound.
func fuzz(f *testing.F, format record.CaseFormat, seeds ...[]byte) {
	f.Helper()
	corpus := mutated.Of[[]byte](f)
	for _, s := range seeds {
		corpus.Add(s)
	}
	corpus.Fuzz(func(t testing.TB, output []byte) {
		out, err := cases.Read(format, output)
		if err == nil {
			checkOutput(t, out)
		} else if strings.ContainsFunc(err.Error(), unicode.IsControl) {
			t.Errorf("the sentence %q holds a control character", err)
		}
	})
}

func TestNothingPrintedIsRefusedInEveryFormat(t *testing.T) {
	for _, f := range []record.CaseFormat{record.GoogleBenchmark, record.GoTest, record.JSONLines} {
		checkRefusals(t, f, map[string]refusal{
			string(f) + ": empty output":   {"", "printed nothing to its standard output", nil},
			string(f) + ": only new lines": {"\n\n", "printed nothing to its standard output", nil},
		})
	}
	checkRefusals(t, "CSV", map[string]refusal{"an unknown format": {"a,b\n", `"CSV" is no format: it is Auto, GoogleBenchmark, GoTest or JSONLines`, nil}})
}

func TestParametersInNamesAreAxes(t *testing.T) {
	for name, tc := range map[string]struct {
		name string
		want []record.Axis
	}{
		"Google Benchmark's arguments":      {"Copy/size:4096/threads:8", []record.Axis{{Name: "size", Value: "4096"}, {Name: "threads", Value: "8"}}},
		"sub-benchmarks of Go":              {"BenchmarkCopy/size=4096", []record.Axis{{Name: "size", Value: "4096"}}},
		"a value that holds the other mark": {"open/path=a:b", []record.Axis{{Name: "path", Value: "a:b"}}},
		"what has no name":                  {"Copy/4096/:8/=2/size:", nil},
		"a template's colons":               {"Copy<std::vector>", nil},
	} {
		t.Run(name, func(t *testing.T) {
			line := fmt.Sprintf(`{"schema":"loadstone.case/v1","case":%q,"metric":"Time","unit":"ns","better":"Less","value":1}`, tc.name)
			out, err := cases.Read(record.JSONLines, []byte(line))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, out.Cases[0].Axes); diff != "" {
				t.Errorf("axes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOfALotThatCannotBeReadAPartIsListed(t *testing.T) {
	output := caseLine() + strings.Repeat("hello\n", 1_000_000)
	out, err := cases.Read(record.JSONLines, []byte(output))
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Cases) != 1 || len(out.Unread) != 20 || out.UnreadMore != 999_980 {
		t.Errorf("%d cases, %d parts are listed, and %d are not", len(out.Cases), len(out.Unread), out.UnreadMore)
	}
	if u := out.Unread[0]; u.Line != 2 || u.Text != "hello" || !strings.Contains(u.Why, `"hello" is no JSON object`) {
		t.Errorf("the first is %+v", u)
	}
}
