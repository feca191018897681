package controllers

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/argo"
	"loadstone.dev/loadstone/controllers/index"
	"loadstone.dev/loadstone/controllers/render"
	"loadstone.dev/loadstone/internal/cluster/queue"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/store/download"
)

func TestFailedOrSilentArgoAgentPodIsReplaced(t *testing.T) {
	agentPod := func(name, workflow string, age time.Duration, phase corev1.PodPhase) client.Object {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: "system", Name: name, Labels: map[string]string{"workflows.argoproj.io/workflow": workflow}, CreationTimestamp: metav1.Time{Time: noon.Add(-age)},
		}, Status: corev1.PodStatus{Phase: phase}}
	}
	tests := map[string]struct {
		answered time.Duration
		want     []string
	}{
		"an answer waits: the old pod goes too": {answered: time.Minute, want: []string{"new", "other"}},
		"all is well: only the failed pod goes": {answered: time.Second, want: []string{"new", "old", "other"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := fake.NewClientBuilder().WithObjects(
				agentPod("old", "quick-run-uid-", time.Minute, corev1.PodRunning), agentPod("new", "quick-run-uid-", argo.AnswerPatience-time.Second, corev1.PodRunning),
				agentPod("failed", "quick-run-uid-", time.Second, corev1.PodFailed), agentPod("other", "other", time.Minute, corev1.PodFailed),
			).Build()
			s := runScopeOf(t, func(s *runScope) {
				s.workflow = &unstructured.Unstructured{}
				s.workflow.SetName("quick-run-uid-")
				s.trials[0].Status.CompletionTime = &metav1.MicroTime{Time: noon.Add(-tc.answered)}
			})
			if _, err := (&BenchmarkRunReconciler{Client: c, Live: c, Namespace: "system"}).lead(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			var pods corev1.PodList
			if err := c.List(t.Context(), &pods); err != nil {
				t.Fatal(err)
			}
			var left []string
			for _, p := range pods.Items {
				left = append(left, p.Name)
			}
			if slices.Sort(left); !slices.Equal(left, tc.want) {
				t.Errorf("left are %v, want %v", left, tc.want)
			}
		})
	}
}

func TestWorkflowThatEndsEarlyIsReplaced(t *testing.T) {
	for name, tc := range map[string]struct {
		phase, shutdown string
		age             time.Duration
		// end is the reason of the run's end. gone is true if the workflow is deleted.
		end  string
		gone bool
		// remade is true if the first trial was made after the workflow.
		remade bool
	}{
		"one whose trial was deleted":    {phase: "Running", age: time.Hour, remade: true, gone: true},
		"one that is new, and so was it": {phase: "Running", age: argo.AnswerPatience - time.Second, remade: true},
		"one that was not picked up":     {age: time.Hour},
		"one that waits":                 {phase: "Pending", age: time.Hour},
		"one that goes on":               {phase: "Running", age: time.Hour},
		"one without retries left":       {phase: "Failed", age: time.Hour, gone: true},
		"one that broke":                 {phase: "Error", age: time.Hour, gone: true},
		"one that thinks all is done":    {phase: "Succeeded", age: time.Hour, gone: true},
		"one that failed at once":        {phase: "Failed", age: argo.AnswerPatience - time.Second},
		"one that somebody stopped":      {phase: "Failed", shutdown: "Terminate", age: time.Hour, end: v1alpha1.ReasonWorkflowFailed},
		"one that somebody will stop":    {phase: "Running", shutdown: "Stop", age: time.Hour},
		"one that was stopped at once":   {phase: "Failed", shutdown: "Stop", end: v1alpha1.ReasonWorkflowFailed},
		"one that failed a while ago":    {phase: "Failed", age: argo.AnswerPatience, gone: true},
		"one that is done a second late": {phase: "Succeeded", age: argo.AnswerPatience + time.Second, gone: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := &unstructured.Unstructured{Object: map[string]any{
				"spec": map[string]any{"shutdown": tc.shutdown}, "status": map[string]any{"phase": tc.phase, "message": "no more retries left"},
			}}
			w.SetGroupVersionKind(render.WorkflowKind)
			w.SetName("w")
			w.SetNamespace("system")
			w.SetCreationTimestamp(metav1.Time{Time: noon.Add(-tc.age)})
			c := fake.NewClientBuilder().WithObjects(w.DeepCopy()).Build()
			s := runScopeOf(t, func(s *runScope) { s.workflow = w })
			because := "it ended (" + tc.phase + ") before its trials did: no more retries left"
			if tc.remade {
				s.trials[0].CreationTimestamp = metav1.Time{Time: noon}
				s.trials[1].Status.AttemptTime, s.trials[1].Status.CompletionTime = &metav1.Time{Time: noon}, &metav1.MicroTime{Time: noon}
				because = "trial " + s.trials[0].Name + " was deleted, and created again after its step"
			}
			next, err := (&BenchmarkRunReconciler{Client: c, Live: c, Namespace: "system"}).lead(t.Context(), s)
			if err != nil || !next.Stop || (s.end != nil) != (tc.end != "") || s.end != nil && s.end.Reason != tc.end {
				t.Fatalf("the phase ends with %+v, %v, %+v", next, err, s.end)
			}
			if tc.end == "" && (next.After <= 0 || next.After > argo.AnswerPatience) {
				t.Errorf("the next look is after %s", next.After)
			}
			if gone := apierrors.IsNotFound(c.Get(t.Context(), client.ObjectKeyFromObject(w), w)); gone != tc.gone {
				t.Errorf("it is gone: %v", gone)
			}
			if tc.gone && s.waiting != "another workflow replaces w: "+because {
				t.Errorf("the run says %q", s.waiting)
			}
		})
	}
}

