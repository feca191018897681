package suite

import (
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/suite/notify"
	"loadstone.dev/loadstone/internal/suite/webhook"
)

// forged adds a webhook for image and number of pull requests.
func forged(s *v1alpha1.BenchmarkSuiteSpec) {
	hooked(s)
	s.Parameters = append(s.Parameters, v1alpha1.Parameter{Name: "commit", Default: "none"}, v1alpha1.Parameter{Name: "pull", Default: "none"})
	s.Triggers.Webhook.Parameters = append(s.Triggers.Webhook.Parameters, v1alpha1.PickedParameter{Name: "pull", Value: "body.pull"})
	s.Notifications = []v1alpha1.Notification{{Name: "forge", GitHub: v1alpha1.GitHubNotification{
		Repository: "shop/checkout", SecretRef: v1alpha1.KeyReference{Name: "forge", Key: "token"}, CommitParameter: "commit", PullRequestParameter: "pull",
	}}}
}

// pull requests the measurement of a pull request's image, which the registry has.
func pull(text, number, image string) func(*world) {
	return func(w *world) {
		has(image)(w)
		before := webhook.Read(w.suite.Annotations[v1alpha1.AnnotationWebhook])
		values := []v1alpha1.ParameterValue{{Name: "image", Value: image}, {Name: "pull", Value: number}}
		annotate(v1alpha1.AnnotationWebhook, before.Then(digest(text), values, w.now.Add(webhook.Tolerance), w.now).Text())(w)
	}
}

func pullRequestsAreMeasured(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, compares(3), remembers("small"), commit(forged))
	w.step("the suite is applied")
	w.step("its round passes", ends(well))
	w.step("a pull request is compared with it and the two before", pull("a", "7", "shop/checkout:7"))
	w.step("it passes, and is not the last good one", ends(well))
	w.step("it is merged: its inputs are the suite's own now, and new", commit(func(s *v1alpha1.BenchmarkSuiteSpec) { s.Parameters[0].Default = "shop/checkout:7" }))
	w.step("the round passes", ends(well))
	w.step("another is compared with the newest three", pull("b", "8", "shop/checkout:8"))
	w.step("it is slower: the suite stands as it stood", ends(slower))
	w.step("the pipeline of the main branch names no pull request", pull("c", "none", "shop/checkout:9"))
	w.step("its round is one of the last good ones", ends(well))
	return w
}

// lastNumbers are of the last round, the last good one and the rounds in the history of values.
func (w *world) lastNumbers() [3][]int32 {
	var measured []int32
	for _, m := range MeasuredBy(w.suite, w.runs) {
		measured = append(measured, m.Round)
	}
	return [3][]int32{{w.suite.Status.LastRound.Round}, {w.suite.Status.LastGood.Round}, slices.Compact(measured)}
}

func (w *world) wantLast(last, good int32, measured ...int32) {
	w.t.Helper()
	want, got := [3][]int32{{last}, {good}, measured}, w.lastNumbers()
	for i, what := range []string{"the last round", "the last good one", "the history of values"} {
		if !slices.Equal(got[i], want[i]) {
			w.t.Errorf("%s is %d, want %d", what, got[i], want[i])
		}
	}
}

// A suite that only the webhook starts is judged by its main branch, not by pull requests.
func TestPullRequestRoundDoesNotJudgeSuite(t *testing.T) {
	w := newWorld(t, commit(forged), func(w *world) { w.suite.Spec.Triggers.Change = v1alpha1.ChangeTrigger{} })
	w.step("the suite is applied")
	w.step("a pull request comes", pull("a", "7", "shop/checkout:7"))
	if c := w.suite.Status.Current; c.PullRequest != "7" {
		t.Errorf("in progress is %+v", c)
	}
	w.step("it misses an objective", ends(well, missed))
	w.wantLast(0, 0)
	if l := w.suite.Status.History[0]; l.PullRequest != "7" || l.Outcome != v1alpha1.RoundMissed || w.kstatus() != "Current" {
		t.Errorf("the history begins with %+v, and for Flux the suite is %s", l, w.kstatus())
	}
	want := "no round of the suite's own has a result yet: the next one waits for its trigger"
	if ready := meta.FindStatusCondition(w.suite.Status.Conditions, v1alpha1.ConditionReady); ready.Message != want {
		t.Errorf("Ready says %q, want %q", ready.Message, want)
	}
	e := w.told()
	if e.Data.PullRequest != "7" || *e.Data.Gate != (notify.Gate{Ready: metav1.ConditionUnknown, Reason: v1alpha1.ReasonPending, Message: "rounds of pull requests do not judge the suite"}) {
		t.Errorf("it is told with %+v, the gate %+v", e.Data, e.Data.Gate)
	}
	w.step("the main branch comes", pull("b", "none", "shop/checkout:8"))
	w.step("it passes", ends(well, well))
	w.wantLast(2, 2, 2)
	w.step("a pull request comes", pull("c", "9", "shop/checkout:9"))
	w.step("its runs are deleted", func(w *world) {
		w.runs = slices.DeleteFunc(w.runs, func(r v1alpha1.BenchmarkRun) bool { return r.Labels[v1alpha1.LabelRound] == "3" })
	})
	w.wantLast(2, 2, 2)
	if l := w.suite.Status.History[0]; l.PullRequest != "9" || l.Outcome != v1alpha1.RoundIncomplete {
		t.Errorf("the history begins with %+v", l)
	}
}

