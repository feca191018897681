package controllers

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/reconciler"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/cluster/queue"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/store/artifact"
)

// shelf is a store that holds one run and remembers what is written.
type shelf struct {
	Store
	data    record.RunData
	written map[string][]byte
}

func (s shelf) URI(key string) string { return "s3://b/" + key }

func (s shelf) Get(_ context.Context, key, _ string) ([]byte, error) {
	if body, is := s.written[key]; is {
		return body, nil
	}
	return nil, artifact.ErrNotFound
}

func (s shelf) Find(_ context.Context, key string) (record.Artifact, error) {
	_, err := s.Get(context.Background(), key, "")
	return record.Artifact{Key: key}, err
}

func (s shelf) Load(context.Context, string, string) (record.RunData, error) { return s.data, nil }

func (s shelf) List(context.Context, string) ([]artifact.Object, error) { return nil, nil }

func (s shelf) Put(_ context.Context, key, _ string, body []byte) (record.Artifact, error) {
	s.written[key] = body
	return record.Artifact{Key: key, SHA256: strings.Repeat("0", 64)}, nil
}

func (s shelf) PutJSON(ctx context.Context, key string, v any) (record.Artifact, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return record.Artifact{}, err
	}
	return s.Put(ctx, key, "application/json", body)
}

// ran is a run of ten blocks of one level, with a bound for the throughput.
func ran(least string) record.RunData {
	o := recordtest.Duel(10)
	o.Levels, o.Seconds, o.Servers = []int32{10}, 1, []recordtest.Server{o.Servers[0], o.Servers[0]}
	o.Servers[1].Name = "again"
	d := recordtest.Run(o)
	d.Manifest.Plan.Objectives = []record.Objective{{Metric: v1alpha1.ObjectiveThroughput, Min: least}}
	return d
}

