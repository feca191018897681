package ui

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"loadstone.dev/loadstone/api/v1alpha1"
)

func pages() map[string]Page {
	now, ended := run("now", 20, measures("3m20s")), run("quick", 60, succeeds)
	roomless := run("roomless", 30, waitsForNodes)
	all := []v1alpha1.BenchmarkRun{run("later", 5, queued("")), ended, run("next", 10, queued("7m0s")), now, run("bad", 90, fails), run("open", 80, inconclusive), roomless}
	trials := Trials{All: someTrials()}
	one, away := frame(), frame()
	one.Namespace = "bench"
	away.Trouble = errAway.Error()
	s, h := suite(), slowed()
	ofSuite := []v1alpha1.BenchmarkRun{run("checkout-2-00", 200, succeeds, ofRound(2)), run("checkout-3-00", 30, measures("1m0s"), ofRound(3))}
	return map[string]Page{
		"queue":           Queue(frame(), all, map[types.UID]Trials{now.UID: trials}),
		"queue-namespace": Queue(one, all, map[types.UID]Trials{now.UID: {Err: errAway}}),
		"queue-idle":      Queue(frame(), []v1alpha1.BenchmarkRun{ended}, nil),
		"queue-empty":     Queue(frame(), nil, nil),
		"runs":            Runs(away, all, ""),
		"runs-empty":      Runs(frame(), all, "elsewhere"),
		"run-measuring":   Run(frame(), &now, trials, ""),
		"run-queued":      Run(frame(), &all[0], Trials{}, ""),
		"run-ended":       Run(frame(), &ended, Trials{}, "reports/0123/report.html"),
		"run-failed":      Run(frame(), &all[4], Trials{}, ""),
		"suites":          Suites(frame(), []v1alpha1.BenchmarkSuite{s}),
		"suites-empty":    Suites(frame(), nil),
		"suite":           Suite(frame(), &s, ofSuite, Course{History: h}),
		"suite-reading":   Suite(frame(), &s, nil, Course{Reading: true}),
		"suite-trouble":   Suite(frame(), &s, nil, Course{Err: errAway}),
		"suite-new":       Suite(frame(), &v1alpha1.BenchmarkSuite{ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: "new"}}, nil, Course{}),
		"noise":           Noise(frame(), AASeries{Runs: aaRunsOf(4, "bench-1, AMD EPYC")}),
		"noise-empty":     Noise(frame(), AASeries{}),
		"noise-left-out":  Noise(frame(), AASeries{Runs: aaRunsOf(1, "bench-1, AMD EPYC")[1:]}),
		"noise-reading":   Noise(frame(), AASeries{Reading: true}),
		"noise-trouble":   Noise(frame(), AASeries{Err: errAway}),
		"trouble":         Trouble(frame(), "No such run", "There is no BenchmarkRun x in namespace y."),
	}
}

func html(t *testing.T, p Page) []byte {
	t.Helper()
	out, err := p.HTML()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestThePages(t *testing.T) {
	for name, p := range pages() {
		t.Run(name, func(t *testing.T) {
			got, file := html(t, p), filepath.Join("testdata", name+".html")
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("the page has changed: go test ./internal/ui -update, and read what has (-want +got):\n%s", diff)
			}
		})
	}
}

type element struct {
	name string
	attr map[string]string
}

func elements(t *testing.T, page []byte) []element {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(page))
	d.Entity = xml.HTMLEntity
	var all []element
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok {
			one := element{e.Name.Local, map[string]string{}}
			for _, a := range e.Attr {
				one.attr[a.Name.Local] = a.Value
			}
			all = append(all, one)
		}
	}
}

func TestPagesAreAccessible(t *testing.T) {
	for name, p := range pages() {
		t.Run(name, func(t *testing.T) {
			ids, leads, regions, counts, level := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]int{}, 0
			for _, e := range elements(t, html(t, p)) {
				counts[e.name]++
				if id := e.attr["id"]; id != "" {
					if ids[id] {
						t.Errorf("the id %s is there twice", id)
					}
					ids[id] = true
				}
				if id, within := strings.CutPrefix(e.attr["href"], "#"); within {
					leads[id] = true
				}
				switch {
				case e.name == "th" && e.attr["scope"] == "":
					t.Error("a heading of a table has no scope")
				case e.name == "svg" && e.attr["role"] == "img" && e.attr["aria-label"] == "":
					t.Error("a picture has no name")
				case e.name == "iframe" && e.attr["title"] == "", e.name == "progress" && e.attr["aria-label"] == "", e.name == "nav" && e.attr["aria-label"] == "":
					t.Errorf("the %s has no name", e.name)
				case e.attr["role"] == "region" && regions[e.attr["aria-label"]]:
					t.Errorf("two regions are called %s", e.attr["aria-label"])
				case e.attr["class"] == "scroll" && e.attr["role"] == "region" && (e.attr["tabindex"] != "0" || e.attr["aria-label"] == ""):
					t.Error("what scrolls cannot be reached or has no name")
				}
				if e.attr["role"] == "region" {
					regions[e.attr["aria-label"]] = true
				}
				if len(e.name) == 2 && e.name[0] == 'h' && e.name[1] >= '1' && e.name[1] <= '6' {
					if next := int(e.name[1] - '0'); next > level+1 {
						t.Errorf("a heading of level %d follows one of level %d", next, level)
					} else {
						level = next
					}
				}
			}
			if counts["main"] != 1 || counts["h1"] != 1 || counts["header"] != 1 || counts["nav"] != 1 || counts["table"] != counts["caption"] {
				t.Errorf("it has %v", counts)
			}
			for id := range leads {
				if !ids[id] {
					t.Errorf("a link leads to %s, which is not there", id)
				}
			}
			if !ids["main"] || !ids["live"] {
				t.Errorf("it has the ids %v", ids)
			}
		})
	}
}

