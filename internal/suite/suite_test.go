package suite

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"loadstone.dev/loadstone/api/v1alpha1"
)

func TestParametersAreSubstituted(t *testing.T) {
	values := []v1alpha1.ParameterValue{{Name: "image", Value: "a:1"}, {Name: "n-2", Value: "7"}}
	for text, want := range map[string]string{
		"$(image)":           "a:1",
		"x$(n-2)y$(n-2)":     "x7y7",
		"$$(image)":          "$(image)",
		"$$$(image)":         "$$(image)",
		"$(other) $(date +)": "$(other) $(date +)",
		"$image":             "$image",
	} {
		if got := fill(text, values); got != want {
			t.Errorf("%s becomes %s, want %s", text, got, want)
		}
	}
	w := newWorld(t, func(w *world) {
		w.suite.Spec.Runs = []v1alpha1.SuiteRun{suiteRun("r", `{"implementations": [{"name": "$(image)", "image": "$(image)", "args": ["$(image)"],
			"command": ["$(image)"], "env": [{"name": "$(image)", "value": "$(image)"}], "files": [{"path": "/$(image)"}],
			"dependencies": [{"name": "$(image)", "image": "$(image)", "args": ["$(image)"]}]}], "baseline": "$(image)", "seed": 9007199254740991}`)}
	})
	in, problem := inputsOf(w.suite, nil, w.facts().Images)
	if problem != nil {
		t.Fatal(problem)
	}
	image, value := "shop/checkout:main", "shop/checkout:main"
	want := v1alpha1.BenchmarkRunSpec{Baseline: "$(image)", Seed: 9007199254740991, Implementations: []v1alpha1.Implementation{{
		Name: "$(image)", Image: image + "@sha256:aa", Command: []string{image},
		ContainerSettings: v1alpha1.ContainerSettings{
			Args: []string{image}, Env: []v1alpha1.Variable{{Name: "$(image)", Value: &value}}, Files: []v1alpha1.FileMount{{Path: "/$(image)"}},
		},
		Dependencies: []v1alpha1.Dependency{{Name: "$(image)", Image: image + "@sha256:aa", ContainerSettings: v1alpha1.ContainerSettings{Args: []string{image}}}},
	}}}
	if diff := cmp.Diff(want, in.specs[0]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestInvalidSuiteSpecStalls(t *testing.T) {
	schedule := func(s v1alpha1.Schedule) func(*v1alpha1.BenchmarkSuiteSpec) {
		return func(spec *v1alpha1.BenchmarkSuiteSpec) { spec.Triggers.Schedules = []v1alpha1.Schedule{s} }
	}
	for name, tc := range map[string]struct {
		change func(*v1alpha1.BenchmarkSuiteSpec)
		want   string
	}{
		"a value that breaks its pattern": {func(s *v1alpha1.BenchmarkSuiteSpec) { s.Parameters[0].Pattern = "shop/[a-z]+" }, `"shop/checkout:main", which does not match`},
		"a value of two lines":            {func(s *v1alpha1.BenchmarkSuiteSpec) { s.Parameters[0].Default = "a\nb" }, "does not match"},
		"no pattern":                      {func(s *v1alpha1.BenchmarkSuiteSpec) { s.Parameters[0].Pattern = "(" }, "not a regular expression"},
		"an image without its parameter":  {func(s *v1alpha1.BenchmarkSuiteSpec) { s.Parameters = nil }, "names an unknown parameter"},
		"no cron line":                    {schedule(v1alpha1.Schedule{Cron: "3 o'clock"}), "is not a schedule"},
		"a time that never comes":         {schedule(v1alpha1.Schedule{Cron: "0 0 30 2 *"}), "never matches"},
		"an unknown time zone":            {schedule(v1alpha1.Schedule{Cron: "@daily", TimeZone: "Europe/Bonn"}), "is unknown"},
		"the time zone of the operator":   {schedule(v1alpha1.Schedule{Cron: "@daily", TimeZone: "Local"}), "is unknown"},
		"a time zone in the cron line":    {schedule(v1alpha1.Schedule{Cron: "TZ=Asia/Tokyo 0 3 * * *"}), "set the time zone in timeZone"},
		"a webhook of another parameter": {func(s *v1alpha1.BenchmarkSuiteSpec) {
			hooked(s)
			s.Triggers.Webhook.Parameters[0].Name = "imgae"
		}, "triggers.webhook.parameters[imgae]: the suite has no such parameter"},
		"a webhook that does not compile": {func(s *v1alpha1.BenchmarkSuiteSpec) {
			hooked(s)
			s.Triggers.Webhook.Parameters[0].Value = "body.image +"
		}, "triggers.webhook.parameters[image].value is not a CEL expression"},
		"a sink that is no address": {func(s *v1alpha1.BenchmarkSuiteSpec) {
			s.Notifications = []v1alpha1.Notification{{Name: "events", URL: "events.example"}}
		}, "notifications[events].url must begin with http:// or https://"},
		"a repository of a parameter that is none": {func(s *v1alpha1.BenchmarkSuiteSpec) {
			s.Notifications = []v1alpha1.Notification{{Name: "forge", GitHub: v1alpha1.GitHubNotification{Repository: "a/b", CommitParameter: "comit"}}}
		}, "notifications[forge].gitHub.commitParameter is comit, but the suite has no such parameter"},
		"a template that is suspended": {func(s *v1alpha1.BenchmarkSuiteSpec) {
			s.Runs[0].Template.Spec.Raw = append([]byte(`{"suspend": true, `), bytes.TrimPrefix(bytes.TrimSpace(s.Runs[0].Template.Spec.Raw), []byte("{"))...)
		}, "].template: spec.suspend is true, and the runs of a suite are made when their round begins"},
		"an interval": {schedule(v1alpha1.Schedule{Cron: "@every 1h"}), "times instead of @every"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, commit(tc.change))
			d := Decide(w.facts())
			w.apply(d, always)
			if len(w.runs) > 0 || w.kstatus() != "Failed" || w.health() != "Degraded" {
				t.Errorf("%d runs were created, Flux reads %s and Argo CD %s", len(w.runs), w.kstatus(), w.health())
			}
			for _, c := range d.Status.Conditions {
				if c.Type == v1alpha1.ConditionReady && (c.Reason != v1alpha1.ReasonInvalidSpec || !strings.Contains(c.Message, tc.want)) {
					t.Errorf("Ready is %+v, want %q", c, tc.want)
				}
			}
		})
	}
}

