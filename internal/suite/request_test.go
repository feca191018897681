package suite

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/suite/webhook"
)

func hooked(s *v1alpha1.BenchmarkSuiteSpec) {
	s.Triggers.Webhook = v1alpha1.WebhookTrigger{
		SecretRef: v1alpha1.KeyReference{Name: "checkout-hook", Key: "key"}, Parameters: []v1alpha1.PickedParameter{{Name: "image", Value: "body.image"}},
	}
}

// request adds a webhook request as its receiver does; text makes it unique.
func request(text, image string) func(*world) {
	return func(w *world) {
		before := webhook.Read(w.suite.Annotations[v1alpha1.AnnotationWebhook])
		values := []v1alpha1.ParameterValue{{Name: "image", Value: image}}
		annotate(v1alpha1.AnnotationWebhook, before.Then(digest(text), values, w.now.Add(webhook.Tolerance), w.now).Text())(w)
	}
}

func has(image string) func(*world) {
	return func(w *world) { w.digests[image], w.trouble = digest(image), Resolution{} }
}

func theWebhookIsCalled(t *testing.T) *world {
	t.Helper()
	lacks := func(w *world) {
		w.trouble = Resolution{Reason: v1alpha1.ReasonImageNotFound, Message: "shop does not have shop/checkout:2"}
	}
	w := newWorld(t, commit(hooked))
	w.step("the suite is applied")
	w.step("a request comes while its round is in progress", ends(well), has("shop/checkout:1"), request("a", "shop/checkout:1"))
	w.step("the round passes", ends(well))
	w.step("two more come: the newest counts", request("b", "shop/checkout:main"), request("c", "shop/checkout:2"), lacks)
	w.step("the round of the first passes: the image of the newest is missing", ends(well, well))
	w.step("the registry has it", has("shop/checkout:2"))
	w.step("its round misses an objective: the suite is judged by what is in Git", ends(well, missed))
	w.step("a round is asked for by hand: it has the defaults", annotate(v1alpha1.AnnotationRequestedAt, "1"))
	w.step("it passes", ends(well, well))
	w.step("the webhook gives the same image again", request("d", "shop/checkout:1"))
	w.step("that passes", ends(well, well))
	w.step("a request comes, and then a pattern which its value breaks", commit(suspend), request("e", "shop/checkout:1"), commit(func(s *v1alpha1.BenchmarkSuiteSpec) {
		s.Parameters[0].Pattern = "shop/checkout:main"
		resume(s)
	}))
	w.step("now a quota denies it", commit(func(s *v1alpha1.BenchmarkSuiteSpec) { s.Parameters[0].Pattern = "" }), func(w *world) { w.refusedCall = "exceeded quota: runs" })
	w.step("the webhook is taken away", commit(func(s *v1alpha1.BenchmarkSuiteSpec) { s.Triggers.Webhook = v1alpha1.WebhookTrigger{} }))
	return w
}

func theWebhookReplacesARound(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, commit(hooked), concurrency(v1alpha1.ConcurrencyReplace))
	w.step("the suite is applied")
	w.step("a request comes", has("shop/checkout:1"), request("a", "shop/checkout:1"))
	w.step("another comes", has("shop/checkout:2"), request("b", "shop/checkout:2"))
	w.step("its round passes: that of the change goes on", ends(well, well))
	w.step("a request comes again after it", ends(well, well), request("c", "shop/checkout:1"))
	w.step("another spec is committed", commit(faster))
	return w
}

func onlyTheWebhookIsATrigger(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, commit(hooked), concurrency(v1alpha1.ConcurrencySkip), func(w *world) { w.suite.Spec.Triggers.Change = v1alpha1.ChangeTrigger{} })
	w.step("the suite is applied")
	w.step("a request comes", request("a", "shop/checkout:1"))
	w.step("another is skipped", request("b", "shop/checkout:2"))
	w.step("the round passes", ends(well, well))
	w.step("the next", request("c", "shop/checkout:3"))
	w.step("misses an objective", ends(well, missed))
	return w
}