// An unavailable store fails no queued run: a run's time begins with its turn.
func TestRunWaitsForStoreBeforeItsTurn(t *testing.T) {
	for name, tc := range map[string]struct {
		err    error
		mute   bool // it takes the plan, and fails when that is looked up
		loose  bool // it stores the plan, lists its content, and fails at a second write
		waited time.Duration
		before string // the awaited thing; default: a refusal
		begins bool
	}{
		"there is one":                           {begins: true},
		"it is away":                             {err: artifact.ErrUnreachable, waited: time.Hour},
		"its bucket is missing":                  {err: artifact.ErrNoBucket},
		"its key is wrong, and was a moment ago": {err: artifact.ErrDenied, waited: time.Minute - time.Second},
		"its key is wrong for as long as the run has patience": {err: artifact.ErrDenied, waited: time.Minute, begins: true},
		"its key is wrong, after it was away for an hour":      {err: artifact.ErrDenied, waited: time.Hour, before: v1alpha1.ReasonStoreUnavailable},
		"it cannot say what it holds":                          {mute: true, err: artifact.ErrNoDigests},
		"it overwrites what it holds":                          {loose: true, err: artifact.ErrOverwrites},
		"it holds another plan":                                {err: artifact.ErrExists, begins: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := runScopeOf(t, func(s *runScope) { s.run.Status.StartTime, s.trials = nil, nil })
			s.run.Spec.PatienceSeconds, s.run.Status.WaitingSince = 60, &metav1.Time{Time: s.now.Add(-tc.waited)}
			before := cmp.Or(tc.before, v1alpha1.ReasonStoreRefused)
			meta.SetStatusCondition(&s.run.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionSucceeded, Status: metav1.ConditionUnknown, Reason: before})
			c := fake.NewClientBuilder().WithScheme(newScheme(t)).WithObjects(s.run).Build()
			var store Store = brokenStore{err: tc.err}
			switch {
			case tc.mute:
				store = muteStore{store}
			case tc.loose:
				store = overwritingStore{muteStore{store}}
			}
			next, err := (&BenchmarkRunReconciler{Client: c, Live: c, Store: store}).awaitTurn(t.Context(), s)
			if err != nil || !next.Stop || s.begins != tc.begins || (next.After > 0) == tc.begins || s.end != nil {
				t.Errorf("the phase ends with %+v, %v, %+v, and the run begins: %v", next, err, s.end, s.begins)
			}
			if st := runStatus(s); !tc.begins {
				why := v1alpha1.ReasonStoreRefused
				if errors.Is(tc.err, artifact.ErrUnreachable) {
					why = v1alpha1.ReasonStoreUnavailable
				}
				condition(t, st.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionUnknown, why, tc.err.Error())
			}
		})
	}
}

// holding is a store that takes everything, and holds one object.
type holding struct {
	brokenStore
	key, body string
}

func (s holding) Get(_ context.Context, key, sha string) ([]byte, error) {
	if key != s.key || sha != fmt.Sprintf("%x", sha256.Sum256([]byte(s.body))) {
		return nil, artifact.ErrNotFound
	}
	return []byte(s.body), nil
}

