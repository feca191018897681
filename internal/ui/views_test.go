package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/suite/history"
)

func TestRunState(t *testing.T) {
	waits := func(r *v1alpha1.BenchmarkRun) { at := ago(time.Minute); r.Status.WaitingSince = &at }
	leaves := func(r *v1alpha1.BenchmarkRun) { at := ago(time.Minute); r.DeletionTimestamp = &at }
	gated := func(r *v1alpha1.BenchmarkRun) { r.Spec.Objectives = []v1alpha1.Objective{{}} }
	for name, tc := range map[string]struct {
		run  v1alpha1.BenchmarkRun
		want standing
	}{
		"it is new":                           {run("r", 1), standing{"New", "", tonePlain}},
		"it waits for its turn":               {run("r", 1, queued("")), standing{"Queued", "", tonePlain}},
		"it measures":                         {run("r", 1, measures("1m")), standing{"Measuring", "", toneLive}},
		"it waits for something that is away": {run("r", 1, measures("1m"), waits), standing{"Measuring", "", toneCare}},
		"it is deleted":                       {run("r", 1, measures("1m"), leaves), standing{"Deleting", "", tonePlain}},
		"it has a verdict":                    {run("r", 1, succeeds), standing{"Succeeded", "", toneGood}},
		"it has none":                         {run("r", 1, inconclusive), standing{"Succeeded", "noise too high", toneCare}},
		"its objectives are met all the same": {run("r", 1, inconclusive, gated), standing{"Succeeded", "", toneGood}},
		"its objectives are undecided":        {run("r", 1, ends("False", v1alpha1.ReasonObjectivesUndecided, "", "")), standing{"ObjectivesUndecided", "", toneCare}},
		"its objectives are missed":           {run("r", 1, ends("False", v1alpha1.ReasonObjectivesMissed, "", "")), standing{"ObjectivesMissed", "", toneBad}},
	} {
		if got := standingOf(&tc.run); got != tc.want {
			t.Errorf("%s: %+v, want %+v", name, got, tc.want)
		}
	}
}

func TestRoundState(t *testing.T) {
	for outcome, want := range map[v1alpha1.RoundOutcome]string{
		v1alpha1.RoundPassed: toneGood, v1alpha1.RoundMissed: toneBad, v1alpha1.RoundFailed: toneBad, v1alpha1.RoundInconclusive: toneCare,
		v1alpha1.RoundReplaced: tonePlain, v1alpha1.RoundIncomplete: tonePlain,
	} {
		if got := outcomeOf(outcome); got.Tone != want || got.Text != string(outcome) {
			t.Errorf("%s is %+v, want %s", outcome, got, want)
		}
	}
}

func TestBlocksAsTheyEnd(t *testing.T) {
	r := run("now", 20, measures("3m20s"))
	r.Status.Repeats.DisturbedBlocks = []int32{1}
	got := blocksOf(&r, Trials{All: someTrials()}, noon)
	want := &blocks{
		Done: 5, All: 12, Counted: "cells", Left: "3m20s", Now: "block 2 of 3: go, cell 1/2", Disturbed: "block 1 (PodLost)", ToCome: 1,
		Rows: []block{
			{Name: "block 1 of 3", Note: "disturbed", Ended: momentOf(noon.Add(-time.Minute), noon), Trials: []trial{
				{"go", standing{"measured", "", toneGood}}, {"epoll", standing{"failed", "the pod of the server was lost", toneBad}},
			}},
			{Name: "block 2 of 3", Trials: []trial{
				{"epoll", standing{"to come", "", tonePlain}}, {"go", standing{"measuring", "attempt 2, after: the pod of the server was lost", toneLive}},
			}},
		},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(trial{})); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
}

