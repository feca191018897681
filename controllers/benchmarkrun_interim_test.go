package controllers

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/render"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/store/artifact"
)

// readStore is a store that returns one set of trials.
type readStore struct {
	Store
	data record.RunData
}

func (s readStore) LoadTrials(context.Context, string, record.RunManifest) (record.RunData, error) {
	return s.data, nil
}

func (readStore) Find(context.Context, string) (record.Artifact, error) {
	return record.Artifact{}, artifact.ErrNotFound
}

// untold is a run that cannot be analysed, and one that is more than the analysis can take.
func untold() map[string]record.RunData {
	contradicts, panics := recordtest.Run(recordtest.Duel(3)), recordtest.Run(recordtest.Duel(3))
	contradicts.Trials[0].Manifest.Run.UID = "another"
	for i := range panics.Trials {
		panics.Trials[i].Servers = nil // No store gives such a trial.
	}
	return map[string]record.RunData{"it contradicts itself": contradicts, "it makes the analysis panic": panics}
}

func TestFailedBlockScanIsLeftToReport(t *testing.T) {
	for name, data := range untold() {
		t.Run(name, func(t *testing.T) {
			s := runScopeOf(t, endTrials(), func(s *runScope) { s.run.Status.Repeats.ScannedBlocks = 0 })
			next, err := (&BenchmarkRunReconciler{Client: stored(t, s), Store: readStore{Store: brokenStore{err: artifact.ErrUnreachable}, data: data}}).lead(t.Context(), s)
			if err != nil || !next.Stop || s.end != nil || s.scan == nil || s.scan.Blocks != 2 || len(s.scan.Disturbed) > 0 {
				t.Fatalf("it ends with %+v, %v, having found %+v", next, err, s.scan)
			}
			s.run.Status = runStatus(s)
			if act := runFacts(s).Next().Act; act != conduct.ActReport {
				t.Errorf("the run goes on with %v, want its report", act)
			}
		})
	}
}

// interimScope is a run with an interim analysis after ten of its thirty blocks, which is due.
func interimScope(t *testing.T) *runScope {
	t.Helper()
	return runScopeOf(t, func(s *runScope) {
		s.run.Spec.Blocks, s.run.Spec.Stop, s.run.Spec.TimeoutSeconds = 30, v1alpha1.Stop{MaxWidth: "0.1"}, 86400
		p, err := plan.Compile(s.run.Spec, plan.Options{Name: "quick", UID: "run-uid-1234"})
		if err != nil {
			t.Fatal(err)
		}
		s.plan, s.trials = &p, nil
		for _, line := range p.Trials {
			s.trials = append(s.trials, *render.Trial(s.run, line))
		}
	}, endTrials(), func(s *runScope) {
		for i := range s.trials[10:] {
			s.trials[10+i].Status = v1alpha1.TrialStatus{}
		}
		s.now = noon.Add(time.Second)
	})
}

func TestFailedInterimAnalysisDoesNotStopRun(t *testing.T) {
	for name, data := range untold() {
		t.Run(name, func(t *testing.T) {
			s := interimScope(t)
			next, err := (&BenchmarkRunReconciler{Client: stored(t, s), Store: readStore{data: data}}).lead(t.Context(), s)
			if err != nil || !next.Stop || s.end != nil || s.interim == nil || s.interim.After != 10 || s.interim.Stopped != 0 {
				t.Fatalf("it ends with %+v, %v, having found %+v", next, err, s.interim)
			}
			s.run.Status = runStatus(s)
			if act := runFacts(s).Next().Act; act != conduct.ActMeasure {
				t.Errorf("the run goes on with %v, want its next block", act)
			}
		})
	}
}

// deadly is a store whose reader's operator dies, as one without memory does: nothing after the read is ever done.
type deadly struct{ Store }

func (deadly) LoadTrials(context.Context, string, record.RunManifest) (record.RunData, error) {
	panic("out of memory")
}

func (deadly) Find(context.Context, string) (record.Artifact, error) {
	return record.Artifact{}, artifact.ErrNotFound
}

func TestRunEndsAfterFiveOperatorsDiedInItsAnalysis(t *testing.T) {
	for name, due := range map[string]func() *runScope{
		"a scan": func() *runScope {
			return runScopeOf(t, endTrials(), func(s *runScope) { s.run.Status.Repeats.ScannedBlocks = 0 })
		},
		"an interim analysis": func() *runScope { return interimScope(t) },
	} {
		t.Run(name, func(t *testing.T) {
			s := due()
			c := stored(t, s)
			for operator := int32(1); operator <= most; operator++ {
				r := &BenchmarkRunReconciler{Client: c, Store: deadly{}}
				func() {
					defer func() {
						if recover() == nil {
							t.Errorf("operator %d did not read the run", operator)
						}
					}()
					_, _ = r.lead(t.Context(), s)
				}()
				next := due()
				if err := c.Get(t.Context(), client.ObjectKeyFromObject(s.run), next.run); err != nil {
					t.Fatal(err)
				}
				if s = next; s.run.Status.Report.Tries != operator {
					t.Fatalf("%d deaths are counted, want %d", s.run.Status.Report.Tries, operator)
				}
			}
			next, err := (&BenchmarkRunReconciler{Client: c, Store: deadly{}}).lead(t.Context(), s)
			if err != nil || !next.Stop || s.end == nil || s.end.Reason != v1alpha1.ReasonReportFailed {
				t.Errorf("the sixth operator ends with %+v, %v, and the run with %+v", next, err, s.end)
			}
		})
	}
}

func TestFinishedAnalysisResetsTries(t *testing.T) {
	s := interimScope(t)
	s.run.Status.Report.Tries = most - 1
	r := &BenchmarkRunReconciler{Client: stored(t, s), Store: readStore{data: untold()["it contradicts itself"]}}
	for range 2 { // The next one counts anew.
		if _, err := r.lead(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if s.run.Status.Report.Tries == 0 {
			t.Error("while it is made, it is not counted")
		}
		if now := runStatus(s); now.Report.Tries != 0 || s.end != nil {
			t.Errorf("%d deaths are counted, and the run ends with %+v", now.Report.Tries, s.end)
		}
		if err := r.Status().Patch(t.Context(), s.run, client.RawPatch(types.MergePatchType, []byte(`{"status":{"report":null}}`))); err != nil {
			t.Fatal(err)
		}
	}
}
