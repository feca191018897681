package suite

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/suite/notify"
	"loadstone.dev/loadstone/internal/suite/webhook"
)

// knows sets a commit in the spec, and a repository that hears of it.
func knows(digit string) func(*v1alpha1.BenchmarkSuiteSpec) {
	return func(s *v1alpha1.BenchmarkSuiteSpec) {
		s.Parameters = []v1alpha1.Parameter{s.Parameters[0], {Name: "commit", Default: strings.Repeat(digit, 40)}}
		s.Notifications = []v1alpha1.Notification{{Name: "forge", GitHub: v1alpha1.GitHubNotification{Repository: "shop/checkout", CommitParameter: "commit"}}}
	}
}

func commitOf(d notify.Due) string {
	i := slices.IndexFunc(d.Round.Noted, func(v v1alpha1.ParameterValue) bool { return v.Name == "commit" })
	return d.Round.Noted[i].Value
}

// hear tells the repository everything, logs it and returns it.
func (w *world) hear() []notify.Due {
	w.t.Helper()
	var heard []notify.Due
	w.suite.Status = notify.Remember(w.suite, nil, w.now)
	for {
		due, _ := notify.Next(w.suite, w.now, func(line v1alpha1.SuiteRound) time.Duration { return Held(w.suite, line, w.now) })
		if len(due) == 0 {
			return heard
		}
		heard = append(heard, due[0])
		e := Told(w.suite, w.runs, due[0].Round)
		e.Data.MeasuredBefore = due[0].FirstSeenTime != nil
		status := notify.StatusOf(e, due[0].Sink, w.suite.Spec.Gate)
		w.log = append(w.log, fmt.Sprintf("   GitHub: commit %.7s: %s: %s", commitOf(due[0]), status.State, status.Description))
		w.suite.Status = notify.Remember(w.suite, []notify.Answer{{Due: due[0]}}, w.now)
	}
}

func (w *world) hears(title string, changes ...func(*world)) {
	w.t.Helper()
	w.step(title, changes...)
	w.hear()
}

func (w *world) wantHeard(want ...string) {
	w.t.Helper()
	var heard []string
	for _, line := range w.log {
		if said, ok := strings.CutPrefix(line, "   GitHub: commit "); ok {
			heard = append(heard, said)
		}
	}
	if !slices.Equal(heard, want) {
		w.t.Errorf("the repository is told %q, want %q", heard, want)
	}
}

func aCommitIsReverted(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, commit(knows("1")))
	w.hears("the suite is applied")
	w.hears("its round passes", ends(well, well))
	w.hears("the next commit makes it slower", commit(knows("2")), commit(faster))
	w.hears("its round misses an objective", ends(missed, well))
	w.hears("it is reverted: those inputs are known", commit(knows("3")), commit(asBefore))
	w.hears("it is applied again", commit(knows("3")))
	w.hears("another commit changes nothing that is measured", commit(knows("4")), after(48*time.Hour))
	w.hears("a typo is committed: nobody knows what it would measure", commit(knows("5")), commit(typo))
	w.hears("it is repaired", commit(knows("6")), commit(asBefore))
	w.hears("the registry is away when another comes: its image may be another", away(v1alpha1.ReasonRegistryUnavailable, "shop: connection refused"), commit(knows("7")))
	w.hears("it is back", func(w *world) { w.digests = map[string]string{} }, push("sha256:aa"))
	w.hears("another image is pushed", push("sha256:bb"))
	w.hears("a commit changes nothing while it is measured", ends(well), commit(knows("8")))
	w.hears("the round passes", ends(well))
	w.hears("the image is put back", push("sha256:aa"))
	return w
}

// Requests by pull requests and pipelines are always measured, and told by their own rounds.
func TestRequestIsMeasuredDespiteKnownInputs(t *testing.T) {
	w := newWorld(t, commit(forged))
	w.hears("the suite is applied")
	w.hears("its round passes", ends(well, well))
	w.hears("a pull request comes that changes nothing", func(w *world) {
		values := []v1alpha1.ParameterValue{{Name: "commit", Value: strings.Repeat("7", 40)}, {Name: "pull", Value: "7"}}
		annotate(v1alpha1.AnnotationWebhook, webhook.Read("").Then(digest("a"), values, w.now.Add(webhook.Tolerance), w.now).Text())(w)
	})
	w.hears("its round misses an objective", ends(missed, well))
	if s := w.suite.Status; s.LastRound.Round != 1 || s.History[0].PullRequest != "7" || s.History[0].Inputs != s.Inputs.Hash || len(s.MeasuredBefore) > 0 {
		t.Errorf("the status is %+v", s)
	}
	w.wantHeard("7777777: failure: missed: small: throughput 0.81 of anchor's, at least 0.9 wanted")
}

// If no change starts a round, Git does not identify the measured images: a tag may have moved.
func TestCommitGetsNoStatusWithoutChangeTrigger(t *testing.T) {
	w := newWorld(t, commit(knows("1")), nightly)
	w.hears("the suite is applied")
	w.hears("its night comes", after(14*time.Hour))
	w.hears("the round passes", ends(well, well))
	w.hears("another commit comes", commit(knows("2")))
	w.wantHeard("1111111: success: passed: small: all objectives met; large: all objectives met")
}

