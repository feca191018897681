package suite

import (
	"encoding/json"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/suite/notify"
	"loadstone.dev/loadstone/internal/suite/webhook"
)

// Fault is something in a suite's spec that keeps its rounds from starting.
type Fault struct {
	// Run is the index of the run that it is about; -1 if it is about the suite itself.
	Run     int
	Message string
}

// Filled are the specs of the runs of a suite as they are written, with the parameters filled in.
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

// anyDigest stands for the digests that registries would give.
const anyDigest = "sha256:0000000000000000000000000000000000000000000000000000000000000000"

// Check plans the runs of a suite as if every registry had its images and some parameters were given values, and reads its triggers. It returns a
// plan for each run, or everything that would keep a round from starting.
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
