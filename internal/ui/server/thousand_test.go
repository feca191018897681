package server

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/hack/figures"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/record/recordtest"
	"loadstone.dev/loadstone/internal/report"
	"loadstone.dev/loadstone/internal/store/download"
	"loadstone.dev/loadstone/internal/suite/history"
	"loadstone.dev/loadstone/internal/ui"
)

// manyRounds is the maximum of rounds kept in a history, passed or not.
const manyRounds = 1000

// thousand is a suite of many rounds with runs and reports. Two contenders are measured; every value changes twice.
type thousand struct {
	suite  *v1alpha1.BenchmarkSuite
	runs   []kruntime.Object
	files  *files
	values []history.Values
	series int
	size   float64
}

func newThousand(b *testing.B) *thousand {
	b.Helper()
	o := recordtest.Duel(6)
	o.Levels, o.Seconds, o.Noise = []int32{10, 100}, 1, 0.01
	o.Servers[2] = o.Servers[1]
	o.Servers[2].Name = "go-other"
	table, err := analysis.Analyse(recordtest.Run(o))
	if err != nil {
		b.Fatal(err)
	}
	t := &thousand{suite: checkout(), files: &files{bodies: map[string]string{}}}
	text, err := report.JSON(table)
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for round := 1; round <= manyRounds; round++ {
		var one analysis.Table
		if err := json.Unmarshal(text, &one); err != nil {
			b.Fatal(err)
		}
		wander(&one, rng, round)
		body, err := json.Marshal(one)
		if err != nil {
			b.Fatal(err)
		}
		r := ended()
		r.Name, r.UID = fmt.Sprintf("checkout-%d-00", round), types.UID(fmt.Sprintf("0c9f3f11-0000-4000-8000-2%011d", round))
		r.Labels = map[string]string{v1alpha1.LabelSuite: t.suite.Name, v1alpha1.LabelSuiteUID: string(t.suite.UID), v1alpha1.LabelRound: fmt.Sprint(round)}
		r.Annotations = map[string]string{v1alpha1.AnnotationRound: fmt.Sprintf(`{"id": "%d", "run": "small", "runs": 1}`, round)}
		r.Status.Report.URI = "s3://bucket/" + download.PrefixOf(r) + "/reports/0123/report.html"
		t.size = float64(len(body))
		t.files.bodies[download.PrefixOf(r)+"/reports/0123/report.json "] = string(body)
		t.runs = append(t.runs, r)
		t.values = append(t.values, history.Report{Round: int32(round), Run: "small", Table: one}.Values())
	}
	t.series = len(history.Of(t.suite.Name, 0.03, t.values[:1], nil).Series)
	return t
}

// wander gives a report a round's values: 1 % noise, and steps of 2 and 3 %.
func wander(t *analysis.Table, rng *rand.Rand, round int) {
	for i := range t.Comparisons {
		for k := range t.Comparisons[i].Overall {
			ratio := t.Comparisons[i].Overall[k].Ratio
			if ratio == nil {
				continue
			}
			*ratio *= 1 + 0.01*rng.NormFloat64()
			if round > 400 {
				*ratio *= 1.02
			}
			if round > 700 {
				*ratio *= 0.97
			}
		}
	}
}

func (t *thousand) site(b *testing.B, rounds int) *site {
	b.Helper()
	s := newTested(b, t.files)
	s.suites.replace([]kruntime.Object{t.suite})
	s.runs.replace(t.runs[:rounds])
	return s
}

// shown requests the suite's page until all data is shown, and returns its size in bytes.
func (t *thousand) shown(b *testing.B, s *site) int {
	b.Helper()
	heard, leave := s.news.listen()
	defer leave()
	for {
		w := get(s, ui.SuitePath(t.suite.Namespace, t.suite.Name))
		switch body := w.Body.String(); {
		case w.Code != http.StatusOK:
			b.Fatalf("%d: %s", w.Code, body)
		case strings.Contains(body, "better, from"):
			return len(body)
		}
		<-heard
	}
}

func (t *thousand) figure(b *testing.B, name string, aim figures.Aim, note string) {
	b.Helper()
	took := float64(b.Elapsed()) / float64(time.Millisecond) / float64(b.N)
	b.ReportMetric(took, "ms/op")
	b.Log(figures.Of(name, took, "ms", aim, fmt.Sprintf("%d rounds, %d series with two changes each; %s", manyRounds, t.series, note)).Line())
}

func BenchmarkAThousandRounds(b *testing.B) {
	t := newThousand(b)
	b.Run("change points", func(b *testing.B) {
		for b.Loop() {
			history.Of(t.suite.Name, 0.03, t.values, nil)
		}
		t.figure(b, "suite-history-changes", figures.AtMost(1000), "of values that were read")
	})
	b.Run("another round", func(b *testing.B) {
		s, size := t.site(b, manyRounds-1), 0
		t.shown(b, s)
		for b.Loop() {
			b.StopTimer()
			s.runs.replace(t.runs[:manyRounds-1])
			t.shown(b, s)
			b.StartTimer()
			s.runs.replace(t.runs)
			size = t.shown(b, s)
		}
		t.figure(b, "suite-history-page", figures.AtMost(1000), fmt.Sprintf("a round has ended since the page was read last; %.1f MB", float64(size)/1e6))
	})
	b.Run("the same page", func(b *testing.B) {
		s := t.site(b, manyRounds)
		t.shown(b, s)
		for b.Loop() {
			t.shown(b, s)
		}
		t.figure(b, "suite-history-again", figures.AtMost(1000), "as it was made for somebody else")
	})
	b.Run("the first look", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			s := t.site(b, manyRounds)
			b.StartTimer()
			t.shown(b, s)
		}
		t.figure(b, "suite-history-first", figures.Aim{}, fmt.Sprintf("all reports are read, of %.0f kB each, from a store that answers at once", t.size/1e3))
	})
}
