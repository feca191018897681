package controllers

import (
	"context"
	"testing"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/render"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/store/artifact"
)

// readStore is a store from which trials are read.
type readStore struct {
	Store
	data record.RunData
}

func (s readStore) LoadTrials(context.Context, record.RunManifest) (record.RunData, error) {
	return s.data, nil
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

func TestAScanThatCannotBeAnalysedIsLeftToTheReport(t *testing.T) {
	for name, data := range untold() {
		t.Run(name, func(t *testing.T) {
			s := runScopeOf(t, endTrials(), func(s *runScope) { s.run.Status.Repeats.ScannedBlocks = 0 })
			next, err := (&BenchmarkRunReconciler{Store: readStore{Store: brokenStore{err: artifact.ErrUnreachable}, data: data}}).lead(t.Context(), s)
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

func TestAnInterimAnalysisThatCannotBeMadeStopsNothing(t *testing.T) {
	for name, data := range untold() {
		t.Run(name, func(t *testing.T) {
			s := runScopeOf(t, func(s *runScope) {
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
			next, err := (&BenchmarkRunReconciler{Store: readStore{data: data}}).lead(t.Context(), s)
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