// A webhook's round is completed with its first values, whatever is requested later.
func TestARoundOfTheWebhookIsCompletedWithItsValues(t *testing.T) {
	w := newWorld(t, commit(hooked))
	w.step("the suite is applied, and its round passes")
	w.step("the round passes", ends(well, well))
	has("shop/checkout:1")(w)
	request("a", "shop/checkout:1")(w)
	w.apply(Decide(w.facts()), 1) // The operator dies after the first run.
	request("b", "shop/checkout:main")(w)
	w.step("another operator looks")
	for _, run := range w.runs[2:] {
		if image := run.Spec.Implementations[0].Image; !strings.HasPrefix(image, "shop/checkout:1@") {
			t.Errorf("%s measures %s", run.Name, image)
		}
	}
	if len(w.runs) != 4 || w.suite.Status.Current.Round != 2 || w.suite.Status.LastHandledWebhook == digest("b") {
		t.Errorf("there are %d runs, and the status is %+v", len(w.runs), w.suite.Status)
	}
}

// The status answers the sender, whatever happens to the runs.
func TestTheStatusNamesTheRequestOfARound(t *testing.T) {
	w := newWorld(t, commit(hooked))
	w.step("the suite is applied")
	w.step("a request comes, and the round passes", ends(well, well), has("shop/checkout:1"), request("a", "shop/checkout:1"))
	if current := w.suite.Status.Current; current.Round != 2 || current.Webhook != digest("a") {
		t.Errorf("in progress is %+v", current)
	}
	w.step("another comes, and the round of the first passes", ends(well, well), request("b", "shop/checkout:1"))
	w.runs = w.runs[:4]
	w.step("somebody deletes all runs of its round")
	named := map[int32]string{1: "", 2: digest("a"), 3: digest("b")}
	for _, line := range w.suite.Status.History {
		if line.Webhook != named[line.Round] || line.Round == 3 && line.Outcome != v1alpha1.RoundIncomplete {
			t.Errorf("of round %d the status has %+v", line.Round, line)
		}
	}
	if len(w.suite.Status.History) != len(named) || w.suite.Status.LastGood.Webhook != digest("a") {
		t.Errorf("the status is %+v", w.suite.Status)
	}
}

// byHand is a request with values by someone who may change the suite.
func byHand(text, image string) func(*world) {
	return func(w *world) {
		r := webhook.Read(w.suite.Annotations[v1alpha1.AnnotationWebhook])
		r = r.Then(digest(text), []v1alpha1.ParameterValue{{Name: "image", Value: image}}, w.now, w.now)
		r.ByHand = true
		annotate(v1alpha1.AnnotationWebhook, r.Text())(w)
	}
}

func TestRequestValuesWithoutWebhook(t *testing.T) {
	w := newWorld(t)
	w.step("the suite is applied")
	w.step("its round passes, and a request comes that no webhook can have taken", ends(well, well), has("shop/checkout:1"), request("a", "shop/checkout:1"))
	if w.suite.Status.Current.Round != 0 {
		t.Errorf("it starts %+v", w.suite.Status.Current)
	}
	w.step("one by hand gives an image", byHand("b", "shop/checkout:1"))
	c := w.suite.Status.Current
	if c.Round != 2 || c.Trigger != v1alpha1.TriggerRequest || c.Webhook != digest("b") || len(c.Parameters) != 1 || Answering(w.runs, digest("b")) != 2 {
		t.Errorf("in progress is %+v", c)
	}
	for _, run := range w.runs[2:] {
		if image := run.Spec.Implementations[0].Image; !strings.HasPrefix(image, "shop/checkout:1@") {
			t.Errorf("%s measures %s", run.Name, image)
		}
	}
	w.runs = w.runs[:2]
	w.step("somebody deletes its runs")
	if l := w.suite.Status.History[0]; l.Round != 2 || l.Inputs != "" || l.Outcome != v1alpha1.RoundIncomplete {
		t.Errorf("the round is remembered as %+v: what the suite has by itself was not measured", l)
	}
	w.step("an image that the registry lacks waits", away(v1alpha1.ReasonImageNotFound, "shop does not have shop/checkout:2"), byHand("c", "shop/checkout:2"))
	m := meta.FindStatusCondition(w.suite.Status.Conditions, v1alpha1.ConditionMeasuring)
	if m.Reason != v1alpha1.ReasonImageNotFound || !strings.HasPrefix(m.Message, "the request by hand with image=shop/checkout:2 waits: ") {
		t.Errorf("Measuring says %+v", m)
	}
}

func TestTheWebhookNeedsNoDefaultImage(t *testing.T) {
	w := newWorld(t, commit(hooked), away(v1alpha1.ReasonImageNotFound, "shop does not have shop/checkout:main"))
	w.step("the suite is applied")
	w.digests["shop/checkout:1"] = "sha256:11"
	request("a", "shop/checkout:1")(w)
	if d := Decide(w.facts()); len(d.Create) != 2 || d.Status.Current.Trigger != v1alpha1.TriggerWebhook {
		t.Errorf("%d runs are created, in progress is %+v", len(d.Create), d.Status.Current)
	}
}