// stored is an API server that has the run of a scope.
func stored(t *testing.T, s *runScope) client.Client {
	t.Helper()
	c := fake.NewClientBuilder().WithScheme(newScheme(t)).WithObjects(s.run.DeepCopy()).WithStatusSubresource(s.run).Build()
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(s.run), s.run); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestRunThatEndsEarlyStopsMeasuringWhileReportWaits(t *testing.T) {
	late := func(s *runScope) {
		s.trials[1].Status = v1alpha1.TrialStatus{}
		s.now = s.run.Status.StartTime.Add(time.Duration(s.plan.TimeoutSeconds)*time.Second + time.Second)
	}
	s := runScopeOf(t, endTrials(), late)
	if _, err := (&BenchmarkRunReconciler{Client: stored(t, s), Store: brokenStore{err: artifact.ErrUnreachable}}).lead(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	s.run.Status = runStatus(s)
	condition(t, s.run.Status.Conditions, v1alpha1.ConditionExecuted, metav1.ConditionFalse, v1alpha1.ReasonTimedOut)
	condition(t, s.run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionUnknown, v1alpha1.ReasonStoreUnavailable)
	if s.run.Status.CompletionTime != nil || queue.HoldsUp(s.run) {
		t.Errorf("it has ended, or holds others up: %+v", s.run.Status)
	}
	trial := &trialScope{trial: &s.trials[1], run: s.run, plan: *s.plan, siblings: facts.Trials(s.trials, *s.plan)}
	if f := viewFacts(trial).GiveUp(trial.planned()); f == nil || f.Reason != v1alpha1.ReasonTimedOut {
		t.Errorf("its open trial goes on: %+v", f)
	}

	// The store is back, and the trial was given up: the run has ended as it had to.
	again := runScopeOf(t, endTrials(1), func(a *runScope) { a.run.Status, a.now = s.run.Status, s.now })
	next, err := (&BenchmarkRunReconciler{Client: stored(t, again), Store: shelf{data: ran("1"), written: map[string][]byte{}}}).finish(t.Context(), again)
	if err != nil || !next.Stop || again.reported == nil {
		t.Fatalf("the phase ends with %+v, %v, a report %+v", next, err, again.reported)
	}
	st := runStatus(again)
	condition(t, st.Conditions, v1alpha1.ConditionExecuted, metav1.ConditionFalse, v1alpha1.ReasonTimedOut)
	condition(t, st.Conditions, v1alpha1.ConditionReported, metav1.ConditionTrue, v1alpha1.ReasonDone)
	condition(t, st.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionFalse, v1alpha1.ReasonTimedOut)
}

// Its steps would be answered at once: they have no more to order.
func TestRunWhoseTrialsHaveEndedNeedsNoWorkflow(t *testing.T) {
	s := runScopeOf(t, endTrials())
	step, err := (&BenchmarkRunReconciler{Client: stored(t, s), Store: shelf{data: ran("1"), written: map[string][]byte{}}}).lead(t.Context(), s)
	if err != nil || step != reconciler.Halt || s.reported == nil || s.workflow != nil {
		t.Fatalf("the pass ends with %+v, %v, a report %+v, workflow %v", step, err, s.reported, s.workflow)
	}
}

// An API server that takes no status when a report is begun ends nothing: the report is tried again.
func TestRunThatEndsEarlyIsReportedAfterAPIServerOutage(t *testing.T) {
	s := runScopeOf(t, endTrials(), func(s *runScope) {
		s.end = &conduct.Ending{Condition: v1alpha1.ConditionExecuted, Reason: v1alpha1.ReasonTimedOut, Message: "late"}
	})
	c := interceptor.NewClient(stored(t, s).(client.WithWatch), interceptor.Funcs{
		SubResourcePatch: func(context.Context, client.Client, string, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
			return apierrors.NewInternalError(errors.New("etcd"))
		},
	})
	if _, err := (&BenchmarkRunReconciler{Client: c, Store: shelf{data: ran("1"), written: map[string][]byte{}}}).report(t.Context(), s); err == nil {
		t.Error("the API server's error is passed over")
	}
	st := runStatus(s)
	condition(t, st.Conditions, v1alpha1.ConditionExecuted, metav1.ConditionFalse, v1alpha1.ReasonTimedOut)
	if st.CompletionTime != nil {
		t.Error("the run has ended without its report")
	}
}

func TestReportThatCrashedOperatorsIsGivenUp(t *testing.T) {
	s := runScopeOf(t, endTrials())
	s.run.Status.Report.Tries = 5
	next, err := (&BenchmarkRunReconciler{Client: stored(t, s), Store: shelf{data: ran("1"), written: map[string][]byte{}}}).report(t.Context(), s)
	if err != nil || !next.Stop || s.reported != nil {
		t.Fatalf("the phase ends with %+v, %v, a report %+v", next, err, s.reported)
	}
	condition(t, runStatus(s).Conditions, v1alpha1.ConditionReported, metav1.ConditionFalse, v1alpha1.ReasonReportFailed, "probably out of memory")
}

func TestReportHasObjectiveOutcomes(t *testing.T) {
	for name, tc := range map[string]struct{ least, unmet, says string }{
		"met":       {"1", "", ""},
		"missed":    {"9000000", v1alpha1.ReasonObjectivesMissed, "2 of 2 objectives missed; throughput of go at sweep-10 is "},
		"undecided": {"86000", v1alpha1.ReasonObjectivesUndecided, "objectives undecided; throughput of "},
	} {
		t.Run(name, func(t *testing.T) {
			s := runScopeOf(t, endTrials())
			r := &BenchmarkRunReconciler{Client: stored(t, s), Store: shelf{data: ran(tc.least), written: map[string][]byte{}}}
			made, err := r.makeReport(t.Context(), s)
			if err != nil || made.Unmet != tc.unmet || !strings.Contains(made.Objectives, tc.says) {
				t.Errorf("made %+v, %v", made, err)
			}
		})
	}
}

func TestAARunStoresNoiseFloor(t *testing.T) {
	for name, twins := range map[string]bool{"an A/A run": true, "another run": false} {
		t.Run(name, func(t *testing.T) {
			d := ran("1")
			if twins {
				d.Manifest.Plan.Implementations[1].Image = d.Manifest.Plan.Implementations[0].Image
			}
			store := shelf{data: d, written: map[string][]byte{}}
			s := runScopeOf(t, endTrials())
			if _, err := (&BenchmarkRunReconciler{Client: stored(t, s), Store: store}).makeReport(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			found := 0
			for key, body := range store.written {
				if !strings.HasPrefix(key, "calibrations/") {
					continue
				}
				found++
				var c record.Calibration
				if err := json.Unmarshal(body, &c); err != nil || key != artifact.CalibrationKey("default", c.Fingerprint, c.Run.UID) {
					t.Errorf("%s holds %s, %v", key, body, err)
				}
			}
			if (found == 1) != twins || found > 1 {
				t.Errorf("%d noise floors are written", found)
			}
		})
	}
}

// A newer operator may refuse what an older one has begun, and another store may be away just then.
func TestRunWithLaterRefusedSpecIsReportedFromStoredPlan(t *testing.T) {
	for name, tc := range map[string]struct {
		store Store
		// begun is true if trials were made; waits is how the run goes on, and reported whether there is a report of it.
		begun, waits, reported bool
		condition              string
	}{
		"before its first trial":                {store: brokenStore{err: artifact.ErrUnreachable}, condition: v1alpha1.ConditionPlanned},
		"when something was measured":           {store: shelf{data: ran("1"), written: map[string][]byte{}}, begun: true, reported: true, condition: v1alpha1.ConditionExecuted},
		"while the store is away":               {store: brokenStore{err: artifact.ErrUnreachable}, begun: true, waits: true},
		"when the plan is not there any more":   {store: brokenStore{err: artifact.ErrNotFound}, begun: true, condition: v1alpha1.ConditionExecuted},
		"when the plan is another thing's text": {store: brokenStore{err: artifact.ErrMalformed}, begun: true, condition: v1alpha1.ConditionExecuted},
	} {
		t.Run(name, func(t *testing.T) {
			s := runScopeOf(t, endTrials(), func(s *runScope) {
				if shelf, is := tc.store.(shelf); is {
					shelf.written[artifact.PlanKey(s.prefix())] = s.plan.JSON()
				}
				s.plan, s.run.Spec.Loads[0].Levels = nil, nil
				if !tc.begun {
					s.trials = nil
				}
			})
			next, err := (&BenchmarkRunReconciler{Client: stored(t, s), Store: tc.store}).compile(t.Context(), s)
			if err != nil || !next.Stop || (next.After > 0) != tc.waits || (s.end == nil) != tc.waits || (s.reported != nil) != tc.reported {
				t.Fatalf("the phase ends with %+v, %v, %+v, a report %+v", next, err, s.end, s.reported)
			}
			if st := runStatus(s); tc.waits {
				condition(t, st.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionUnknown, v1alpha1.ReasonStoreUnavailable)
			} else {
				condition(t, st.Conditions, tc.condition, metav1.ConditionFalse, v1alpha1.ReasonInvalidSpec, "levels")
				condition(t, st.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionFalse, v1alpha1.ReasonInvalidSpec, "levels")
			}
		})
	}
}