// A pull request waits for the suite's own rounds and answers none of the suite's requests.
func TestPullRequestReplacesOnlyPullRequests(t *testing.T) {
	w := newWorld(t, commit(forged), concurrency(v1alpha1.ConcurrencyReplace))
	w.step("the suite is applied")
	w.step("a pull request comes while its round is in progress", ends(well), pull("a", "7", "shop/checkout:7"))
	w.step("the round passes, and that of the pull request begins", ends(well))
	w.wantLast(1, 1, 1)
	w.step("a newer one replaces it", pull("b", "7", "shop/checkout:8"))
	if s := w.suite.Status; s.Current.Round != 3 || s.History[0].Outcome != v1alpha1.RoundReplaced {
		t.Errorf("in progress is %+v, and the history begins with %+v", s.Current, s.History[0])
	}
	w.step("that passes", ends(well, well))
	w.step("a round is asked for by hand, and another pull request comes", annotate(v1alpha1.AnnotationRequestedAt, "1"), pull("c", "9", "shop/checkout:9"))
	if c := w.suite.Status.Current; c.Round != 4 || c.Trigger != v1alpha1.TriggerRequest {
		t.Errorf("in progress is %+v", c)
	}
	w.step("it misses an objective, and the pull request comes after it", ends(well, missed))
	w.wantLast(4, 1, 1, 4)
	if c := w.suite.Status.Current; c.PullRequest != "9" {
		t.Errorf("in progress is %+v", c)
	}
}

func TestPullRequestReplacesNoRoundOfSuite(t *testing.T) {
	two, none := int32(2), int32(0)
	w := newWorld(t, compares(3), commit(forged), func(w *world) { w.suite.Spec.History = v1alpha1.History{Passed: &two, Failed: &none} })
	w.step("the suite is applied")
	w.step("its round passes", ends(well))
	w.step("another image is pushed", push("sha256:bb"))
	w.step("its round passes", ends(well))
	for _, number := range []string{"7", "8", "9"} {
		w.step("a pull request comes", pull(number, number, "shop/checkout:"+number))
		w.step("it passes", ends(well))
	}
	var there []string
	for _, r := range roundsOf(w.runs) {
		there = append(there, r.PullRequest)
	}
	if !slices.Equal(there, []string{"9", "8", "", ""}) {
		t.Errorf("the rounds that stay are of the pull requests %q", there)
	}
	w.wantLast(2, 2, 1, 2)
}

// Skip drops nothing of the suite's own for a pull request: it is measured after that round.
func TestPullRequestSkipsNoRoundOfSuite(t *testing.T) {
	scheduled := func(s *v1alpha1.BenchmarkSuiteSpec) { s.Triggers.Schedules = []v1alpha1.Schedule{{Cron: "0 13 * * *"}} }
	for name, tc := range map[string]struct {
		comes func(*world)
		// want is the next round's trigger; empty if none begins.
		want v1alpha1.Trigger
	}{
		"a scheduled time waits":                {after(time.Hour), v1alpha1.TriggerSchedule},
		"a request by hand waits":               {annotate(v1alpha1.AnnotationRequestedAt, "1"), v1alpha1.TriggerRequest},
		"what Flux asks for waits":              {annotate(v1alpha1.AnnotationReconcileAt, "1"), v1alpha1.TriggerRequest},
		"what the main branch asks for waits":   {pull("b", "none", "shop/checkout:8"), v1alpha1.TriggerWebhook},
		"another pull request is dropped":       {pull("b", "8", "shop/checkout:8"), ""},
		"the suite's own goes before the other": {func(w *world) { annotate(v1alpha1.AnnotationRequestedAt, "1")(w); pull("b", "8", "shop/checkout:8")(w) }, v1alpha1.TriggerRequest},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, commit(forged), commit(scheduled), concurrency(v1alpha1.ConcurrencySkip))
			w.step("the suite is applied")
			w.step("its round passes", ends(well, well))
			w.step("a pull request comes", pull("a", "7", "shop/checkout:7"))
			w.step("something comes while it is measured", tc.comes)
			if c := w.suite.Status.Current; c.PullRequest != "7" {
				t.Fatalf("in progress is %+v", c)
			}
			w.step("its round passes", ends(well, well))
			if c := w.suite.Status.Current; c.Trigger != tc.want || c.PullRequest != "" {
				t.Errorf("in progress is %+v, want one by %q", c, tc.want)
			}
		})
	}
}
