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
	// ScanPatience is how long it may be away when what was measured is to be scanned.
	ScanPatience = 10 * time.Minute
	// ReportPatience is how long it may at least be away when the report is due: long, since nothing is measured meanwhile, and other runs go on. All
	// that was measured is lost without a report.
	ReportPatience = 6 * time.Hour
)

// Ending is why a run is over before it was measured and reported as planned: the condition that it did not reach, and the reason.
type Ending struct{ Condition, Reason, Message string }

// Refused ends a run that cannot be planned.
func Refused(v *plan.Violation) *Ending {
	return &Ending{v1alpha1.ConditionPlanned, v.Reason, v.Message}
}

// Outgrown ends a run that an earlier version of the operator has begun, and of which this one refuses the spec.
func Outgrown(v *plan.Violation) *Ending {
	return &Ending{v1alpha1.ConditionExecuted, v.Reason, fmt.Sprintf("this version of the operator refuses the spec of the run, which another one has begun: what was measured until then is reported: %s", v.Message)}
}

// PlanDamaged ends a run whose stored plan cannot be used, while this version of the operator compiles another plan: no run is measured by two plans.
func PlanDamaged() *Ending {
	return &Ending{v1alpha1.ConditionExecuted, v1alpha1.ReasonReportFailed, "another version of the operator began the run, and its stored plan is damaged: start a new run"}
}

// NotPlanned is the failure of a trial that the operator does not find in the plan of its run, for a reason.
func NotPlanned(err error) *Failure {
	return PermanentFailure(v1alpha1.ReasonInvalidSpec, "this version of the operator cannot measure the trial, which another one has made: %s: start a new run, or install the version that began this one", err)
}

// ShutDown ends a run of which somebody has ended the workflow, as a message says.
func ShutDown(message string) *Ending {
	return &Ending{v1alpha1.ConditionExecuted, v1alpha1.ReasonWorkflowFailed, message}
}

// GaveWay ends a run whose nodes have been away for longer than its spec has patience, while other runs wait. It could go on with none but those: what it
// has measured there can be compared with nothing from elsewhere.
func GaveWay(nodes []string, others int) *Ending {
	return &Ending{v1alpha1.ConditionExecuted, v1alpha1.ReasonUnschedulable, fmt.Sprintf(
		"the run has waited for spec.patienceSeconds, is bound to %s, where no pods are taken, and %s for a turn: what it had measured is reported", strings.Join(nodes, " and "), waiting(others),
	)}
}

// waiting counts other runs in words.
func waiting(others int) string {
	if others == 1 {
		return "another run waits"
	}
	return fmt.Sprintf("%d others wait", others)
}

// NotLed ends a run at which the operator itself fails.
func NotLed(err error) *Ending {
	return &Ending{v1alpha1.ConditionPlanned, v1alpha1.ReasonOperatorFailed, fmt.Sprintf("%s: report it with the spec of the run; another version of the operator may know the way out", err)}
}

// TimedOut ends a run that has used up its time before everything that was planned had been measured; nil if it may go on.
func (r Run) TimedOut() *Ending {
	if r.Executed() {
		return nil
	}
	return r.Overran()
}

// Overran ends a run that has used up its time, whatever it has measured; nil if it may go on.
func (r Run) Overran() *Ending {
	if !r.Now.After(r.Deadline()) {
		return nil
	}
	return &Ending{v1alpha1.ConditionExecuted, v1alpha1.ReasonTimedOut, fmt.Sprintf("the run exceeded its timeout of %d s: raise spec.timeoutSeconds", r.Plan.TimeoutSeconds)}
}

// NotStored ends a run whose first files a store refuses.
func NotStored(err error) *Ending {
	return &Ending{v1alpha1.ConditionPlanned, v1alpha1.ReasonStoreUnavailable, err.Error()}
}

// NotAnalysed ends a run that cannot be read for its interim analysis; nil while a store is waited for that may come back.
func (r Run) NotAnalysed(err error, forGood bool) *Ending {
	if forGood || r.Executed() && r.waited(ScanPatience) {
		return &Ending{v1alpha1.ConditionExecuted, v1alpha1.ReasonStoreUnavailable, err.Error()}
	}
	return nil
}

// NotReported ends a run whose report cannot be made; nil while it is worth another try.
func (r Run) NotReported(err error, forGood bool) *Ending {
	if forGood || r.waited(max(ReportPatience, r.Kept)) {
		return &Ending{v1alpha1.ConditionReported, v1alpha1.ReasonReportFailed, err.Error()}
	}
	return nil
}

// ScanWaits is true while a store is waited for that cannot be read for the scan. One that stays away is left to the report to tell.
func (r Run) ScanWaits(forGood bool) bool { return !forGood && !r.waited(ScanPatience) }