// With equal inputs, a commit can still change what a run measures if the inputs only name it.
func TestCommitsMeasuredBefore(t *testing.T) {
	const first = "1111111: success: passed: small: all objectives met; large: all objectives met"
	asWritten := func(s *v1alpha1.BenchmarkSuiteSpec) { s.Triggers.Change.Images = v1alpha1.ImagesAsWritten }
	byDigest := func(s *v1alpha1.BenchmarkSuiteSpec) { s.Parameters[0].Default = "shop/checkout@sha256:aa" }
	adds := func(place, more string) func(*v1alpha1.BenchmarkSuiteSpec) {
		return func(s *v1alpha1.BenchmarkSuiteSpec) {
			s.Runs[0] = suiteRun("small", strings.Replace(template, place, place+more, 1))
		}
	}
	for name, tc := range map[string]struct {
		spec  []func(*v1alpha1.BenchmarkSuiteSpec)
		hears bool
	}{
		"a tag is resolved":                   {nil, true},
		"a tag is taken as it is written":     {[]func(*v1alpha1.BenchmarkSuiteSpec){asWritten}, false},
		"a digest is taken as it is written":  {[]func(*v1alpha1.BenchmarkSuiteSpec){asWritten, byDigest}, true},
		"a script is in a ConfigMap":          {[]func(*v1alpha1.BenchmarkSuiteSpec){adds(`"tool": "wrk", `, `"script": {"configMap": "scripts", "key": "browse.lua"}, `)}, false},
		"variables are in a ConfigMap":        {[]func(*v1alpha1.BenchmarkSuiteSpec){adds(`"name": "candidate", `, `"envFrom": [{"kind": "ConfigMap", "name": "settings"}], `)}, false},
		"an image is pulled by a Secret":      {[]func(*v1alpha1.BenchmarkSuiteSpec){adds(`"name": "candidate", `, `"imagePullSecrets": [{"name": "registry"}], `)}, true},
		"a variable has its value in the run": {[]func(*v1alpha1.BenchmarkSuiteSpec){adds(`"name": "candidate", `, `"env": [{"name": "A", "value": "1"}], `)}, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, commit(knows("1")))
			for _, change := range tc.spec {
				commit(change)(w)
			}
			w.hears("the suite is applied")
			w.hears("another commit comes while its round is measured", ends(well), commit(knows("2")))
			w.hears("it passes", ends(well))
			w.hears("a third comes", commit(knows("3")))
			want := []string{first}
			if tc.hears {
				const same = ": success: measured before, in round 1: passed: small: all objectives met; large: all objectives met"
				want = append(want, "2222222"+same, "3333333"+same)
			}
			w.wantHeard(want...)
		})
	}
}

// A round with given values says nothing about the spec's commit, which has another image.
func TestRequestedRoundIsSentToRequestedCommit(t *testing.T) {
	w := newWorld(t, commit(knows("1")))
	w.hears("the suite is applied")
	w.hears("its round passes", ends(well, well))
	w.hears("somebody tries another image", has("shop/checkout:1"), byHand("a", "shop/checkout:1"))
	w.hears("it misses an objective", ends(missed, well))
	w.hears("somebody tries it again, and says of which commit it is", func(w *world) {
		byHand("b", "shop/checkout:1")(w)
		r := webhook.Read(w.suite.Annotations[v1alpha1.AnnotationWebhook])
		r.Parameters = append(r.Parameters, v1alpha1.ParameterValue{Name: "commit", Value: strings.Repeat("7", 40)})
		annotate(v1alpha1.AnnotationWebhook, r.Text())(w)
	})
	w.hears("it misses an objective", ends(missed, well))
	w.wantHeard("1111111: success: passed: small: all objectives met; large: all objectives met",
		"7777777: failure: missed: small: throughput 0.81 of anchor's, at least 0.9 wanted")
}

// A commit's newest news always shows the state of its inputs, and nothing is sent twice.
func TestCommitStatusFollowsItsInputs(t *testing.T) {
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 3))
		w := newWorld(t, commit(hooked), has("shop/checkout:1"), has("shop/checkout:2"), commit(knows("0")))
		w.suite.Spec.Concurrency = []v1alpha1.Concurrency{"", v1alpha1.ConcurrencyReplace, v1alpha1.ConcurrencySkip}[seed%3]
		heard := map[string][]notify.Due{}
		for step := range 60 {
			if random.IntN(3) == 0 {
				commit(knows(fmt.Sprint(random.IntN(5))))(w)
			} else {
				events(w, random)
			}
			for range 2 { // The repository is known at the first.
				w.apply(Decide(w.facts()), always)
				for _, d := range w.hear() {
					before := newest(heard[commitOf(d)])
					if d.FirstSeenTime != nil && before.Inputs == d.Round.Inputs && isResult(before.Outcome) {
						t.Fatalf("seed %d, step %d: a commit that has heard of round %d hears the same of round %d", seed, step, before.Round, d.Round.Round)
					}
					heard[commitOf(d)] = append(heard[commitOf(d)], d)
				}
			}
			w.isSettled(fmt.Sprintf("seed %d, step %d", seed, step))
			judged := toldBy(w.suite).result()
			if ready := meta.FindStatusCondition(w.suite.Status.Conditions, v1alpha1.ConditionReady); judged == nil || ready.Reason == v1alpha1.ReasonInvalidSpec {
				continue
			}
			if last := newest(heard[w.suite.Spec.Parameters[1].Default]); last.Inputs != judged.Inputs || !isResult(last.Outcome) {
				t.Fatalf("seed %d, step %d: the suite is judged by round %d, and its commit has heard of round %d last", seed, step, judged.Round, last.Round)
			}
		}
	}
}

// newest is always of the suite's own rounds, since no request gives a commit here.
func newest(heard []notify.Due) v1alpha1.SuiteRound {
	if len(heard) == 0 {
		return v1alpha1.SuiteRound{}
	}
	return heard[len(heard)-1].Round
}
