package suite

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/suite/webhook"
	"loadstone.dev/loadstone/test/gitops"
)

var update = flag.Bool("update", false, "write golden files")

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// world is a cluster and a registry in memory, with a log.
type world struct {
	t     *testing.T
	suite *v1alpha1.BenchmarkSuite
	runs  []v1alpha1.BenchmarkRun
	now   time.Time
	// digests is the registry's content; missing images get trouble.
	digests map[string]string
	trouble Resolution
	refused string
	// refusedCall is why the API server refuses webhook rounds; empty if it does not.
	refusedCall string
	// created are the names of all runs ever, in order.
	created []string
	log     []string
}

const template = `{
	"implementations": [{"name": "candidate", "image": "$(image)", "port": 8080}, {"name": "anchor", "image": "anchor@sha256:0a", "port": 8080}],
	"baseline": "anchor",
	"loads": [{"name": "sweep", "tool": "wrk", "levels": [{"connections": 10}]}],
	"objectives": [{"metric": "RatioToBaseline", "of": "Throughput", "min": "0.9"}]
}`

func suiteRun(name, spec string) v1alpha1.SuiteRun {
	return v1alpha1.SuiteRun{Name: name, Template: v1alpha1.RunTemplate{Spec: apiextensionsv1.JSON{Raw: []byte(spec)}}}
}

// newWorld has a suite of two runs that follows changes, and its image.
func newWorld(t *testing.T, deltas ...func(*world)) *world {
	t.Helper()
	w := &world{t: t, now: noon, digests: map[string]string{"shop/checkout:main": "sha256:aa"}}
	w.suite = &v1alpha1.BenchmarkSuite{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "BenchmarkSuite"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "perf", Name: "checkout", UID: "0c9f3f11-0000-4000-8000-000000000001", Generation: 1},
		Spec: v1alpha1.BenchmarkSuiteSpec{
			Parameters: []v1alpha1.Parameter{{Name: "image", Default: "shop/checkout:main"}},
			Runs:       []v1alpha1.SuiteRun{suiteRun("small", template), suiteRun("large", strings.Replace(template, "10}", "100}", 1))},
			Triggers:   v1alpha1.Triggers{Change: v1alpha1.ChangeTrigger{Images: v1alpha1.ImagesResolve}},
		},
	}
	before := int64(-1)
	w.suite.Status.ObservedGeneration = &before
	for _, d := range deltas {
		d(w)
	}
	return w
}

func commit(change func(*v1alpha1.BenchmarkSuiteSpec)) func(*world) {
	return func(w *world) {
		change(&w.suite.Spec)
		w.suite.Generation++
	}
}

func push(digest string) func(*world) {
	return func(w *world) { w.digests["shop/checkout:main"] = digest }
}

func away(reason, message string) func(*world) {
	return func(w *world) {
		w.digests, w.trouble = map[string]string{}, Resolution{Reason: reason, Message: message}
	}
}

func annotate(name, value string) func(*world) {
	return func(w *world) { metav1.SetMetaDataAnnotation(&w.suite.ObjectMeta, name, value) }
}

func after(d time.Duration) func(*world) { return func(w *world) { w.now = w.now.Add(d) } }

// ends ends the first unfinished runs, ten minutes apart.
func ends(ways ...func(*v1alpha1.BenchmarkRun)) func(*world) {
	return func(w *world) {
		for _, way := range ways {
			w.now = w.now.Add(10 * time.Minute)
			i := slices.IndexFunc(w.runs, func(r v1alpha1.BenchmarkRun) bool { return r.Status.CompletionTime == nil })
			if i < 0 {
				w.t.Fatal("no run goes on that could end")
			}
			w.runs[i].Status.CompletionTime = &metav1.Time{Time: w.now}
			w.runs[i].Status.Report.URI = "s3://bench/" + lies(&w.runs[i]) + "/reports/0123456789ab/report.html"
			w.runs[i].Status.Report.ManifestSHA256 = manifestOf(&w.runs[i])
			way(&w.runs[i])
		}
	}
}

func lies(r *v1alpha1.BenchmarkRun) string {
	return fmt.Sprintf("%s/%s-%.8s", r.Namespace, r.Name, r.UID)
}

func manifestOf(r *v1alpha1.BenchmarkRun) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(r.UID)))
}

func endsAs(succeeded metav1.ConditionStatus, reason, message string, conclusive metav1.ConditionStatus, why string) func(*v1alpha1.BenchmarkRun) {
	return func(r *v1alpha1.BenchmarkRun) {
		r.Status.Verdict = message
		meta.SetStatusCondition(&r.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionSucceeded, Status: succeeded, Reason: reason, Message: message})
		meta.SetStatusCondition(&r.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionConclusive, Status: conclusive, Reason: why, Message: message})
	}
}

var (
	well      = endsAs("True", v1alpha1.ReasonDone, "all objectives met", "True", v1alpha1.ReasonDone)
	missed    = endsAs("False", v1alpha1.ReasonObjectivesMissed, "throughput 0.81 of anchor's, at least 0.9 wanted", "True", v1alpha1.ReasonDone)
	undecided = endsAs("False", v1alpha1.ReasonObjectivesUndecided, "throughput 0.86 to 0.97 of anchor's, at least 0.9 wanted", "True", v1alpha1.ReasonDone)
	broken    = endsAs("False", v1alpha1.ReasonTrialsFailed, "2 of 4 trials failed", "Unknown", v1alpha1.ReasonPending)
)