func TestTheStepsOfATrial(t *testing.T) {
	is := func(condition string) func(*v1alpha1.Trial) {
		return func(t *v1alpha1.Trial) {
			t.Status.Attempt = 1
			t.Status.Conditions = append(t.Status.Conditions, metav1.Condition{Type: condition, Status: metav1.ConditionTrue})
		}
	}
	begun := func(t *v1alpha1.Trial) { t.Status.Attempt = 1 }
	for want, one := range map[string]v1alpha1.Trial{
		"to come": trialOf(1, "go"), "preparing": trialOf(1, "go", begun), "measuring": trialOf(1, "go", is(v1alpha1.ConditionPrepared)),
		"storing": trialOf(1, "go", is(v1alpha1.ConditionPrepared), is(v1alpha1.ConditionMeasured)), "measured": trialOf(1, "go", stored(1)),
	} {
		if got := trialStanding(one).Text; got != want {
			t.Errorf("it is called %s, want %s", got, want)
		}
	}
}

func TestBlocksThatAreNotPlanned(t *testing.T) {
	r := run("now", 20, measures("3m20s"))
	unneeded := over(1, metav1.ConditionFalse, v1alpha1.ReasonStoppedEarly, "enough")
	got := blocksOf(&r, Trials{All: []v1alpha1.Trial{trialOf(3, "go", unneeded), trialOf(5, "go", stored(1)), trialOf(4, "go", stored(1))}}, noon)
	var rows []string
	for _, b := range got.Rows {
		rows = append(rows, b.Name+": "+b.Trials[0].Text)
	}
	if diff := cmp.Diff([]string{"block 3 of 3: not needed", "repeat block 1: measured", "repeat block 2: measured"}, rows); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
	waits := run("later", 1, queued(""))
	if got := blocksOf(&waits, Trials{}, noon); got != nil {
		t.Errorf("a run that has not begun has the blocks %+v", got)
	}
}

func TestPlacesInTheQueue(t *testing.T) {
	now, mute := run("now", 20, measures("3m20s")), run("mute", 12, queued(""))
	next, later := run("next", 10, queued("7m0s")), run("later", 5, queued("1m0s"))
	for name, tc := range map[string]struct {
		runs []v1alpha1.BenchmarkRun
		want string
	}{
		"behind one that measures":          {[]v1alpha1.BenchmarkRun{next, now, later}, "next 1 in about 3 min, at 12:03 UTC; later 2 in about 10 min, at 12:10 UTC"},
		"behind one that does not say":      {[]v1alpha1.BenchmarkRun{mute, next}, "mute first its turn has come; next 1 "},
		"behind two, of which one says":     {[]v1alpha1.BenchmarkRun{now, mute, next}, "mute 1 in about 3 min, at 12:03 UTC; next 2 in 3 min or more: not all before it say how long they take"},
		"none waits, and so nobody is told": {[]v1alpha1.BenchmarkRun{now}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, w := range Queue(frame(), tc.runs, nil).Data.(queueBody).Waiting {
				got = append(got, fmt.Sprintf("%s %s %s", w.Run.Name, w.Place, w.Begins))
			}
			if text := strings.Join(got, "; "); text != tc.want {
				t.Errorf("it shows %q, want %q", text, tc.want)
			}
		})
	}
}

// Places in a run's status come from the operator, which sees all. If a policy refuses a run's finalizer, the run is not queued, blocks no
// other run, and has no place.
func TestRunWithoutFinalizerIsShownOutsideQueue(t *testing.T) {
	refused := run("refused", 9, func(r *v1alpha1.BenchmarkRun) { r.Finalizers = nil })
	body := Queue(frame(), []v1alpha1.BenchmarkRun{refused, run("mine", 5, queued("1m0s")), run("now", 3, measures("3m20s"))}, nil).Data.(queueBody)
	var got []string
	for _, w := range body.Waiting {
		got = append(got, w.Run.Name+" "+w.Place)
	}
	if want := []string{"refused ", "mine 1"}; !slices.Equal(got, want) {
		t.Errorf("the places are %q, want %q", got, want)
	}
}

func TestUserOfOneNamespaceSeesNoPlaces(t *testing.T) {
	f := frame()
	f.Namespace = "bench"
	for _, w := range Queue(f, []v1alpha1.BenchmarkRun{run("now", 20, measures("1m")), run("next", 10, queued("1m"))}, nil).Data.(queueBody).Waiting {
		if w.Place != "" || w.Begins != "" || strings.Contains(w.Why, "place") {
			t.Errorf("it shows %+v", w)
		}
	}
}