// An earlier run counts with its stored size, before anything is measured.
func TestARunIsNotBegunIfItsEarlierRunsDoNotFitIntoTheOperator(t *testing.T) {
	const memory = 128 << 20
	for name, tc := range map[string]struct {
		trials  int
		refused bool
	}{"a small one": {10, false}, "a large one": {6000, true}} {
		t.Run(name, func(t *testing.T) {
			s := runScopeOf(t, func(s *runScope) { s.run.Status.StartTime, s.trials = nil, nil })
			m := record.RunManifest{Schema: record.RunManifestSchema, Plan: s.plan.Plan}
			for range tc.trials {
				m.Trials = append(m.Trials, record.TrialEntry{PlannedTrial: s.plan.Trials[0], Manifest: &record.Artifact{Key: "k"}})
			}
			body, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			past := v1alpha1.PastRun{Name: "old", UID: "01234567-89ab", ManifestSHA256: fmt.Sprintf("%x", sha256.Sum256(body))}
			s.plan.Objectives = []record.Objective{{Metric: v1alpha1.ObjectiveRegression, Against: &record.Reference{Runs: []v1alpha1.PastRun{past}, Anchor: "go"}}}
			c := fake.NewClientBuilder().WithScheme(newScheme(t)).WithObjects(s.run).Build()
			r := &BenchmarkRunReconciler{Client: c, Live: c, Memory: memory, Store: holding{key: "bench/old-01234567/manifest.json", body: string(body)}}
			next, err := r.awaitTurn(t.Context(), s)
			if err != nil || !next.Stop || s.begins == tc.refused || (s.end != nil) != tc.refused {
				t.Fatalf("the phase ends with %+v, %v, %+v, and the run begins: %v", next, err, s.end, s.begins)
			}
			if tc.refused && (s.end.Reason != v1alpha1.ReasonInvalidSpec || !strings.Contains(s.end.Message, "1 earlier runs of 6000 cells")) {
				t.Errorf("it is refused with %+v", s.end)
			}
		})
	}
}

// A version that knows other fields of a plan writes it in other bytes.
func TestPlanStoredByAnotherVersionIsKept(t *testing.T) {
	for name, tc := range map[string]struct {
		hash string
		err  error
		ends bool
	}{
		"another version began the run":           {"another", artifact.ErrExists, false},
		"this version began the run":              {"", artifact.ErrExists, true},
		"another began it, and the key is denied": {"another", artifact.ErrDenied, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := runScopeOf(t, func(s *runScope) { s.trials, s.run.Status.PlanHash = nil, tc.hash })
			step, err := (&BenchmarkRunReconciler{Store: brokenStore{err: tc.err}}).storePlan(t.Context(), s)
			if err != nil || step.Stop != tc.ends || (s.end != nil) != tc.ends {
				t.Errorf("the phase ends with %+v, %v, %+v", step, err, s.end)
			}
		})
	}
}

// Nodes are replaced one by one, on demand.
func TestRunWithoutRoomWaitsAndDoesNotBlockQueue(t *testing.T) {
	large := &plan.Violation{Reason: v1alpha1.ReasonNotEnoughCPUs, Message: "no node may run a server"}
	for name, tc := range map[string]struct {
		waited  time.Duration
		awaited string
		// says is what the run waits for; it is refused if that is empty.
		says string
	}{
		"it has just come":                             {-1, "", "waiting for up to 1m0s (spec.patienceSeconds) for nodes with room: no node may run a server"},
		"it has waited for a while":                    {time.Minute - time.Second, "", "waiting for up to 1m0s (spec.patienceSeconds) for nodes with room: no node may run a server"},
		"it has waited for as long as it has patience": {time.Minute, "", ""},
		"nodes are cordoned that have room":            {time.Hour, "waiting for n", "waiting for n: no node may run a server"},
	} {
		t.Run(name, func(t *testing.T) {
			s := runScopeOf(t, func(s *runScope) { s.run.Status.StartTime, s.trials, s.plan = nil, nil, nil })
			s.run.Spec.PatienceSeconds = 60
			if tc.waited >= 0 {
				s.run.Status.WaitingSince = &metav1.Time{Time: s.now.Add(-tc.waited)}
				meta.SetStatusCondition(&s.run.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionSucceeded, Status: metav1.ConditionUnknown, Reason: large.Reason})
			}
			next, err := s.noRoom(large, tc.awaited)
			if err != nil || !next.Stop || (next.After > 0) != (tc.says != "") || (s.end == nil) != (tc.says != "") {
				t.Fatalf("the phase ends with %+v, %v, %+v", next, err, s.end)
			}
			if s.run.Status = runStatus(s); tc.says == "" {
				condition(t, s.run.Status.Conditions, v1alpha1.ConditionPlanned, metav1.ConditionFalse, large.Reason, large.Message)
				return
			}
			condition(t, s.run.Status.Conditions, v1alpha1.ConditionPlanned, metav1.ConditionUnknown, large.Reason, tc.says)
			if queue.HoldsUp(s.run) {
				t.Error("it holds up others")
			}
		})
	}
}

