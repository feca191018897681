package controllers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/index"
	"loadstone.dev/loadstone/controllers/render"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/cluster/queue"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/store/artifact"
)

// countingStore is a store that holds some objects, and counts how often it is read.
type countingStore struct {
	Store
	objects map[string]string
	err     error
	reads   int
}

func (s *countingStore) Get(_ context.Context, key, hash string) ([]byte, error) {
	s.reads++
	if body, ok := s.objects[key]; ok {
		if sum := sha256.Sum256([]byte(body)); hash != "" && hash != hex.EncodeToString(sum[:]) {
			return nil, artifact.ErrCorrupt
		}
		return []byte(body), s.err
	}
	return nil, errors.Join(artifact.ErrNotFound, s.err)
}

// Another version may fill in other defaults: the trials of one run are measured alike.
func TestRunContinuesWithItsStoredPlan(t *testing.T) {
	s := runScopeOf(t)
	compiled, err := facts.Plan(s.run)
	if err != nil {
		t.Fatal(err)
	}
	other := compiled
	other.TrialSeconds = 77
	stored := map[string]string{artifact.PlanKey(runPrefix(s.run)): string(other.JSON())}
	third := sha256.Sum256([]byte("no plan"))
	damaged := map[string]string{artifact.PlanKey(runPrefix(s.run)): "no plan"}
	for name, tc := range map[string]struct {
		hash  string
		begun bool
		store *countingStore
		want  plan.Plan
		fails bool
	}{
		"the same plan":                  {compiled.Hash(), true, &countingStore{err: artifact.ErrUnreachable}, compiled, false},
		"another plan":                   {other.Hash(), true, &countingStore{objects: stored}, other, false},
		"another plan that is not there": {other.Hash(), true, &countingStore{}, compiled, false},
		"a store that is unavailable":    {other.Hash(), true, &countingStore{objects: stored, err: artifact.ErrUnreachable}, plan.Plan{}, true},
		"a stored plan of another hash":  {strings.Repeat("0", 64), true, &countingStore{objects: stored}, plan.Plan{}, true},
		"a stored text that is no plan":  {hex.EncodeToString(third[:]), true, &countingStore{objects: damaged}, plan.Plan{}, true},
		"a run that has not begun":       {other.Hash(), false, &countingStore{objects: stored}, compiled, false},
	} {
		t.Run(name, func(t *testing.T) {
			run := s.run.DeepCopy()
			if run.Status.PlanHash = tc.hash; !tc.begun {
				run.Status.StartTime = nil
			}
			var p plans
			for range 2 {
				got, err := p.of(t.Context(), tc.store, run)
				if diff := cmp.Diff(tc.want, got); diff != "" || (err != nil) != tc.fails {
					t.Errorf("%v (-want +got):\n%s", err, diff)
				}
			}
			if tc.store.reads > 1 && !tc.fails {
				t.Errorf("the store was read %d times", tc.store.reads)
			}
		})
	}
}

// Two operators may lead in turn while a run is queued.
func TestPlanIsReadAgainAfterAnotherVersionBeganTheRun(t *testing.T) {
	run := runScopeOf(t).run
	run.Status.StartTime = nil
	compiled, err := facts.Plan(run)
	if err != nil {
		t.Fatal(err)
	}
	other := compiled
	other.TrialSeconds = 77
	store := &countingStore{objects: map[string]string{artifact.PlanKey(runPrefix(run)): string(other.JSON())}}
	var p plans
	if got, err := p.of(t.Context(), store, run); err != nil || got.Hash() != compiled.Hash() {
		t.Fatalf("before it begins, the plan is %+v, %v", got, err)
	}
	run.Status.StartTime, run.Status.PlanHash = &metav1.Time{Time: noon}, other.Hash()
	if got, err := p.of(t.Context(), store, run); err != nil || got.Hash() != other.Hash() {
		t.Errorf("after another version began it, the plan is %+v, %v", got, err)
	}
	if got, err := p.withBodies(t.Context(), store, run, other); err != nil || got.Hash() != other.Hash() {
		t.Errorf("with bodies, the plan is %+v, %v", got, err)
	}
}