// A run in an invisible namespace may be measuring.
func TestUserOfOneNamespaceSeesNoEmptyQueue(t *testing.T) {
	for namespace, want := range map[string]string{"": "The queue is empty", "bench": "No run of namespace bench measures or waits"} {
		f := frame()
		f.Namespace = namespace
		if out := string(html(t, Queue(f, []v1alpha1.BenchmarkRun{run("quick", 60, succeeds)}, nil))); !strings.Contains(out, want) {
			t.Errorf("it does not say %q: %s", want, out)
		}
	}
}

func TestARunOutsideTheQueueIsShown(t *testing.T) {
	body := Queue(frame(), []v1alpha1.BenchmarkRun{run("roomless", 30, waitsForNodes)}, nil).Data.(queueBody)
	if len(body.Waiting) != 0 || len(body.Beside) != 1 || body.Beside[0].Why != "NotEnoughCPUs: no node has two CPUs" {
		t.Errorf("it shows %+v", body)
	}
}

func TestALongListShowsTheNewest(t *testing.T) {
	var all []v1alpha1.BenchmarkRun
	for i := range mostRuns + 7 {
		all = append(all, run(fmt.Sprintf("r%03d", i), i))
	}
	body := Runs(frame(), all, "").Data.(runsBody)
	if len(body.Rows) != mostRuns || body.Older != "7" || body.Rows[0].Name != "r000" {
		t.Errorf("it shows %d, from %s, and %s older ones", len(body.Rows), body.Rows[0].Name, body.Older)
	}
}

func TestASuiteWhoseConditionIsOfAnOlderSpecIsPending(t *testing.T) {
	s := suite()
	s.Generation = 3
	if row := suiteRowOf(&s, noon); row.Standing.Text != v1alpha1.ReasonPending || row.Message != "" {
		t.Errorf("it is %+v", row)
	}
}

func TestARoundOfAPullRequestNamesIt(t *testing.T) {
	s := v1alpha1.BenchmarkSuite{Status: v1alpha1.BenchmarkSuiteStatus{Current: v1alpha1.CurrentRound{Round: 5, PullRequest: "7", Progress: "1/2"}}}
	if got, want := suiteRowOf(&s, time.Time{}).Measuring, "round 5 of pull request 7, 1/2 runs ended"; got != want {
		t.Errorf("it measures %q, want %q", got, want)
	}
	for pull, want := range map[string]string{"": "Webhook", "7": "Webhook, pull request 7"} {
		if got := roundOf(v1alpha1.SuiteRound{Trigger: v1alpha1.TriggerWebhook, PullRequest: pull}, nil, time.Time{}).Trigger; got != want {
			t.Errorf("it was triggered by %q, want %q", got, want)
		}
	}
}

func TestTheAxisOfACourseHoldsItsValues(t *testing.T) {
	for name, tc := range map[string]struct {
		low, high float64
		want      string
	}{
		"ratios near each other": {1.199, 1.201, "1.16 1.18 1.20 1.22 1.24"},
		"a step":                 {1.2, 1.44, "1.2 1.3 1.4 1.5"},
		"thousands":              {88_000, 91_000, "87000 88000 89000 90000 91000 92000"},
		"one value":              {2, 2, "1.96 1.98 2.00 2.02 2.04"},
		"nothing":                {0, 0, "0.00 0.25 0.50 0.75 1.00"},
	} {
		t.Run(name, func(t *testing.T) {
			ticks, decimals := axis(tc.low, tc.high)
			var got []string
			for _, v := range ticks {
				got = append(got, fmt.Sprintf("%.*f", decimals, v))
			}
			if ticks[0] > tc.low+1e-9 || ticks[len(ticks)-1] < tc.high-1e-9 {
				t.Errorf("from %v to %v it has %v", tc.low, tc.high, ticks)
			}
			if text := strings.Join(got, " "); text != tc.want {
				t.Errorf("it has %q, want %q", text, tc.want)
			}
		})
	}
}