// Content forbidden by the policy would be missing, with a console error.
func TestThePagesKeepTheContentPolicy(t *testing.T) {
	for name, p := range pages() {
		t.Run(name, func(t *testing.T) {
			for _, e := range elements(t, html(t, p)) {
				for attr, value := range e.attr {
					if attr == "style" || strings.HasPrefix(attr, "on") {
						t.Errorf("%s has the attribute %s", e.name, attr)
					}
					if (attr == "href" || attr == "src") && (!strings.HasPrefix(value, "/") && !strings.HasPrefix(value, "#") || strings.HasPrefix(value, "//")) {
						t.Errorf("%s leads to %s", e.name, value)
					}
				}
				if e.name == "style" || e.name == "script" && e.attr["src"] != ScriptPath {
					t.Errorf("there is an inline %s", e.name)
				}
			}
		})
	}
}

func TestForeignTextIsEscaped(t *testing.T) {
	hostile := `"><script>alert(1)</script>`
	r := run("x", 1, ends("False", "Bad", hostile, hostile))
	r.Namespace, r.Spec.Implementations[0].Image = hostile, hostile
	s := suite()
	s.Status.Conditions[0].Message, s.Status.History[0].Message = hostile, hostile
	for name, p := range map[string]Page{
		"runs": Runs(frame(), []v1alpha1.BenchmarkRun{r}, ""), "run": Run(frame(), &r, Trials{Err: errors.New(hostile)}, hostile),
		"suite": Suite(frame(), &s, []v1alpha1.BenchmarkRun{r}, Course{Err: errors.New(hostile)}), "trouble": Trouble(frame(), hostile, hostile), "noise": Noise(frame(), AASeries{Runs: aaRunsOf(2, hostile), Err: errors.New(hostile)}),
	} {
		if out := string(html(t, p)); strings.Contains(out, "<script>") || !strings.Contains(out, "&lt;script&gt;") {
			t.Errorf("%s: text of an object is no text", name)
		}
	}
}

// Report colors are tested for contrast on the same backgrounds.
func TestTheStylesHaveNoColourOfTheirOwn(t *testing.T) {
	if found := regexp.MustCompile(`#[0-9a-fA-F]{3,8}\b|rgb|hsl`).FindString(ownStyle); found != "" {
		t.Errorf("there is the colour %s", found)
	}
	for _, used := range regexp.MustCompile(`var\((--[\w-]+)\)`).FindAllStringSubmatch(ownStyle, -1) {
		if !strings.Contains(StyleSheet(), used[1]+":") {
			t.Errorf("nobody says what %s is", used[1])
		}
	}
}

func TestNoVerdictIsShownBeforeARunHasEnded(t *testing.T) {
	early := run("early", 1, measures("1m0s"))
	early.Status.Verdict = "epoll wins"
	for name, p := range map[string]Page{
		"queue": Queue(frame(), []v1alpha1.BenchmarkRun{early}, nil), "runs": Runs(frame(), []v1alpha1.BenchmarkRun{early}, ""), "run": Run(frame(), &early, Trials{}, ""),
	} {
		if out := string(html(t, p)); strings.Contains(out, "epoll wins") {
			t.Errorf("%s shows the verdict of a run that measures", name)
		}
	}
}

func TestARunWithoutAVerdictSaysWhyOnce(t *testing.T) {
	r := run("even", 60, succeeds)
	r.Status.Verdict = "Inconclusive: one may or may not differ"
	c := meta.FindStatusCondition(r.Status.Conditions, v1alpha1.ConditionSucceeded)
	c.Message = r.Status.Verdict
	out, _, _ := strings.Cut(string(html(t, Run(frame(), &r, Trials{}, ""))), `<details id="conditions">`)
	if n := strings.Count(out, r.Status.Verdict); n != 1 {
		t.Errorf("the page says it %d times above its conditions: %s", n, out)
	}
}

func TestThePartsOfTheSite(t *testing.T) {
	var current []string
	for _, name := range []string{"queue", "run-ended", "suite", "noise", "trouble"} {
		at := slices.IndexFunc(pages()[name].Parts(), func(p part) bool { return p.Current })
		current = append(current, map[int]string{-1: "none", 0: "queue", 1: "runs", 2: "suites", 3: "noise"}[at])
	}
	if want := []string{"queue", "runs", "suites", "noise", "none"}; !slices.Equal(current, want) {
		t.Errorf("the parts are %q, want %q", current, want)
	}
}

func TestAnInstantHasAnAge(t *testing.T) {
	for name, tc := range map[string]struct {
		at   time.Time
		want string
	}{
		"long ago":    {noon.Add(-26 * time.Hour), "26h ago"},
		"just now":    {noon, "0s ago"},
		"in a moment": {noon.Add(time.Minute), "in 60s"},
	} {
		if m := momentOf(tc.at, noon); m.Age != tc.want || m.ISO != tc.at.Format(time.RFC3339) {
			t.Errorf("%s: %+v, want %s", name, m, tc.want)
		}
	}
	if m := momentOf(time.Time{}, noon); m != nil {
		t.Errorf("no instant is %+v", m)
	}
}