// After an upgrade the store may be unavailable, or refuse for good.
func TestRunTimesOutWhileItsStoredPlanIsUnavailable(t *testing.T) {
	for name, tc := range map[string]struct {
		err  error
		took time.Duration
		// executed is the condition before the pass, and want is how it reads after it.
		executed, want string
		holdsUp        bool
	}{
		"within its time":                        {artifact.ErrUnreachable, time.Minute, "", "Unknown/Pending", true},
		"after its time":                         {artifact.ErrUnreachable, time.Hour, "", "False/TimedOut", false},
		"after its time, while the key is wrong": {artifact.ErrDenied, time.Hour, "", "False/TimedOut", false},
		"after its end was written down":         {artifact.ErrDenied, time.Minute, "False/WorkflowFailed", "False/WorkflowFailed", false},
		"after everything was measured":          {artifact.ErrDenied, time.Hour, "True/Done", "True/Done", false},
		"after everything ended, with failures":  {artifact.ErrDenied, time.Hour, "False/TrialsFailed", "False/TrialsFailed", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := runScopeOf(t, func(s *runScope) {
				s.plan, s.run.Status.PlanHash, s.run.Status.StartTime = nil, "another", &metav1.Time{Time: noon.Add(-tc.took)}
			})
			if status, reason, known := strings.Cut(tc.executed, "/"); known {
				meta.SetStatusCondition(&s.run.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionExecuted, Status: metav1.ConditionStatus(status), Reason: reason})
			}
			next, err := (&BenchmarkRunReconciler{Store: brokenStore{err: tc.err}}).compile(t.Context(), s)
			if err != nil || next.After != retryStore || s.end != nil {
				t.Fatalf("the pass ends with %+v, %v, %+v", next, err, s.end)
			}
			s.run.Status = runStatus(s)
			c := meta.FindStatusCondition(s.run.Status.Conditions, v1alpha1.ConditionExecuted)
			if got := string(c.Status) + "/" + c.Reason; got != tc.want || queue.HoldsUp(s.run) != tc.holdsUp {
				t.Errorf("Executed is %s (%s), want %s; the run holds up others: %v", got, c.Message, tc.want, queue.HoldsUp(s.run))
			}
		})
	}
}

// Trials of one run must not be measured by two plans.
func TestRunWithDamagedStoredPlanEnds(t *testing.T) {
	for name, tc := range map[string]struct {
		err            error
		executed, says string
	}{
		"damaged":                  {artifact.ErrCorrupt, "", "another version of the operator started the run, and its stored plan is damaged"},
		"no plan":                  {artifact.ErrMalformed, "", "another version of the operator started the run, and its stored plan is damaged"},
		"damaged after all trials": {artifact.ErrCorrupt, "True/Done", artifact.ErrCorrupt.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			s := runScopeOf(t, func(s *runScope) { s.plan, s.run.Status.PlanHash = nil, "another" })
			if tc.executed != "" {
				meta.SetStatusCondition(&s.run.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionExecuted, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonDone})
			}
			next, err := (&BenchmarkRunReconciler{Store: brokenStore{err: tc.err}}).compile(t.Context(), s)
			if err != nil || !next.Stop || s.plan != nil || s.end == nil {
				t.Fatalf("the pass ends with %+v, %v, plan %v, %+v", next, err, s.plan, s.end)
			}
			condition(t, runStatus(s).Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionFalse, v1alpha1.ReasonReportFailed, tc.says)

			trial := scopeOf(func(s *trialScope) { s.plan, s.unplanned = plan.Plan{}, tc.err })
			if _, err := (&TrialReconciler{}).follow(t.Context(), trial); err != nil || trial.fault == nil || trial.fault.Reason != v1alpha1.ReasonInvalidSpec {
				t.Errorf("its trial ends with %q, %v", describe(trial.fault), err)
			}
		})
	}
}

func TestTrialEndsWithItsRunWhileTheStoredPlanIsUnavailable(t *testing.T) {
	for name, tc := range map[string]struct {
		over  bool
		fault string
		after time.Duration
	}{
		"the run goes on":   {after: retryStore},
		"the run timed out": {over: true, fault: "TimedOut permanent: BenchmarkRun quick has ended"},
	} {
		t.Run(name, func(t *testing.T) {
			run := runScopeOf(t, func(s *runScope) {
				s.run.Status.PlanHash = "another"
				// Trials of an older version do not name their implementations: this failure may be that of another one.
				s.trials[1].Status = failedTrial(1, "other", v1alpha1.ReasonWrongResponse, false).Status
				for i := range s.trials {
					delete(s.trials[i].Labels, v1alpha1.LabelImplementation)
				}
			})
			if tc.over {
				meta.SetStatusCondition(&run.run.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionExecuted, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonTimedOut})
			}
			builder := fake.NewClientBuilder().WithScheme(newScheme(t)).WithObjects(run.run, &run.trials[0], &run.trials[1])
			if err := index.Index(t.Context(), indexed{builder}); err != nil {
				t.Fatal(err)
			}
			c := builder.Build()
			r := &TrialReconciler{Client: c, Live: c, Store: brokenStore{err: artifact.ErrDenied}, Now: func() time.Time { return noon }}
			s, err := r.observe(t.Context(), &run.trials[0])
			if err != nil {
				t.Fatal(err)
			}
			next, err := r.follow(t.Context(), s)
			if err != nil || !next.Stop || next.After != tc.after || describe(s.fault) != tc.fault {
				t.Errorf("the phase ends with %+v, %v, %q", next, err, describe(s.fault))
			}
			if st := trialStatus(s); (st.CompletionTime != nil) != tc.over {
				t.Errorf("the status is %+v", st)
			}
		})
	}
}