func TestWhenToDecideAgain(t *testing.T) {
	for name, tc := range map[string]struct {
		deltas []func(*world)
		want   time.Duration
	}{
		"as often as the registry is asked": {nil, 10 * time.Minute},
		"as the suite says":                 {[]func(*world){func(w *world) { w.suite.Spec.Triggers.Change.IntervalSeconds = 60 }}, time.Minute},
		"soon, if it does not answer":       {[]func(*world){away(v1alpha1.ReasonRegistryUnavailable, "away")}, RetryImages},
		"at the next scheduled time":        {[]func(*world){nightly}, 14 * time.Hour},
		"never":                             {[]func(*world){func(w *world) { w.suite.Spec.Triggers.Change.Images = v1alpha1.ImagesAsWritten }}, 0},
	} {
		if got := Decide(newWorld(t, tc.deltas...).facts()).After; got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

func TestNamesHoldWhateverTheSuiteIsCalled(t *testing.T) {
	for name, want := range map[string]string{
		"checkout":                          "checkout-01234567-03",
		"a-suite-of-the-longest-name-there": "a-suite-of-the-l-01234567-03",
		"fifteen-letters-and-more":          "fifteen-letters-01234567-03",
	} {
		s := &v1alpha1.BenchmarkSuite{}
		s.Name = name
		if got := runName(s, "0123456789", 3); got != want || len(got) > 28 {
			t.Errorf("a run of %s is called %s, want %s", name, got, want)
		}
	}
}

// Readers copy these examples, so they must work.
func TestTheExamplesOfThePagesAreMeasured(t *testing.T) {
	var pages []byte
	for _, name := range []string{"reference/benchmarksuite.md", "how-to/pull-requests.md"} {
		page, err := os.ReadFile("../../docs/" + name)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, page...)
	}
	found := 0
	for _, example := range strings.Split(string(pages), "```yaml\n")[1:] {
		example, _, _ = strings.Cut(example, "```")
		var s v1alpha1.BenchmarkSuite
		if err := yaml.UnmarshalStrict([]byte(example), &s); err != nil {
			t.Errorf("%v:\n%s", err, example)
		}
		if _, faults := Check(&s, nil, noon); len(faults) > 0 {
			t.Errorf("%v:\n%s", faults, example)
		}
		found++
	}
	if found < 2 {
		t.Errorf("the pages have %d examples", found)
	}
}

func TestTheSampleIsMeasured(t *testing.T) {
	text, err := os.ReadFile("../../config/gitops/suite.yaml")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	before := w.suite.Status
	if err := yaml.UnmarshalStrict(text, w.suite); err != nil {
		t.Fatal(err)
	}
	w.suite.UID, w.suite.Generation, w.suite.Status = "u", 1, before
	w.step("it is applied")
	if len(w.runs) != 2 {
		t.Errorf("it makes %d runs:\n%s", len(w.runs), strings.Join(w.log, "\n"))
	}
}

func TestTheOutcomeOfARunIsItsExitCode(t *testing.T) {
	gated := func(r *v1alpha1.BenchmarkRun) { r.Spec.Objectives = []v1alpha1.Objective{{}} }
	for name, tc := range map[string]struct {
		ways []func(*v1alpha1.BenchmarkRun)
		want v1alpha1.RoundOutcome
	}{
		"every objective is met":                     {[]func(*v1alpha1.BenchmarkRun){gated, well}, v1alpha1.RoundPassed},
		"and a comparison without a verdict":         {[]func(*v1alpha1.BenchmarkRun){gated, endsAs("True", "Done", "", "False", v1alpha1.ReasonNoiseTooHigh)}, v1alpha1.RoundPassed},
		"an objective is missed":                     {[]func(*v1alpha1.BenchmarkRun){gated, missed}, v1alpha1.RoundMissed},
		"an objective is undecided":                  {[]func(*v1alpha1.BenchmarkRun){gated, undecided}, v1alpha1.RoundInconclusive},
		"nothing counts":                             {[]func(*v1alpha1.BenchmarkRun){gated, endsAs("True", "Done", "", "False", v1alpha1.ReasonNoValidResults)}, v1alpha1.RoundInconclusive},
		"no objective, and a verdict":                {[]func(*v1alpha1.BenchmarkRun){well}, v1alpha1.RoundPassed},
		"no objective, and no verdict":               {[]func(*v1alpha1.BenchmarkRun){endsAs("True", "Done", "", "False", v1alpha1.ReasonTooFewBlocks)}, v1alpha1.RoundInconclusive},
		"no objective, and nothing to compare":       {[]func(*v1alpha1.BenchmarkRun){endsAs("True", "Done", "", "False", v1alpha1.ReasonNothingToCompare)}, v1alpha1.RoundPassed},
		"its trials fail":                            {[]func(*v1alpha1.BenchmarkRun){gated, broken}, v1alpha1.RoundFailed},
		"nobody has said how it ended: that is none": {nil, v1alpha1.RoundFailed},
	} {
		run := &v1alpha1.BenchmarkRun{}
		for _, way := range tc.ways {
			way(run)
		}
		if got := endingOf(run); got.outcome != tc.want || got.reason == "" {
			t.Errorf("%s: %+v, want %s", name, got, tc.want)
		}
	}
}

// Rounds expire by age, except those that judge the suite; the places of good rounds are still remembered.
func TestRoundsHaveAnAge(t *testing.T) {
	const day = 24 * time.Hour
	w := newWorld(t, func(w *world) {
		w.suite.Spec.History.MaxAgeDays, w.suite.Spec.Triggers.Change.Images = 30, v1alpha1.ImagesAsWritten
	})
	round := func(n int, way func(*v1alpha1.BenchmarkRun)) {
		w.step("an image", after(day), commit(func(s *v1alpha1.BenchmarkSuiteSpec) { s.Parameters[0].Default = fmt.Sprint("shop/checkout:", n) }))
		w.step("its round ends", ends(way, way))
	}
	wants := func(when, want string) {
		t.Helper()
		var numbers []string
		for _, r := range roundsOf(w.runs) {
			numbers = append(numbers, fmt.Sprint(r.number))
		}
		if got := strings.Join(numbers, " "); got != want {
			t.Errorf("%s, rounds %s are there, want %s", when, got, want)
		}
	}
	round(1, well)
	first := w.now
	for n, way := range []func(*v1alpha1.BenchmarkRun){missed, well, missed} {
		round(n+2, way)
	}
	wants("on the fourth day", "4 3 2 1")
	d := Decide(w.facts())
	if want := first.Add(30 * day).Sub(w.now); d.After != want {
		t.Errorf("it looks again after %s, want %s", d.After, want)
	}
	w.step("a second before that", after(d.After-time.Second))
	wants("when the first is nearly too old", "4 3 2 1")
	w.step("and then", after(time.Second))
	wants("when the first is too old", "4 3 2")
	w.step("a quarter later", after(90*day))
	wants("when all are too old", "4 3")
	if d := Decide(w.facts()); d.After != 0 {
		t.Errorf("of rounds that stay anyway, it looks again after %s", d.After)
	}
	round(5, well)
	wants("when another is good", "5")
	var good []int32
	for _, g := range w.suite.Status.GoodRounds {
		good = append(good, g.Round)
	}
	if !slices.Equal(good, []int32{5, 3, 1}) {
		t.Errorf("good rounds are %d", good)
	}
}

// An invalid spec says nothing about inputs, so the judging round stays.
func TestTypoKeepsJudgingRound(t *testing.T) {
	w := newWorld(t, func(w *world) { w.suite.Spec.History.MaxAgeDays = 30 })
	w.step("the suite is applied")
	w.step("the round misses", ends(missed, missed))
	w.step("a month later, a typo", after(31*24*time.Hour), commit(typo))
	if len(w.runs) != 2 {
		t.Errorf("%d runs are left, want 2", len(w.runs))
	}
	w.step("it is mended", commit(asBefore))
	if s := w.suite.Status; len(w.created) != 2 || s.LastRound.Outcome != v1alpha1.RoundMissed {
		t.Errorf("runs %q were created, the last round is %+v", w.created, s.LastRound)
	}
}

// The last good round stays in the cluster, so its inputs are known when they return.
func TestLastGoodInputsAreKeptAcrossFailures(t *testing.T) {
	w := newWorld(t)
	w.step("the suite is applied")
	w.step("the round passes", ends(well, well))
	for i := range 2 * maxLines {
		w.step("another image is pushed", after(10*time.Minute), push(fmt.Sprintf("sha256:b%02d", i)))
		w.step("its round fails", ends(missed, well))
	}
	w.step("the first image is put back", after(10*time.Minute), push("sha256:aa"))
	w.step("the operator looks again")
	if c := meta.FindStatusCondition(w.suite.Status.Conditions, v1alpha1.ConditionReady); c == nil || c.Status != metav1.ConditionTrue {
		t.Errorf("the suite is ready: %+v", c)
	}
}

// Conditions describe the present: a verdict on an earlier spec is named as such, and a round in progress is
// mentioned.
func TestWithoutATriggerForChangesTheVerdictNamesItsSpec(t *testing.T) {
	w := newWorld(t, commit(func(s *v1alpha1.BenchmarkSuiteSpec) { s.Triggers.Change = v1alpha1.ChangeTrigger{} }))
	says := func(want string) {
		t.Helper()
		d := Decide(w.facts())
		if c := meta.FindStatusCondition(d.Status.Conditions, v1alpha1.ConditionReady); c.Status != metav1.ConditionTrue || !strings.Contains(c.Message, want) {
			t.Errorf("Ready is %s: %s, want %q", c.Status, c.Message, want)
		}
		w.apply(d, len(d.Create)+len(d.Delete)+1)
	}
	says("no round has a result yet: the next one waits for its trigger")
	suspend := true
	commit(func(s *v1alpha1.BenchmarkSuiteSpec) { s.Suspend = &suspend })(w)
	says("no round has a result yet: no round starts while spec.suspend is true")
	commit(func(s *v1alpha1.BenchmarkSuiteSpec) { s.Suspend = nil })(w)
	annotate(v1alpha1.AnnotationRequestedAt, "now")(w)
	says("no round has a result yet: round 1 is in progress")
	ends(well, well)(w)
	says("round 1: ")
	commit(func(s *v1alpha1.BenchmarkSuiteSpec) { s.Runs[0].Name += "-b" })(w)
	says("round 1, of an earlier spec, since no trigger follows changes: ")
}

func TestInvalidImageReferenceStalls(t *testing.T) {
	for image, want := range map[string]string{
		"Shop/Checkout:main:2": `the image "Shop/Checkout:main:2" is not a valid reference`,
		"./server":             "the image ./server is a local file: use an image reference that the cluster can pull",
	} {
		w := newWorld(t)
		w.suite.Spec.Runs = []v1alpha1.SuiteRun{suiteRun("r", `{"implementations": [{"name": "a", "image": "`+image+`"}]}`)}
		d := Decide(w.facts())
		c := meta.FindStatusCondition(d.Status.Conditions, v1alpha1.ConditionStalled)
		if c.Status != metav1.ConditionTrue || c.Reason != v1alpha1.ReasonInvalidSpec || !strings.Contains(c.Message, want) {
			t.Errorf("Stalled is %+v", c)
		}
	}
}

func TestDeniedRunsStallSuite(t *testing.T) {
	w := newWorld(t)
	f := w.facts()
	f.Refused = &Problem{Reason: v1alpha1.ReasonRunDenied, Message: "exceeded quota: runs"}
	d := Decide(f)
	c := meta.FindStatusCondition(d.Status.Conditions, v1alpha1.ConditionStalled)
	if c.Status != metav1.ConditionTrue || c.Reason != v1alpha1.ReasonRunDenied || c.Message != "exceeded quota: runs" || len(d.Create) > 0 || d.After != RetryRefused {
		t.Errorf("%+v, %d runs, again after %s", c, len(d.Create), d.After)
	}
	if d := Decide(w.facts()); len(d.Create) == 0 {
		t.Error("no round begins when the runs are denied no longer")
	}
}

func TestTheLastRoundIsTheOneThatEndedLast(t *testing.T) {
	noon := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	line := func(round int32, ended time.Duration) v1alpha1.SuiteRound {
		return v1alpha1.SuiteRound{Round: round, CompletionTime: &metav1.Time{Time: noon.Add(ended)}}
	}
	for name, tc := range map[string]struct {
		a, b   v1alpha1.SuiteRound
		sooner bool
	}{
		"a round after another":                      {line(1, 0), line(2, time.Hour), true},
		"a replaced round before one that goes on":   {line(2, 0), line(1, time.Hour), true},
		"a round that ends in the second of another": {line(1, 0), line(2, 0), true},
		"a round without an end":                     {v1alpha1.SuiteRound{Round: 9}, line(1, 0), true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := EndedBefore(tc.a, tc.b) < 0; got != tc.sooner || EndedBefore(tc.b, tc.a) < 0 == got {
				t.Errorf("%d ended before %d: %v", tc.a.Round, tc.b.Round, got)
			}
		})
	}
}