func TestRequestIsValidatedBeforeAcceptance(t *testing.T) {
	for name, tc := range map[string]struct {
		given v1alpha1.ParameterValue
		want  string
	}{
		"a value that matches":            {v1alpha1.ParameterValue{Name: "image", Value: "shop/checkout:1"}, ""},
		"a value that breaks its pattern": {v1alpha1.ParameterValue{Name: "image", Value: "shop/checkout"}, `the value that the request gives to parameters[image] is "shop/checkout", which does not match its pattern [a-zA-Z/]+:[a-z0-9]+`},
		"a value with another line":       {v1alpha1.ParameterValue{Name: "image", Value: "shop/checkout:1\n"}, "which does not match its pattern"},
		"an unknown parameter":            {v1alpha1.ParameterValue{Name: "imgae", Value: "shop/checkout:1"}, "the request sets imgae, but the suite has no such parameter"},
		"what is no image":                {v1alpha1.ParameterValue{Name: "image", Value: "Shop/checkout:1"}, `the image "Shop/checkout:1" is not a valid reference`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, commit(hooked), commit(func(s *v1alpha1.BenchmarkSuiteSpec) { s.Parameters[0].Pattern = "[a-zA-Z/]+:[a-z0-9]+" }))
			_, faults := Check(w.suite, []v1alpha1.ParameterValue{tc.given}, noon)
			if tc.want == "" && len(faults) > 0 || tc.want != "" && (len(faults) != 1 || !strings.Contains(faults[0].Message, tc.want)) {
				t.Errorf("got %+v, want %q", faults, tc.want)
			}
		})
	}
}

// A quota that denies a request's round may be raised later, and only the API server knows. The suite's state stays.
func TestDeniedRequestWaits(t *testing.T) {
	w := newWorld(t, commit(hooked))
	w.step("the suite is applied")
	w.step("the round passes", ends(well, well))
	has("shop/checkout:1")(w)
	request("a", "shop/checkout:1")(w)
	f := w.facts()
	draft := Draft(f)
	if len(draft) != 2 {
		t.Fatalf("%d runs are shown to the API server", len(draft))
	}
	f.Refuse(draft[0], &Problem{Reason: v1alpha1.ReasonRunDenied, Message: "exceeded quota: runs"})
	d := Decide(f)
	measuring, ready := meta.FindStatusCondition(d.Status.Conditions, v1alpha1.ConditionMeasuring), meta.IsStatusConditionTrue(d.Status.Conditions, v1alpha1.ConditionReady)
	if measuring.Status != metav1.ConditionFalse || measuring.Reason != v1alpha1.ReasonRunDenied || !ready || len(d.Create) > 0 || d.After > time.Minute {
		t.Errorf("%+v, ready: %t, %d runs, again after %s", measuring, ready, len(d.Create), d.After)
	}
}

// A repeated request for an old measurement finds its outcome while the runs exist: no round begins for it.
func TestRepeatedRequestFindsRoundOutsideHistory(t *testing.T) {
	w := newWorld(t, commit(hooked), func(w *world) { many := int32(40); w.suite.Spec.History.Passed = &many })
	ask := func(text string) (webhook.Round, bool) {
		w.step(text+" is asked for", has("shop/checkout:1"), request(text, "shop/checkout:1"))
		return webhook.RoundOf(w.suite, digest(text))
	}
	w.step("the suite is applied")
	w.step("its round passes", ends(well, well))
	ask("a")
	w.step("its round passes", ends(well, well))
	for i := range maxLines + 1 {
		ask(strings.Repeat("b", i+1))
		w.step("its round passes", ends(well, well))
	}
	if come, known := webhook.RoundOf(w.suite, digest("a")); known {
		t.Fatalf("the history has it still: %+v", come)
	}
	if come, known := ask("a"); !known || come.Round != 2 || come.Outcome != v1alpha1.RoundPassed {
		t.Errorf("known: %t, and it has come to %+v", known, come)
	}
	if h := w.suite.Status.History; len(h) != maxLines || w.suite.Status.Current.Round != 0 || h[0].Round != maxLines+3 || h[maxLines-2].Round != 1 && h[maxLines-1].Round != 1 {
		t.Errorf("in progress is %+v, and the history has %d lines", w.suite.Status.Current, len(h))
	}
}
