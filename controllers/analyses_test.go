package controllers

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/publish"
	"loadstone.dev/loadstone/internal/store/artifact"
)

// runNamed is a run whose UID is its name.
func runNamed(name string) *v1alpha1.BenchmarkRun {
	run := &v1alpha1.BenchmarkRun{}
	run.Name, run.UID = name, types.UID(name)
	return run
}

// A slow store delays only the runs that need an analysis, and not their passes.
func TestAnalysesRunOutsideOfPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := make(chan error)
		a := NewAnalyses(func(ctx context.Context, _ publish.Task) (publish.Result, error) {
			select {
			case err := <-answers:
				return publish.Result{Disturbed: []int32{3}}, err
			case <-ctx.Done():
				return publish.Result{}, ctx.Err()
			}
		})
		scan, report := publish.Task{Act: publish.ActScan}, publish.Task{Act: publish.ActReport}
		first, second := runNamed("first"), runNamed("second")
		ask := func(run *v1alpha1.BenchmarkRun, task publish.Task, want error) publish.Result {
			t.Helper()
			found, err := a.Do(run, task)
			if !errors.Is(err, want) || (err == nil) != (want == nil) {
				t.Fatalf("run %s gets %v, want %v", run.Name, err, want)
			}
			return found
		}
		for range 2 {
			ask(first, scan, ErrAnalyzing)
			ask(second, scan, ErrAnalyzing)
		}
		for range 2 { // One of them at a time.
			answers <- nil
			ended := (<-a.ended).Object
			run := runNamed(ended.GetName())
			if found := ask(run, scan, nil); len(found.Disturbed) != 1 {
				t.Errorf("run %s gets %+v", run.Name, found)
			}
		}
		ask(first, scan, ErrAnalyzing)
		ask(first, report, ErrAnalyzing) // It replaces the scan.
		ask(second, report, ErrAnalyzing)
		a.Drop(second.UID) // It was deleted.
		synctest.Wait()    // The replaced and the deleted task take no more answers.
		answers <- artifact.ErrUnreachable
		if ended := <-a.ended; ended.Object.GetName() != first.Name {
			t.Errorf("the task of run %s ended", ended.Object.GetName())
		}
		ask(first, report, artifact.ErrUnreachable)
		a.mu.Lock()
		defer a.mu.Unlock()
		if len(a.own) > 0 {
			t.Errorf("%d tasks are kept", len(a.own))
		}
	})
}

// The exploit: results that no process can analyze. The operator survives, and counts.
func TestRunEndsAfterFiveProcessesDiedInItsAnalysis(t *testing.T) {
	for name, due := range map[string]func() *runScope{
		"a scan": func() *runScope {
			return runScopeOf(t, endTrials(), func(s *runScope) { s.run.Status.Repeats.ScannedBlocks = 0 })
		},
		"an interim analysis": func() *runScope { return interimScope(t) },
	} {
		t.Run(name, func(t *testing.T) {
			s, deaths := due(), 0
			a := NewAnalyses(func(context.Context, publish.Task) (publish.Result, error) {
				deaths++
				return publish.Result{}, fmt.Errorf("%w: out of memory", ErrDied)
			})
			r := &BenchmarkRunReconciler{Client: stored(t, s), Store: readStore{}, Analyses: a}
			for pass := 0; s.end == nil; pass++ {
				if pass > 3*most {
					t.Fatalf("%d processes died, and the run has not ended", deaths)
				}
				step, err := r.lead(t.Context(), s)
				if err != nil || !step.Stop {
					t.Fatal(step, err)
				}
				if s.end != nil {
					break
				}
				if step.After == 0 { // It is being analyzed.
					<-a.ended
				} else if s.why != v1alpha1.ReasonOperatorFailed {
					t.Errorf("after a death the reason is %q (%s)", s.why, s.waiting)
				}
				next := due()
				if err := r.Get(t.Context(), client.ObjectKeyFromObject(s.run), next.run); err != nil {
					t.Fatal(err)
				}
				s = next
			}
			if deaths != most || s.end.Reason != v1alpha1.ReasonReportFailed {
				t.Errorf("after %d deaths it ends with %+v", deaths, s.end)
			}
		})
	}
}

// silentStore is a store whose answers never come.
type silentStore struct{ Store }

func (silentStore) Find(ctx context.Context, _ string) (record.Artifact, error) {
	<-ctx.Done()
	return record.Artifact{}, fmt.Errorf("%w: %w", artifact.ErrUnreachable, ctx.Err())
}

// All runs share the worker that makes passes.
func TestPassOverRunHasDeadlineForItsStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := runScopeOf(t, endTrials(), func(s *runScope) { s.run.Status.Repeats.ScannedBlocks = 0 })
		controllerutil.AddFinalizer(s.run, v1alpha1.Finalizer)
		r := &BenchmarkRunReconciler{Client: stored(t, s), Store: silentStore{}}
		began := time.Now()
		for _, phase := range r.phases() {
			if step, err := phase(t.Context(), s); step.Stop || err != nil {
				break
			}
		}
		if took := time.Since(began); took != passDeadline || s.why != v1alpha1.ReasonStoreUnavailable {
			t.Errorf("the pass took %s and waits because of %q (%s)", took, s.why, s.waiting)
		}
	})
}

// Patience with a store ends although an analysis interrupts each wait.
func TestWaitForStoreContinuesDuringAnalysis(t *testing.T) {
	s := runScopeOf(t, endTrials(), func(s *runScope) { s.run.Status.Repeats.ScannedBlocks = 0 })
	a := NewAnalyses(func(context.Context, publish.Task) (publish.Result, error) {
		return publish.Result{}, artifact.ErrUnreachable
	})
	r := &BenchmarkRunReconciler{Client: stored(t, s), Store: readStore{}, Analyses: a}
	lead := func() {
		t.Helper()
		if _, err := r.lead(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		s.run.Status = runStatus(s)
	}
	lead()
	<-a.ended
	lead()
	since := s.run.Status.WaitingSince
	if since == nil || s.why != v1alpha1.ReasonStoreUnavailable {
		t.Fatalf("it waits since %v because of %q", since, s.why)
	}
	s.why, s.waiting, s.now = "", "", s.now.Add(retryReport)
	lead() // Another analysis.
	if now := s.run.Status.WaitingSince; now == nil || !now.Equal(since) {
		t.Errorf("the wait began at %v, want %v", now, since)
	}
}

// A run that waits for the analysis of another is not counted as tried.
func TestRunWaitsForAnalysisOfAnother(t *testing.T) {
	answers := make(chan error)
	a := NewAnalyses(func(context.Context, publish.Task) (publish.Result, error) { return publish.Result{}, <-answers })
	first, second := runNamed("first"), runNamed("second")
	task := publish.Task{Act: publish.ActScan}
	if a.Waits(first.UID) {
		t.Error("a run waits although nothing is analyzed")
	}
	if _, err := a.Do(first, task); !errors.Is(err, ErrAnalyzing) {
		t.Fatal(err)
	}
	if a.Waits(first.UID) || !a.Waits(second.UID) {
		t.Errorf("the first waits: %v, the second: %v", a.Waits(first.UID), a.Waits(second.UID))
	}
	answers <- nil
	<-a.ended
	if a.Waits(second.UID) {
		t.Error("the second waits after the end of the first")
	}
}