// waited reports whether the run has waited for its store for too long. While nobody led it, it did not wait: the first look at a store that is
// away ends nothing.
func (r Run) waited(patience time.Duration) bool {
	return !r.Waiting.IsZero() && r.Now.Sub(r.Waiting) > patience
}

// lastEnd is when the last trial ended that belongs to the run's record; zero if there is none.
func (r Run) lastEnd() time.Time {
	var last time.Time
	for i := range r.Trials {
		if t := &r.Trials[i]; !t.notNeeded() && t.Ended.After(last) {
			last = t.Ended
		}
	}
	return last
}

// Partial reports whether something is stored of a run that ends before everything was measured: it is reported all the same.
func (r Run) Partial() bool {
	return slices.ContainsFunc(r.Trials, func(t Trial) bool { return t.Stored != nil })
}

// Verdict is the part of a stored report that decides how the run has ended.
type Verdict struct {
	// Text is the verdict in a few words.
	Text string
	// Short is the verdict for a column of kubectl get.
	Short string
	// Conclusive is true if every comparison has one; Reason says why not.
	Conclusive bool
	Reason     string
	// Unmet is the reason why the run has not succeeded in spite of its report, and Objectives says so in a few words; both are empty if
	// every objective is met.
	Unmet, Objectives string
}

// State is how a run stands.
type State int

const (
	// Ongoing runs have no report yet, and no reason to end without one.
	Ongoing State = iota
	// Succeeded runs have measured and reported all, and met every objective.
	Succeeded
	// Failed runs have ended otherwise.
	Failed
)

// Outcome is how a run stands, and why.
type Outcome struct {
	State           State
	Reason, Message string
}

// Outcome returns how the run stands: end is nil if it was not ended, and verdict if it has no report.
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
		return Outcome{Failed, v1alpha1.ReasonTimedOut, fmt.Sprintf("%d of %d trials that follow the blocks were not made in time: raise spec.timeoutSeconds", open, len(r.Plan.Following))}
	}
	return Outcome{Succeeded, v1alpha1.ReasonDone, r.besides(verdict.Text)}
}

// besides adds to a message what of that which follows the blocks has failed.
func (r Run) besides(message string) string {
	return strings.TrimSuffix(message+"; "+r.WithoutResult(), "; ")
}

// WithoutResult names the trials that follow the blocks and have failed, each with its reason; empty if none has. They belong to no block, and what
// the blocks have shown stands without them. Those that were skipped for what a trial of the blocks has shown are left out: that trial is named.
func (r Run) WithoutResult() string {
	var failed []string
	for _, t := range r.Trials.inOrder() {
		if t.Follows() && t.failed() && v1alpha1.OriginOf(t.Reason) != v1alpha1.OriginNone && !strings.HasPrefix(t.Message, skipped) {
			failed = append(failed, fmt.Sprintf("%s of %s failed: %s", kinds.Field(t.PlannedTrial), strings.Join(t.Servers, " "), cmp.Or(t.Message, t.Reason)))
		}
	}
	return strings.Join(failed, "; ")
}

// notMade counts the trials that were to follow the blocks, and of which there is neither a result nor a failure.
func (r Run) notMade() int {
	open := len(r.Plan.Following)
	for i := range r.Trials {
		if t := &r.Trials[i]; t.Follows() && t.ended() && (t.Stored != nil || v1alpha1.OriginOf(t.Reason) != v1alpha1.OriginNone) {
			open--
		}
	}
	return open
}

// Failures returns how many trials failed and quotes the first of each implementation; empty if none failed.
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

// Interim is what a run knows of its interim analyses, which ask whether the intervals are narrow enough for it to end early.
type Interim struct {
	// MaxWidth is how wide an interval may be; empty for a run that measures all of its blocks.
	MaxWidth string
	// After is the last block after which an interim analysis was made; 0 before the first.
	After int32
	// Stopped is the block after which the run ended early; 0 if it did not.
	Stopped int32
}

// Made is the knowledge after an interim analysis.
func (i Interim) Made(block int32, narrow bool) Interim {
	i.After = block
	if narrow {
		i.Stopped = block
	}
	return i
}

// awaited reports whether a block of so many planned ones may not begin before an interim analysis is made.
func (i Interim) awaited(block, planned int32) bool {
	if i.MaxWidth == "" {
		return false
	}
	return slices.ContainsFunc(plan.InterimBlocks(planned), func(after int32) bool { return block > after && i.After < after })
}

// interimDue is the block after which the interim analysis has to be made now; 0 if there is none. After the last block is the report.
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