// An operator that dies between deleting a round's runs and writing the status leaves its end unreported.
func TestRoundWithoutRunsIsKept(t *testing.T) {
	for name, tc := range map[string]struct {
		concurrency v1alpha1.Concurrency
		want        v1alpha1.RoundOutcome
	}{
		"since another has replaced it": {v1alpha1.ConcurrencyReplace, v1alpha1.RoundReplaced},
		"since somebody has deleted it": {v1alpha1.ConcurrencyQueue, v1alpha1.RoundIncomplete},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, commit(func(s *v1alpha1.BenchmarkSuiteSpec) { s.Concurrency = tc.concurrency }))
			begun := Decide(w.facts())
			w.apply(begun, len(begun.Create))
			w.suite.Status, w.runs = begun.Status, nil
			commit(func(s *v1alpha1.BenchmarkSuiteSpec) { s.Runs[0].Name += "-b" })(w)
			d := Decide(w.facts())
			if h := d.Status.History; len(h) != 1 || h[0].Round != 1 || h[0].Outcome != tc.want || h[0].CompletionTime == nil || d.Status.Current.Round != 2 {
				t.Errorf("the history is %+v, in progress is %+v", h, d.Status.Current)
			}
		})
	}
}

// A suspended run blocks its round and the suite's next one; the status says how to resume.
func TestRoundNamesSuspendedRun(t *testing.T) {
	w := newWorld(t)
	w.step("the suite is applied")
	yes := true
	w.runs[0].Spec.Suspend = &yes
	w.step("somebody suspends its first run")
	says := func(want string) {
		t.Helper()
		if m := meta.FindStatusCondition(w.suite.Status.Conditions, v1alpha1.ConditionMeasuring); m.Message != want {
			t.Errorf("Measuring says %q, want %q", m.Message, want)
		}
	}
	waits := ", " + w.runs[0].Name + " does not start while its own spec.suspend is true"
	says("round 1 (Change): 0/2 runs have ended, " + w.runs[1].Name + " is next or measured" + waits)
	w.now = w.now.Add(10 * time.Minute)
	w.runs[1].Status.CompletionTime = &metav1.Time{Time: w.now}
	well(&w.runs[1])
	w.step("the other passes")
	says("round 1 (Change): 1/2 runs have ended" + waits)
	w.runs[0].Spec.Suspend = nil
	w.step("it is resumed")
	says("round 1 (Change): 1/2 runs have ended, " + w.runs[0].Name + " is next or measured")
}