func TestACourseShowsItsChangesAndBreaks(t *testing.T) {
	h := slowed()
	s := h.Series[0]
	for _, one := range h.Series {
		if len(one.Points) > 0 {
			s = one
		}
	}
	if len(s.Points) != 1 || s.Points[0].Round != 12 {
		t.Fatalf("its change points are %+v", s.Points)
	}
	s.Breaks = []history.Break{{Round: 5, Why: "another machine"}}
	count := map[string]int{}
	for _, m := range drawn(s).Plot {
		count[m.Kind+" "+m.Class]++
		if m.Kind == "text" && strings.Contains(m.Class, "change") && m.Text != "round 12: worse" {
			t.Errorf("the change is called %q", m.Text)
		}
	}
	for what, want := range map[string]int{"circle point c0": 20, "line change worse": 1, "text tick change worse": 1, "line break": 1, "line mean c0": 2, "curve curve thin course c0": 2} {
		if count[what] != want {
			t.Errorf("it has %d of %s, want %d: %v", count[what], what, want, count)
		}
	}
	c := courseOf(s, "values-1")
	if len(c.Values) != 20 || c.Values[0].Round != 20 || len(c.Changes) != 1 || !strings.Contains(c.Chart.Name, c.Changes[0]) {
		t.Errorf("it says %+v", c)
	}
}

func TestAHistoryOfOneRoundIsDrawn(t *testing.T) {
	body := historyOf(Course{History: historyOfRounds(1, 9)})
	if len(body.Groups) == 0 || !strings.HasPrefix(body.Groups[0].All[0].Young, "not enough rounds yet: 1 of ") || len(body.Losses) > 0 {
		t.Errorf("it shows %+v", body)
	}
}

func TestAAShowsIntervalsWithoutZero(t *testing.T) {
	other := aaRunsOf(2, "bench-2, AMD EPYC")
	other[0].Fingerprint, other[0].Started = "fedcba9876543210", noon
	body := Noise(frame(), AASeries{Runs: append(aaRunsOf(5, "bench-1, AMD EPYC"), other[0])}).Data.(noiseBody)
	var got []string
	for _, m := range body.Machines {
		count := map[string]int{}
		for _, c := range m.Charts {
			for _, mark := range c.Plot {
				count[mark.Kind+" "+mark.Class]++
			}
		}
		got = append(got, fmt.Sprintf("%s: %s %d charts, %d rows, the newest of %s, %d dots, %d diamonds", m.Name, m.Says, len(m.Charts), len(m.Rows), m.Rows[0].Run.Text, count["circle point c0"], count["diamond point off"]))
	}
	want := []string{
		"bench-2, AMD EPYC (fedcba9876543210): 0 of 1 intervals leave out 0 %. By chance, about 1 in 100 does, or a little more; those of one run tend to go together. 1 charts, 1 rows, the newest of aa-1, 1 dots, 0 diamonds",
		"bench-1, AMD EPYC (0123456789abcdef): 2 of 9 intervals leave out 0 %. By chance, about 1 in 100 does, or a little more; those of one run tend to go together. 2 charts, 9 rows, the newest of aa-5, 7 dots, 2 diamonds",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("machines (-want +got):\n%s", diff)
	}
	notes := []string{"bench/shared is left out: 7 of its cells ran", "bench/aa-1 shows 1 of 2 values: a load generator limited or hid the others"}
	for _, want := range notes {
		if !slices.ContainsFunc(body.Notes, func(n string) bool { return strings.HasPrefix(n, want) }) {
			t.Errorf("no note begins with %q: %q", want, body.Notes)
		}
	}
}

func TestNewestAARuns(t *testing.T) {
	twice := func(r *v1alpha1.BenchmarkRun) { r.Spec.Implementations[1].Image = r.Spec.Implementations[0].Image }
	all := []v1alpha1.BenchmarkRun{run("other", 1, succeeds), run("measuring", 1, measures("1m"), twice)}
	for i := range mostAA + 3 {
		r := run(fmt.Sprintf("aa-%03d", i), 1, succeeds, twice)
		ended := ago(time.Duration(i) * time.Hour)
		r.Status.CompletionTime = &ended
		all = append(all, r)
	}
	got := AARuns(all)
	if len(got) != mostAA || got[0].Name != "aa-199" || got[len(got)-1].Name != "aa-000" {
		t.Errorf("there are %d, from %s to %s", len(got), got[0].Name, got[len(got)-1].Name)
	}
}