// A run may be suspended until its nodes are there.
func TestOnlySpecOfSuspendedRunIsChecked(t *testing.T) {
	for name, tc := range map[string]struct {
		suspend *bool
		wrong   bool
		// why is the reason of the wait, end that of the run's end.
		why, end string
	}{
		"it is suspended":                     {suspend: new(true)},
		"it is resumed":                       {suspend: new(false), why: v1alpha1.ReasonNotEnoughCPUs},
		"it is suspended, and cannot be made": {suspend: new(true), wrong: true, end: v1alpha1.ReasonInvalidSpec},
	} {
		t.Run(name, func(t *testing.T) {
			s := runScopeOf(t, func(s *runScope) { s.run.Status.StartTime, s.trials, s.plan = nil, nil, nil })
			s.run.Spec.Suspend = tc.suspend
			if tc.wrong {
				s.run.Spec.Validity.MaxSteal = "NaN"
			}
			c := fake.NewClientBuilder().WithScheme(newScheme(t)).WithObjects(s.run).Build()
			next, err := (&BenchmarkRunReconciler{Client: c, Live: c}).compile(t.Context(), s)
			if err != nil || next.Stop != (tc.why+tc.end != "") || s.why != tc.why || (s.end != nil) != (tc.end != "") || s.end != nil && s.end.Reason != tc.end {
				t.Errorf("the phase ends with %+v, %v, %q, %+v", next, err, s.why, s.end)
			}
		})
	}
}

// newScheme knows the objects of the API and Kubernetes' own.
func newScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return scheme
}

// Something that is missing is no reason to look again and again in silence.
func TestMissingInstallationObjectIsError(t *testing.T) {
	s := runScopeOf(t, func(s *runScope) { s.run.Finalizers = []string{v1alpha1.Finalizer} })
	if _, err := reconcilerOf(t, s.run).Reconcile(t.Context(), s.run); err == nil || !strings.Contains(err.Error(), "writing Secret loadstone-run-tokens") {
		t.Errorf("without the Secret of tokens: %v", err)
	}
}

// Runs of earlier versions have no key, and those of an earlier operator's key have another.
func TestEndedRunGetsDownloadKey(t *testing.T) {
	for name, had := range map[string]string{"a run of an earlier version": "", "a run of another key": "old"} {
		t.Run(name, func(t *testing.T) {
			s := runScopeOf(t, func(s *runScope) {
				s.run.Status.CompletionTime, s.run.Status.DownloadKey = &metav1.Time{Time: noon.Add(-time.Hour)}, had
			})
			r := reconcilerOf(t, s.run)
			if _, err := r.Reconcile(t.Context(), s.run); err != nil {
				t.Fatal(err)
			}
			var got v1alpha1.BenchmarkRun
			if err := r.Get(t.Context(), client.ObjectKeyFromObject(s.run), &got); err != nil {
				t.Fatal(err)
			}
			if want := download.RunKey(r.Key, s.run.UID); got.Status.DownloadKey != want {
				t.Errorf("its key is %q, want %q", got.Status.DownloadKey, want)
			}
		})
	}
}

// reconcilerOf works on a cluster that has only a run.
func reconcilerOf(t *testing.T, run *v1alpha1.BenchmarkRun) *BenchmarkRunReconciler {
	t.Helper()
	byName := func(o client.Object) []string { return []string{o.GetName()} }
	builder := fake.NewClientBuilder().WithScheme(newScheme(t)).WithObjects(run).WithStatusSubresource(run).WithIndex(argo.New(), metav1.ObjectNameField, byName)
	if err := index.Index(t.Context(), indexed{builder}); err != nil {
		t.Fatal(err)
	}
	c := builder.Build()
	return &BenchmarkRunReconciler{Client: c, Live: c, Store: brokenStore{}, Recorder: events.NewFakeRecorder(10), Namespace: "system", Key: ed25519.NewKeyFromSeed(make([]byte, 32)), Now: func() time.Time { return noon }}
}

// indexed gives a client that is built the indexes of the operator's cache.
type indexed struct{ *fake.ClientBuilder }

func (b indexed) IndexField(_ context.Context, of client.Object, name string, values client.IndexerFunc) error {
	b.WithIndex(of, name, values)
	return nil
}
