package conduct

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/trial/kind/kinds"
)

// How long a run waits for its object store.
const (
	// ScanPatience is how long the store may be unavailable for a scan.
	ScanPatience = 10 * time.Minute
	// ReportPatience is the least time that it may be unavailable for the report. It is long, since other runs
	// proceed, and without a report all measurements are lost.
	ReportPatience = 6 * time.Hour
)

// Ending is why a run ended early: the condition that it missed, and the reason.
type Ending struct{ Condition, Reason, Message string }

// Refused ends a run that cannot be planned.
func Refused(v *plan.Violation) *Ending {
	return &Ending{v1alpha1.ConditionPlanned, v.Reason, v.Message}
}

// Outgrown ends a run of another operator version whose spec this version refuses.
func Outgrown(v *plan.Violation) *Ending {
	return &Ending{v1alpha1.ConditionExecuted, v.Reason, fmt.Sprintf("another version of the operator started the run, and this version refuses its spec; reporting partial results: %s", v.Message)}
}

// PlanDamaged ends a run whose stored plan is unusable and differs from this version's: one run never has two plans.
func PlanDamaged() *Ending {
	return &Ending{v1alpha1.ConditionExecuted, v1alpha1.ReasonReportFailed, "another version of the operator started the run, and its stored plan is damaged: start a new run"}
}

// NotPlanned is the failure of a trial that is not in its run's plan.
func NotPlanned(err error) *Failure {
	return PermanentFailure(v1alpha1.ReasonInvalidSpec, "another version of the operator created the trial, and this version cannot measure it: %s: start a new run, or install the version that started this one", err)
}

// ShutDown ends a run whose workflow was ended by someone.
func ShutDown(message string) *Ending {
	return &Ending{v1alpha1.ConditionExecuted, v1alpha1.ReasonWorkflowFailed, message}
}

// GaveWay ends a run whose nodes were unavailable beyond its patience while other runs are queued. It cannot move,
// since its results are comparable only on those nodes.
func GaveWay(nodes []string, others int) *Ending {
	return &Ending{v1alpha1.ConditionExecuted, v1alpha1.ReasonUnschedulable, fmt.Sprintf(
		"the run waited for spec.patienceSeconds; it is bound to %s, where no pods can start, and %s for a turn; reporting partial results", strings.Join(nodes, " and "), waiting(others),
	)}
}

func waiting(others int) string {
	if others == 1 {
		return "another run waits"
	}
	return fmt.Sprintf("%d others wait", others)
}

// NotLed ends a run on an operator error.
func NotLed(err error) *Ending {
	return &Ending{v1alpha1.ConditionPlanned, v1alpha1.ReasonOperatorFailed, fmt.Sprintf("%s: report it with the spec of the run, or try another operator version", err)}
}

// TimedOut ends a run that ran out of time before everything was measured; nil otherwise.
func (r Run) TimedOut() *Ending {
	if r.Executed() {
		return nil
	}
	return r.Overran()
}

// Overran ends a run that ran out of time, whatever it measured; nil otherwise.
func (r Run) Overran() *Ending {
	if !r.Now.After(r.Deadline()) {
		return nil
	}
	return &Ending{v1alpha1.ConditionExecuted, v1alpha1.ReasonTimedOut, fmt.Sprintf("the run exceeded its timeout of %d s: raise spec.timeoutSeconds", r.Plan.TimeoutSeconds)}
}

// NotStored ends a run whose first files the store refuses.
func NotStored(err error) *Ending {
	return &Ending{v1alpha1.ConditionPlanned, v1alpha1.ReasonStoreUnavailable, err.Error()}
}

// NotAnalysed ends a run that cannot be read for its interim analysis; nil while the store may recover.
func (r Run) NotAnalysed(err error, forGood bool) *Ending {
	if forGood || r.Executed() && r.waited(ScanPatience) {
		return &Ending{v1alpha1.ConditionExecuted, v1alpha1.ReasonStoreUnavailable, err.Error()}
	}
	return nil
}

// NotReported ends a run whose report cannot be made; nil while a retry is worthwhile.
func (r Run) NotReported(err error, forGood bool) *Ending {
	if forGood || r.waited(max(ReportPatience, r.Kept)) {
		return &Ending{v1alpha1.ConditionReported, v1alpha1.ReasonReportFailed, err.Error()}
	}
	return nil
}

// ScanWaits reports whether the scan waits for the store. If it stays unavailable, the report tells.
func (r Run) ScanWaits(forGood bool) bool { return !forGood && !r.waited(ScanPatience) }

func (r Run) waited(patience time.Duration) bool {
	return !r.Waiting.IsZero() && r.Now.Sub(r.Waiting) > patience
}

func (r Run) lastEnd() time.Time {
	var last time.Time
	for i := range r.Trials {
		if t := &r.Trials[i]; !t.notNeeded() && t.Ended.After(last) {
			last = t.Ended
		}
	}
	return last
}

// Partial reports whether something is stored: a run that ends early is still reported.
func (r Run) Partial() bool {
	return slices.ContainsFunc(r.Trials, func(t Trial) bool { return t.Stored != nil })
}

