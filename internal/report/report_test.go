package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/report"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func analyse(t *testing.T, d record.RunData) analysis.Table {
	t.Helper()
	table, err := analysis.Analyse(d)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func html(t *testing.T, d record.RunData) []byte {
	t.Helper()
	out, err := report.HTML(analyse(t, d))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// longFraction matches digits that depend on the processor, since some fuse a product and a sum.
var longFraction = regexp.MustCompile(`(\.\d{8})\d+`)

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	got = longFraction.ReplaceAll(got, []byte("$1"))
	path := filepath.Join("testdata", file)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got; -update accepts it):\n%s", path, diff)
	}
}

// forms are the golden files besides the page, by ending.
var forms = map[string]func(analysis.Table) ([]byte, error){".md": report.Markdown, ".csv": report.CSV, ".junit.xml": report.JUnit}

func TestGoldenReports(t *testing.T) {
	for name, fixture := range fixtures {
		t.Run(name, func(t *testing.T) {
			golden(t, name+".html", html(t, fixture()))
			table := analyse(t, fixture())
			for ending, print := range forms {
				out, err := print(table)
				if err != nil {
					t.Fatal(err)
				}
				golden(t, name+ending, out)
			}
		})
	}
	t.Run("quick as JSON", func(t *testing.T) {
		out, err := report.JSON(analyse(t, quick()))
		if err != nil {
			t.Fatal(err)
		}
		golden(t, "quick.json", out)
	})
}

func TestJSONNamesItsSchemaAndVerdict(t *testing.T) {
	out, err := report.JSON(analyse(t, troubled()))
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Schema, Verdict string
		Groups          []struct {
			Throughput struct{ N int } `json:"throughputRequestsPerSecond"`
		}
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	if got.Schema != report.Schema || got.Verdict == "" || len(got.Groups) != 6 || got.Groups[0].Throughput.N != 2 {
		t.Errorf("read back %+v", got)
	}
}

// Elements and attributes that would fetch, run or send something.
var (
	forbiddenElements   = []string{"script", "link", "iframe", "img", "image", "object", "embed", "base", "form", "foreignObject", "use", "audio", "video"}
	forbiddenAttributes = regexp.MustCompile(`^(on.*|src|srcset|action|data|background|poster)$`)
	harmlessLinks       = regexp.MustCompile(`^(#[a-z]+|\.\./\.\./[A-Za-z0-9._%$&+=:@/~-]+)$`)
	forbiddenStyles     = regexp.MustCompile(`(?i)url\(|@import|expression\(|javascript:`)
)

func TestHTMLIsWellFormedAndNeedsNothingElse(t *testing.T) {
	for name, fixture := range fixtures {
		t.Run(name, func(t *testing.T) {
			d := xml.NewDecoder(bytes.NewReader(html(t, fixture())))
			d.Entity = xml.HTMLEntity
			within := ""
			for {
				token, err := d.Token()
				if errors.Is(err, io.EOF) {
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				switch token := token.(type) {
				case xml.StartElement:
					within = token.Name.Local
					checkElement(t, token)
				case xml.EndElement:
					within = ""
				case xml.CharData:
					if within == "style" && forbiddenStyles.Match(token) {
						t.Errorf("the style sheet holds %q", forbiddenStyles.Find(token))
					}
				}
			}
		})
	}
}

func checkElement(t *testing.T, e xml.StartElement) {
	t.Helper()
	if slices.Contains(forbiddenElements, e.Name.Local) {
		t.Errorf("there is an element <%s>", e.Name.Local)
	}
	for _, a := range e.Attr {
		if a.Name.Local == "href" && (e.Name.Local != "a" || !harmlessLinks.MatchString(a.Value)) {
			t.Errorf("<%s> leads to %q", e.Name.Local, a.Value)
		}
		if forbiddenAttributes.MatchString(a.Name.Local) || forbiddenStyles.MatchString(a.Value) && a.Name.Local == "style" {
			t.Errorf("<%s> has an attribute %s=%q", e.Name.Local, a.Name.Local, a.Value)
		}
	}
}

func TestHTMLHasEveryWordItNeeds(t *testing.T) {
	for name, fixture := range fixtures {
		t.Run(name, func(t *testing.T) {
			out := string(html(t, fixture()))
			for _, bad := range []string{"!(", "%!", "ZgotmplZ", "NaN", "Inf", "<nil>", "\uFFFD"} {
				if i := strings.Index(out, bad); i >= 0 {
					t.Errorf("it holds %q: %s", bad, out[max(0, i-60):min(len(out), i+60)])
				}
			}
		})
	}
}

func TestHTMLShowsWhatWentWrong(t *testing.T) {
	out := string(html(t, troubled()))
	for name, want := range map[string]string{
		"the trial that failed":        "ServerExited",
		"its message, escaped":         "exit status 139: &#34;&gt;&lt;script&gt;",
		"the attempts before the last": "PodLost: ",
		"the noisy neighbours":         "of the server&#39;s CPU time",
		"the timeouts":                 "timeouts: 1",
		"that there is no verdict":     "Inconclusive: ",
		"that trials differ":           "differs between trials",
		"the lack of pinning":          "was not pinned to CPUs of its own",
		"the wrong answer":             "wrong responses that an agent saw: 1: the body of &#34;&gt;",
		"connections unanswered":       "of the connections never received a response",
		"the connections opened anew":  "did not keep connections alive",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%s is not shown: no %q", name, want)
		}
	}
}

func TestHTMLShowsIntervalsKindsAndGenerators(t *testing.T) {
	out := string(html(t, bracketed()))
	for name, want := range map[string]string{
		"an interval of a latency":   "] µs",
		"a second curve":             `class="curve low c0"`,
		"the kind of the first load": "with connection means measured from the opening of the connection",
		"the kind of the rate":       "from intended start means measured from the time",
		"the rate":                   "100 connections at 2,000 requests/s",
		"the generators":             "2 generators of 1 thread each",
		"what was not sent":          "not sent",
		"the generators' start":      "time from the first to the last generator&#39;s start",
		"the dips":                   "largest dip ",
		"both ends of the mean":      "mean latency (with connection), at least",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%s is not shown: no %q", name, want)
		}
	}
}

func TestHTMLOfNothing(t *testing.T) {
	d := quick()
	d.Trials = nil
	for i := range d.Manifest.Trials {
		d.Manifest.Trials[i].Manifest, d.Manifest.Trials[i].Reason = nil, "ImagePull"
	}
	if out := string(html(t, d)); !strings.Contains(out, "0 of 9 trials measured") {
		t.Error("a run without trials does not say so")
	}
	d.Manifest.Plan.Implementations = d.Manifest.Plan.Implementations[:1]
	if out := string(html(t, d)); !strings.Contains(out, "This run has no result.") {
		t.Error("a run of one implementation without trials does not say so")
	}
}
