package suite

import (
	"encoding/json"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/suite/notify"
	"loadstone.dev/loadstone/internal/suite/webhook"
)

// Fault is something in a suite's spec that prevents rounds.
type Fault struct {
	// Run is the run's index; -1 for the suite itself.
	Run     int
	Message string
}

// Filled returns the specs of a suite's runs with parameters filled in.
func Filled(spec v1alpha1.BenchmarkSuiteSpec) ([]json.RawMessage, []Fault) {
	_, runs, problem := write(spec, nil)
	if problem != nil {
		return nil, []Fault{{-1, problem.Message}}
	}
	var specs []json.RawMessage
	for i, r := range runs {
		text, err := json.Marshal(r.Spec)
		if err != nil {
			return nil, []Fault{{i, err.Error()}}
		}
		specs = append(specs, text)
	}
	return specs, nil
}

// anyDigest stands for digests from registries.
const anyDigest = "sha256:0000000000000000000000000000000000000000000000000000000000000000"

// Check plans the runs as if every registry had its images, with the given parameter values, and reads the triggers.
// It returns a plan per run, or everything that would prevent a round.
func Check(s *v1alpha1.BenchmarkSuite, given []v1alpha1.ParameterValue, now time.Time) ([]plan.Plan, []Fault) {
	said := map[string]Resolution{}
	for _, image := range imagesOf(s.Spec, given) {
		said[image] = Resolution{Digest: anyDigest}
	}
	in, problem := inputsOf(s, given, said)
	if problem != nil {
		return nil, []Fault{{-1, problem.Message}}
	}
	var plans []plan.Plan
	var faults []Fault
	for i, run := range runsOf(s, in, Facts{Suite: s, Now: now}.change(in), 1, nil) {
		p, problem := in.plan(i, run.Name)
		if plans = append(plans, p); problem != nil {
			faults = append(faults, Fault{i, problem.Message})
		}
	}
	if _, problem := timetableAt(s.Spec.Triggers.Schedules, now, now); problem != nil {
		faults = append(faults, Fault{-1, problem.Message})
	}
	for _, err := range []error{webhook.Check(s.Spec), notify.Check(s.Spec)} {
		if err != nil {
			faults = append(faults, Fault{-1, err.Error()})
		}
	}
	return plans, faults
}