// Verdict is the part of a report that decides how the run ended.
type Verdict struct {
	// Text is the verdict in a few words.
	Text string
	// Short is the verdict for a column of kubectl get.
	Short string
	// Conclusive: every comparison has a verdict; otherwise Reason says why not.
	Conclusive bool
	Reason     string
	// Unmet is why the run failed despite its report, and Objectives says so in a few words; empty if all objectives
	// are met.
	Unmet, Objectives string
}

// State is the state of a run.
type State int

const (
	// Ongoing runs have neither report nor ending.
	Ongoing State = iota
	// Succeeded runs measured and reported everything, and met all objectives.
	Succeeded
	// Failed runs ended otherwise.
	Failed
)

// Outcome is a run's state, and why.
type Outcome struct {
	State           State
	Reason, Message string
}

// Outcome returns the run's state. end is nil if it did not end early, verdict if it has no report.
func (r Run) Outcome(end *Ending, verdict *Verdict) Outcome {
	switch {
	case end != nil:
		return Outcome{Failed, end.Reason, end.Message}
	case verdict == nil:
		return Outcome{State: Ongoing, Reason: v1alpha1.ReasonInProgress}
	case len(r.Failed()) > 0:
		return Outcome{Failed, v1alpha1.ReasonTrialsFailed, r.besides(r.Failures())}
	case verdict.Unmet != "":
		return Outcome{Failed, verdict.Unmet, r.besides(verdict.Objectives)}
	}
	if open := r.notMade(); open > 0 {
		return Outcome{Failed, v1alpha1.ReasonTimedOut, fmt.Sprintf("%d of %d trials after the blocks were not measured in time: raise spec.timeoutSeconds", open, len(r.Plan.Following))}
	}
	return Outcome{Succeeded, v1alpha1.ReasonDone, r.besides(verdict.Text)}
}

// besides adds failures after the blocks.
func (r Run) besides(message string) string {
	return strings.TrimSuffix(message+"; "+r.WithoutResult(), "; ")
}

// WithoutResult names the failed trials after the blocks, with reasons; empty if none. The blocks' results stand
// without them. Trials that were skipped for another trial's failure are left out.
func (r Run) WithoutResult() string {
	var failed []string
	for _, t := range r.Trials.inOrder() {
		if t.Follows() && t.failed() && v1alpha1.OriginOf(t.Reason) != v1alpha1.OriginNone && !strings.HasPrefix(t.Message, skipped) {
			failed = append(failed, fmt.Sprintf("%s of %s failed: %s", kinds.Field(t.PlannedTrial), strings.Join(t.Servers, " "), cmp.Or(t.Message, t.Reason)))
		}
	}
	return strings.Join(failed, "; ")
}

// notMade counts the trials after the blocks without result or failure.
func (r Run) notMade() int {
	open := len(r.Plan.Following)
	for i := range r.Trials {
		if t := &r.Trials[i]; t.Follows() && t.ended() && (t.Stored != nil || v1alpha1.OriginOf(t.Reason) != v1alpha1.OriginNone) {
			open--
		}
	}
	return open
}

// Failures says how many trials failed, and quotes the first of each implementation; empty if none.
func (r Run) Failures() string {
	failed := r.Failed()
	if len(failed) == 0 {
		return ""
	}
	inBlocks := slices.DeleteFunc(slices.Clone(r.Trials), func(t Trial) bool { return t.Follows() })
	text := fmt.Sprintf("%d of %d trials failed", len(failed), len(inBlocks))
	quoted := map[string]bool{}
	for _, t := range failed {
		if name := strings.Join(t.Servers, " "); !quoted[name] {
			quoted[name] = true
			text += "; " + t.Message
		}
	}
	return text
}

// Interim is the state of the interim analyses, which may end a run early.
type Interim struct {
	// MaxWidth is the largest allowed interval width; empty if the run measures all blocks.
	MaxWidth string
	// After is the block of the last interim analysis; 0 before.
	After int32
	// Stopped is the block after which the run ended early; 0 if it did not.
	Stopped int32
}

// Made returns the state after an interim analysis.
func (i Interim) Made(block int32, narrow bool) Interim {
	i.After = block
	if narrow {
		i.Stopped = block
	}
	return i
}

func (i Interim) awaited(block, planned int32) bool {
	if i.MaxWidth == "" {
		return false
	}
	return slices.ContainsFunc(plan.InterimBlocks(planned), func(after int32) bool { return block > after && i.After < after })
}

// interimDue returns the block after which an interim analysis is due now; 0 if none. The last block has the report
// instead.
func (r Run) interimDue() int32 {
	if r.Interim.MaxWidth == "" || r.Interim.Stopped > 0 {
		return 0
	}
	for _, look := range plan.InterimBlocks(r.Plan.Blocks) {
		if look <= r.Interim.After {
			continue
		}
		for i := range r.Trials {
			if t := &r.Trials[i]; t.Block <= look && !t.ended() {
				return 0
			}
		}
		return look
	}
	return 0
}
