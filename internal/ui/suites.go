package ui

import (
	"cmp"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/suite/history"
)

// SuitePath returns the path of a suite's page.
func SuitePath(namespace, name string) string {
	return SuitesPath + "/" + url.PathEscape(namespace) + "/" + url.PathEscape(name)
}

type suiteRow struct {
	Namespace, Name, Path string
	Standing              standing
	Message               string
	Measuring             string
	Last                  *round
	Next                  *moment
}

type round struct {
	Number                     int32
	Standing                   standing
	Trigger, Message, Compared string
	Began, Ended               *moment
	// Runs are those still in the cluster.
	Runs []link
}

// Suites is the page of all suites.
func Suites(f Frame, suites []v1alpha1.BenchmarkSuite) Page {
	var rows []suiteRow
	for i := range suites {
		rows = append(rows, suiteRowOf(&suites[i], f.Now))
	}
	slices.SortFunc(rows, func(a, b suiteRow) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return Page{Frame: f, Title: "Suites", Stream: EventsPath, Data: rows, section: SuitesPath, body: "suites"}
}

func suiteRowOf(s *v1alpha1.BenchmarkSuite, now time.Time) suiteRow {
	row := suiteRow{Namespace: s.Namespace, Name: s.Name, Path: SuitePath(s.Namespace, s.Name), Standing: standing{Text: v1alpha1.ReasonPending, Tone: tonePlain}}
	if c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionReady); c != nil && c.ObservedGeneration == s.Generation {
		row.Standing, row.Message = readiness(*c), c.Message
	}
	if c := s.Status.Current; c.Round > 0 {
		row.Measuring = fmt.Sprintf("round %d, %s runs ended", c.Round, c.Progress)
		if c.PullRequest != "" {
			row.Measuring = fmt.Sprintf("round %d of pull request %s, %s runs ended", c.Round, c.PullRequest, c.Progress)
		}
	}
	if s.Status.LastRound.Round > 0 {
		last := roundOf(s.Status.LastRound, nil, now)
		row.Last = &last
	}
	if at := s.Status.NextScheduleTime; at != nil {
		row.Next = momentOf(at.Time, now)
	}
	return row
}

func readiness(c metav1.Condition) standing {
	switch c.Status {
	case metav1.ConditionTrue:
		return standing{Text: "Ready", Tone: toneGood}
	case metav1.ConditionFalse:
		return standing{Text: "Not ready", Note: c.Reason, Tone: toneBad}
	case metav1.ConditionUnknown:
	}
	return standing{Text: c.Reason, Tone: tonePlain}
}

func roundOf(r v1alpha1.SuiteRound, runs []v1alpha1.BenchmarkRun, now time.Time) round {
	out := round{Number: r.Round, Standing: outcomeOf(r.Outcome), Trigger: triggerOf(r), Message: r.Message, Runs: runsOf(r.Round, runs)}
	if r.StartTime != nil {
		out.Began = momentOf(r.StartTime.Time, now)
	}
	if r.CompletionTime != nil {
		out.Ended = momentOf(r.CompletionTime.Time, now)
	}
	if len(r.Against) > 0 {
		var against []string
		for _, n := range r.Against {
			against = append(against, strconv.Itoa(int(n)))
		}
		out.Compared = strings.Join(against, ", ")
	}
	return out
}

func triggerOf(r v1alpha1.SuiteRound) string {
	if r.PullRequest != "" {
		return string(r.Trigger) + ", pull request " + r.PullRequest
	}
	return string(r.Trigger)
}

func runsOf(number int32, runs []v1alpha1.BenchmarkRun) []link {
	var out []link
	for i := range runs {
		if runs[i].Labels[v1alpha1.LabelRound] == strconv.Itoa(int(number)) {
			out = append(out, link{runs[i].Name, RunPath(runs[i].Namespace, runs[i].Name)})
		}
	}
	slices.SortFunc(out, func(a, b link) int { return strings.Compare(a.Text, b.Text) })
	return out
}

// Course is a suite's history read so far.
type Course struct {
	History history.History
	Reading bool
	Err     error

	html func() (template.HTML, error)
}

// Kept caches the drawing for all pages that show it: for a thousand rounds that is nearly all of their work.
func (c Course) Kept() Course {
	c.html = sync.OnceValues(c.draw)
	return c
}

func (c Course) draw() (template.HTML, error) {
	var out strings.Builder
	if err := bodies["suite"].ExecuteTemplate(&out, "history", historyOf(c)); err != nil {
		return "", fmt.Errorf("printing the history: %w", err)
	}
	return template.HTML(out.String()), nil
}

type suiteBody struct {
	suiteRow
	Facts   []fact
	Current []link
	Rounds  []round
	History func() (template.HTML, error)
}

// Suite is a suite's page. runs are the suite's.
func Suite(f Frame, s *v1alpha1.BenchmarkSuite, runs []v1alpha1.BenchmarkRun, c Course) Page {
	body := suiteBody{suiteRow: suiteRowOf(s, f.Now), History: c.html}
	if body.History == nil {
		body.History = c.draw
	}
	if n := s.Status.Current.Round; n > 0 {
		body.Current = runsOf(n, runs)
	}
	body.Facts = []fact{{Name: "Namespace", Text: s.Namespace}}
	if body.Next != nil {
		body.Facts = append(body.Facts, fact{Name: "Next scheduled round", When: body.Next})
	}
	if good := s.Status.LastGood.Round; good > 0 {
		body.Facts = append(body.Facts, fact{Name: "Last good round", Text: strconv.Itoa(int(good))})
	}
	for _, i := range s.Status.Inputs.Images {
		body.Facts = append(body.Facts, fact{Name: "Image", Text: i.Image + " " + i.Digest})
	}
	for _, p := range s.Status.Inputs.Parameters {
		body.Facts = append(body.Facts, fact{Name: "Parameter " + p.Name, Text: p.Value})
	}
	for _, r := range s.Status.History {
		body.Rounds = append(body.Rounds, roundOf(r, runs, f.Now))
	}
	return Page{Frame: f, Title: s.Name, Stream: EventsPath, Data: body, section: SuitesPath, body: "suite"}
}
