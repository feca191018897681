package controllers

import (
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/inputs"
	"loadstone.dev/loadstone/controllers/reconciler"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/run/plan"
)

// runScope is the knowledge of one pass over a run: the first group is observed, the second is set by phases.
type runScope struct {
	run      *v1alpha1.BenchmarkRun
	trials   []v1alpha1.Trial
	workflow *unstructured.Unstructured
	// absence is the time without a leader, not counting the wait for Argo since the last pass.
	absence     conduct.Absence
	now         time.Time
	downloadKey string

	plan *plan.Plan
	// begins is true in the first pass of the run's turn.
	begins bool
	// waiting is the message, and why the reason, of a wait.
	waiting, why string
	// frozen is the stored inputs for the status; set when scripts, bodies and ConfigMaps were handled.
	frozen   *v1alpha1.BenchmarkRunStatus
	interim  *conduct.Interim
	scan     *conduct.Scan
	reported *reported
	// end is set when the run ends early; over is set while such an end waits for its report.
	end, over *conduct.Ending
}

type reported struct {
	html, manifest record.Artifact
	uri            string
	conduct.Verdict
}

// unreported ends the run without a report. The original reason stays first.
func (s *runScope) unreported(end *conduct.Ending) {
	if s.end != nil {
		s.end.Message += "; the measurements could not be reported: " + end.Message
		return
	}
	s.end = end
}

func (s *runScope) verdict() *conduct.Verdict {
	if s.reported == nil {
		return nil
	}
	return &s.reported.Verdict
}

// Hindered implements pass.Scope. A run that fails the operator before its turn would block the queue forever, so it ends; later its timeout
// applies.
func (s *runScope) Hindered(err error) {
	s.waiting = err.Error()
	if errors.Is(err, util.ErrPanic) && !s.ended() && (s.plan == nil || !s.active()) {
		s.end = conduct.NotLed(err)
	}
}

// States implements pass.Scope.
func (s *runScope) States() (before, after *v1alpha1.BenchmarkRun) {
	after = s.run.DeepCopy()
	after.Status = runStatus(s)
	return s.run, after
}

// refuse ends a run with an invalid spec, and returns other errors.
func (s *runScope) refuse(err error) (reconciler.Step, error) {
	var v *plan.Violation
	if !errors.As(err, &v) {
		return reconciler.Halt, fmt.Errorf("reading the objects of the spec: %w", err)
	}
	s.end = conduct.Refused(v)
	return reconciler.Halt, nil
}

// noRoom waits for unavailable nodes. A run that would not fit on them either is refused after spec.patienceSeconds, because nodes may be
// missing while they are replaced.
func (s *runScope) noRoom(v *plan.Violation, awaited string) (reconciler.Step, error) {
	patience := facts.Patience(s.run)
	switch {
	case awaited != "":
	case facts.Impatient(s.run, s.absence, v.Reason, s.now):
		return s.refuse(v)
	default:
		awaited = fmt.Sprintf("waiting for up to %s (spec.patienceSeconds) for nodes with room", patience)
	}
	s.why, s.waiting = v.Reason, awaited+": "+v.Message
	return reconciler.Again(min(retryNodes, patience)), nil
}

func (s *runScope) ended() bool { return s.run.Status.CompletionTime != nil }

func (s *runScope) active() bool { return s.run.Status.StartTime != nil }

func (s *runScope) executed() bool { return s.plan != nil && runFacts(s).Executed() }

func (s *runScope) record(version string) conduct.RunRecord {
	return conduct.RunRecord{
		Run: facts.Run(s.run), Spec: s.run.Spec, Scripts: inputs.Record(s.run.Status.Scripts, s.prefix()), ConfigMaps: inputs.RecordDigests(s.run.Status.ConfigMaps),
		Bodies: inputs.RecordBodies(s.run.Status.Bodies, s.prefix()), Ending: s.end, Operator: version,
	}
}