func (w *world) facts() Facts {
	said := map[string]Resolution{}
	for _, image := range Images(w.suite, w.runs) {
		if said[image] = w.trouble; w.digests[image] != "" {
			said[image] = Resolution{Digest: w.digests[image]}
		}
	}
	f := Facts{Suite: w.suite, Runs: w.runs, Images: said, Refused: w.refusal(), Now: w.now}
	if w.refusedCall != "" {
		f.RefusedCall = &Problem{v1alpha1.ReasonRunDenied, w.refusedCall}
	}
	return f
}

// apply carries out at most acts actions of a decision.
func (w *world) apply(d Decision, acts int) {
	for _, run := range d.Delete {
		if acts--; acts < 0 {
			return
		}
		w.runs = slices.DeleteFunc(w.runs, func(r v1alpha1.BenchmarkRun) bool { return r.Name == run.Name })
	}
	for _, run := range d.Create {
		if acts--; acts < 0 {
			return
		}
		if slices.ContainsFunc(w.runs, func(r v1alpha1.BenchmarkRun) bool { return r.Name == run.Name }) {
			w.t.Errorf("%s is created though it is there", run.Name)
		}
		run.CreationTimestamp = metav1.Time{Time: w.now}
		run.UID = types.UID(digest(run.Name)) // A recreated run would have another UID; no test compares with one.
		w.runs = append(w.runs, run)
		w.created = append(w.created, run.Name)
	}
	if acts > 0 {
		w.suite.Status = d.Status
	}
}

// always is more acts than any decision has.
const always = 1000

func (w *world) step(title string, changes ...func(*world)) {
	w.t.Helper()
	for _, c := range changes {
		c(w)
	}
	d := Decide(w.facts())
	w.apply(d, always)
	w.log = append(w.log, fmt.Sprintf("== %s %s", w.now.Format("Mon 15:04"), title))
	for _, run := range d.Delete {
		w.log = append(w.log, "   delete "+run.Name)
	}
	for _, run := range d.Create {
		w.log = append(w.log, "   create "+run.Name+with(run)+against(run))
	}
	w.tell()
	w.isSettled(title)
}

func with(r v1alpha1.BenchmarkRun) string {
	if values := roundsOf([]v1alpha1.BenchmarkRun{r})[0].Parameters; len(values) > 0 {
		return " with " + webhook.Given(values)
	}
	return ""
}

func against(r v1alpha1.BenchmarkRun) string {
	text := ""
	for _, o := range r.Spec.Objectives {
		switch {
		case len(o.Against.Runs) > 0:
			var names []string
			for _, p := range o.Against.Runs {
				names = append(names, fmt.Sprintf("%s/%s-%.8s", r.Namespace, p.Name, p.UID))
			}
			text += " against " + strings.Join(names, ", ")
		case o.Against.LastGood > 0:
			text += fmt.Sprintf(" against nothing, as there is no good round of %d", o.Against.LastGood)
		}
	}
	return text
}

// isSettled checks that an empty decision follows a completed one.
func (w *world) isSettled(title string) {
	w.t.Helper()
	again := Decide(w.facts())
	if len(again.Create)+len(again.Delete) > 0 {
		w.t.Errorf("%s: what was done is done again: %+v", title, again)
	}
	if diff := cmp.Diff(w.suite.Status, again.Status); diff != "" {
		w.t.Errorf("%s: a second look has another status (-first +second):\n%s", title, diff)
	}
}

// tell logs the status, and how Flux and Argo CD read it.
func (w *world) tell() {
	s := w.suite.Status
	for _, c := range s.Conditions {
		if c.Type == v1alpha1.ConditionReconciling || c.Type == v1alpha1.ConditionStalled {
			continue
		}
		w.log = append(w.log, fmt.Sprintf("   %s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message))
	}
	for _, r := range []v1alpha1.SuiteRound{s.LastRound, {Round: s.Current.Round, Against: s.Current.Against}} {
		if len(r.Against) > 0 {
			w.log = append(w.log, fmt.Sprintf("   round %d is compared with rounds %d", r.Round, r.Against))
		}
	}
	line := fmt.Sprintf("   Flux: %s; Argo CD: %s; last: %d %s; good: %d", w.kstatus(), w.health(), s.LastRound.Round, s.LastRound.Outcome, s.LastGood.Round)
	if s.NextScheduleTime != nil {
		line += "; next: " + s.NextScheduleTime.UTC().Format("Mon 15:04")
	}
	w.log = append(w.log, line)
}

func (w *world) kstatus() string {
	state, _, err := gitops.Flux(w.suite)
	if err != nil {
		w.t.Fatal(err)
	}
	return state
}

func (w *world) health() string {
	state, _, err := gitops.ArgoCD("../../config/gitops/argocd-health.lua", w.suite)
	if err != nil {
		w.t.Fatal(err)
	}
	return state
}

// golden compares the log with a reviewed file.
func (w *world) golden(name string) {
	w.t.Helper()
	path, got := filepath.Join("testdata", "stories", name+".txt"), strings.Join(w.log, "\n")+"\n"
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			w.t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		w.t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		w.t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

func (w *world) refusal() *Problem {
	if w.refused == "" {
		return nil
	}
	return invalid("%s", w.refused)
}
