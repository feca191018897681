package report_test

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/objectives"
	"loadstone.dev/loadstone/internal/report"
)

func TestEveryFormHasTheWordsItNeeds(t *testing.T) {
	for name, fixture := range fixtures {
		for ending, print := range forms {
			t.Run(name+ending, func(t *testing.T) {
				out, err := print(analyse(t, fixture()))
				if err != nil {
					t.Fatal(err)
				}
				for _, bad := range []string{"!(", "%!", "NaN", "Inf,", "<nil>", "\uFFFD"} {
					if i := strings.Index(string(out), bad); i >= 0 {
						t.Errorf("it holds %q: %s", bad, out[max(0, i-60):min(len(out), i+60)])
					}
				}
			})
		}
	}
}

func TestMarkdownBeginsWithTheVerdictAndIsNoMarkupOfOthers(t *testing.T) {
	for name, fixture := range fixtures {
		t.Run(name, func(t *testing.T) {
			out, err := report.Markdown(analyse(t, fixture()))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.HasPrefix(out, []byte("**")) || !bytes.Contains(out, []byte("is on the page report.html beside this file.")) {
				t.Errorf("it does not begin with its verdict, or leads to no page: %s", out)
			}
			width := 0
			for line := range strings.Lines(string(out)) {
				line = strings.TrimSpace(line)
				if !strings.HasPrefix(line, "|") {
					width = 0
					continue
				}
				n := strings.Count(line, "|")
				if width == 0 {
					width = n
				}
				if n != width {
					t.Errorf("a row of %d pipes in a table of %d: %s", n, width, line)
				}
			}
			if found := regexp.MustCompile(`(^|[^\\])<[a-z/]`).Find(out); found != nil {
				t.Errorf("there is an element: %q", found)
			}
		})
	}
}

func TestACommentHasRoomForAnyRun(t *testing.T) {
	table := analyse(t, gated())
	long := strings.Repeat("|", 300)
	for range 500 {
		o := table.Objectives[0]
		o.Outcome, o.Reason, o.Detail, o.Name = objectives.Undecided, objectives.NoEarlierRun, long, long
		table.Objectives = append(table.Objectives, o)
		table.Coverage.Missing = append(table.Coverage.Missing, analysis.MissingTrial{Implementation: "go", Reason: "ServerExited", Message: long, Trial: long})
	}
	out, err := report.Markdown(table)
	if err != nil {
		t.Fatal(err)
	}
	if len(out) > 65_536 || !bytes.HasPrefix(out, []byte("**FAILED: ")) {
		t.Errorf("%d bytes do not fit into a comment, or do not begin with the outcome: %s", len(out), out)
	}
	if end := "What is too long for a comment is left out here. Every block, latency, artifact and check is on the page report.html beside this file.\n"; !bytes.HasSuffix(out, []byte(end)) {
		t.Errorf("it does not say that something is left out: %s", out[len(out)-300:])
	}
}

func TestATableOfACommentSaysHowManyRowsAreOnThePage(t *testing.T) {
	table := analyse(t, gated())
	o := table.Objectives[0]
	o.Outcome, table.Objectives = objectives.Met, nil
	for range 50 {
		table.Objectives = append(table.Objectives, o)
	}
	out, err := report.Markdown(table)
	if err != nil || !bytes.Contains(out, []byte("\n\n30 more rows are on the page report.html.\n")) {
		t.Errorf("rows that are left out are not counted: %v, %s", err, out)
	}
}

type tests struct {
	XMLName xml.Name `xml:"testsuites"`
	Suites  []struct {
		Name     string `xml:"name,attr"`
		Tests    int    `xml:"tests,attr"`
		Failures int    `xml:"failures,attr"`
		Errors   int    `xml:"errors,attr"`
		Skipped  int    `xml:"skipped,attr"`
		Cases    []struct {
			Name    string `xml:"name,attr"`
			Class   string `xml:"classname,attr"`
			Failure *struct {
				Message string `xml:"message,attr"`
			} `xml:"failure"`
			Skipped *struct {
				Message string `xml:"message,attr"`
			} `xml:"skipped"`
		} `xml:"testcase"`
	} `xml:"testsuite"`
}

func TestJUnitIsReadBackWithACaseForEachOutcome(t *testing.T) {
	for name, fixture := range fixtures {
		t.Run(name, func(t *testing.T) {
			table := analyse(t, fixture())
			out, err := report.JUnit(table)
			if err != nil {
				t.Fatal(err)
			}
			var got tests
			if err := xml.Unmarshal(out, &got); err != nil || len(got.Suites) != 1 {
				t.Fatalf("%d suites, %v", len(got.Suites), err)
			}
			s := got.Suites[0]
			failed, skipped, names := 0, 0, map[string]bool{}
			for _, c := range s.Cases {
				if c.Failure != nil {
					failed++
				}
				if c.Skipped != nil {
					skipped++
				}
				if names[c.Name] || c.Class != "loadstone."+table.Run.Name {
					t.Errorf("the case %q of %q is not told from others", c.Name, c.Class)
				}
				names[c.Name] = true
			}
			open := 0
			for _, o := range table.Objectives {
				if o.Outcome != objectives.Met {
					open++
				}
			}
			if s.Name != table.Run.Namespace+"/"+table.Run.Name || s.Tests != len(s.Cases) || s.Tests == 0 || s.Failures != failed || s.Skipped != skipped || s.Errors != 0 || failed != open {
				t.Errorf("suite %q: %d tests of %d, %d failed of %d, of which %d are open objectives; %d skipped of %d", s.Name, s.Tests, len(s.Cases), s.Failures, failed, open, s.Skipped, skipped)
			}
		})
	}
}

func TestCSVHasAUnitAndAnNForEveryNumberAndNoFormula(t *testing.T) {
	for name, fixture := range fixtures {
		t.Run(name, func(t *testing.T) {
			table := analyse(t, fixture())
			out, err := report.CSV(table)
			if err != nil {
				t.Fatal(err)
			}
			rows, err := csv.NewReader(bytes.NewReader(out)).ReadAll()
			if err != nil || len(rows) < 2 {
				t.Fatalf("%d rows, %v", len(rows), err)
			}
			field := func(row []string, column string) string { return row[slices.Index(rows[0], column)] }
			kinds := map[string]int{}
			for _, row := range rows[1:] {
				kinds[field(row, "kind")]++
				if field(row, "unit") == "" || field(row, "n") == "" || field(row, "implementation") == "" || field(row, "metric") == "" {
					t.Errorf("a number without a unit, an n, or what it is of: %q", row)
				}
				if interval := field(row, "low") + field(row, "high"); (interval == "") != (field(row, "confidence") == "") {
					t.Errorf("an interval without its confidence, or the other way round: %q", row)
				}
				for _, f := range row {
					if _, err := strconv.ParseFloat(f, 64); err != nil && f != "" && strings.ContainsAny(f[:1], "=+-@\t\r\n") {
						t.Errorf("a spreadsheet would compute %q", f)
					}
				}
			}
			if kinds["objective"] != len(table.Objectives) || kinds["mean"] == 0 || len(table.Comparisons) > 0 && kinds["comparison"] == 0 {
				t.Errorf("rows by kind: %v", kinds)
			}
		})
	}
}