func TestRequestBodiesAreReadOnce(t *testing.T) {
	s := runScopeOf(t, func(s *runScope) {
		request := v1alpha1.Request{Method: "POST", BodyFrom: v1alpha1.BodySource{ConfigMap: "mine", Key: "order.json"}}
		s.run.Spec.Loads[0].Request = request
		mixed := *s.run.Spec.Loads[0].DeepCopy()
		mixed.Name, mixed.Request = "mixed", v1alpha1.Request{}
		mixed.Requests = []v1alpha1.MixedRequest{{Request: v1alpha1.Request{Path: "/"}, Weight: 1}, {Request: request, Weight: 2}}
		s.run.Spec.Loads = append(s.run.Spec.Loads, mixed)
		s.run.Spec.Implementations[0].Command = []string{"/go"}
		s.run.Spec.Profiles = []v1alpha1.Profile{{Name: "cpu", Tool: v1alpha1.ToolCallgrind, Load: "sweep"}}
		s.run.Status.Bodies = []v1alpha1.FrozenBody{{Name: "mine/order.json"}}
	})
	store := &countingStore{objects: map[string]string{artifact.BodyKey(runPrefix(s.run), "mine/order.json"): `{"a": 1}`}}
	var p plans
	without, err := p.of(t.Context(), store, s.run)
	if err != nil || without.Cells[0].Request.Body != "" {
		t.Fatalf("without bodies the plan is %+v, %v", without.Cells, err)
	}
	for range 2 {
		got, err := p.withBodies(t.Context(), store, s.run, without)
		if err != nil || got.Cells[0].Request.Body != `{"a": 1}` || got.Cells[1].Mix[1].Body != `{"a": 1}` || got.Cells[1].Mix[0].Body != "" || got.Profiles[0].Request.Body != `{"a": 1}` {
			t.Errorf("the plan sends %+v and %+v, %v", got.Cells, got.Profiles, err)
		}
	}
	if again, err := p.of(t.Context(), store, s.run); err != nil || again.Cells[0].Request.Body == "" || store.reads != 1 {
		t.Errorf("the store was read %d times, and the plan sends %+v, %v", store.reads, again.Cells, err)
	}
	if without.Cells[0].Request.Body != "" || without.Cells[1].Mix[1].Body != "" || without.Profiles[0].Request.Body != "" {
		t.Error("the bodies were written into the plan that lacks them")
	}
}

// An older version copied the plan into its trials and gave them no labels of implementations.
func TestTrialsOfAnOlderVersionAreFinished(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run := w.apply("older", with("go", v1alpha1.Implementation{Name: "go2", Image: "go2:1"}), func(s *v1alpha1.BenchmarkRunSpec) { s.Suspend = new(true) })
	p, err := facts.Plan(run)
	w.must(err)
	for _, line := range p.Trials {
		meta := render.Trial(run, line).ObjectMeta
		delete(meta.Labels, v1alpha1.LabelImplementation)
		old := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
			"runName": run.Name, "index": int64(line.Index), "block": int64(line.Block), "start": "Held", "type": "Sweep",
			"servers":   []any{map[string]any{"name": line.Servers[0], "image": "copied:1", "port": int64(8080)}},
			"placement": map[string]any{"pinning": "Required"},
		}}}
		old.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("Trial"))
		old.SetName(meta.Name)
		old.SetNamespace(meta.Namespace)
		old.SetLabels(meta.Labels)
		old.SetOwnerReferences(meta.OwnerReferences)
		w.must(w.c.Create(t.Context(), old))
	}
	w.must(w.c.Patch(t.Context(), run, client.RawPatch("application/merge-patch+json", []byte(`{"spec": {"suspend": false}}`))))
	run = w.awaitEnd(run)
	condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
	store, err := artifact.Open(w.store)
	w.must(err)
	d, err := store.Load(t.Context(), runPrefix(run), "")
	w.must(err)
	for i, trial := range d.Trials {
		if diff := cmp.Diff(p.Trials[i], trial.Manifest.PlannedTrial); diff != "" {
			t.Errorf("trial %d (-planned +measured):\n%s", i, diff)
		}
	}
	if len(d.Trials) != len(p.Trials) || run.Status.Progress != "2/2" {
		t.Errorf("%d trials are stored, and the progress is %s", len(d.Trials), run.Status.Progress)
	}
}
