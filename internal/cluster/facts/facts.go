package facts

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/run/progress"
	"loadstone.dev/loadstone/internal/trial/kind"
	"loadstone.dev/loadstone/internal/trial/kind/kinds"
)

// Interim returns the state of a run's interim analyses.
func Interim(run *v1alpha1.BenchmarkRun) conduct.Interim {
	status := run.Status.Interim
	return conduct.Interim{After: status.AnalysedBlocks, Stopped: status.StoppedAfterBlock, MaxWidth: run.Spec.Stop.MaxWidth}
}

// Trials returns a run's trials by its plan, in the order of the list.
func Trials(list []v1alpha1.Trial, p plan.Plan) conduct.Trials {
	trials := make(conduct.Trials, len(list))
	for i := range list {
		trials[i] = Trial(&list[i], p)
	}
	return trials
}

// Trial returns a trial by its run's plan. If it is not in the plan, its work is kind.Unknown.
func Trial(t *v1alpha1.Trial, p plan.Plan) conduct.Trial {
	f := conduct.Trial{Work: kind.Unknown{}, Begun: t.Status.AttemptTime != nil}
	if line, err := Line(t, p); err == nil {
		f.PlannedTrial, f.Work = line, kinds.Planned(p.Plan, line)
	} else {
		f.PlannedTrial = record.PlannedTrial{Name: t.Name, Index: Index(t), Block: t.Spec.Block, Servers: servers(t)}
	}
	if t.Status.StartTime != nil {
		f.Started = t.Status.StartTime.Time
	}
	if t.Status.CompletionTime != nil {
		f.Ended = t.Status.CompletionTime.Time
	}
	if t.Status.ManifestKey != "" {
		f.Stored = &record.Artifact{Name: "manifest.json", Key: t.Status.ManifestKey, SHA256: t.Status.ManifestSHA256}
	}
	f.Reason, f.Message = Outcome(t)
	for _, n := range t.Status.Nodes {
		f.Nodes = append(f.Nodes, record.BoundNode{Member: n.Member, Node: n.Node})
	}
	return f
}

// MeasuredOn returns a stored trial's nodes.
func MeasuredOn(m record.TrialManifest) []v1alpha1.MemberNode {
	var list []v1alpha1.MemberNode
	for _, p := range m.Pods {
		list = append(list, v1alpha1.MemberNode{Member: p.Member, Node: p.Node})
	}
	return list
}

// Line returns a trial's line in its run's plan.
func Line(t *v1alpha1.Trial, p plan.Plan) (record.PlannedTrial, error) {
	line, found := p.Line(t.Spec.RunName, t.Name, Index(t), t.Spec.Block)
	if !found {
		return line, fmt.Errorf("the plan of BenchmarkRun %s has no trial %s with index %d in block %d", t.Spec.RunName, t.Name, Index(t), t.Spec.Block)
	}
	return line, nil
}

func servers(t *v1alpha1.Trial) []string {
	var names []string
	for _, label := range []string{v1alpha1.LabelImplementation, v1alpha1.LabelPeer} {
		if name := t.Labels[label]; name != "" {
			names = append(names, name)
		}
	}
	return names
}

// Index returns a trial's position in its run; 0 if absent, which the API server does not allow.
func Index(t *v1alpha1.Trial) int32 {
	if t.Spec.Index == nil {
		return 0
	}
	return *t.Spec.Index
}

// EndReason returns why a run measures no more; empty while it does. Trials cut off by an early end are TimedOut, whatever ended their run.
func EndReason(run *v1alpha1.BenchmarkRun) string {
	if Over(run) != nil {
		return v1alpha1.ReasonTimedOut
	}
	if run.Status.CompletionTime == nil {
		return ""
	}
	if c := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionSucceeded); c != nil {
		return c.Reason
	}
	return v1alpha1.ReasonDone
}

// Over returns why measuring ended early, from the status while the report waits for its store; nil if the run continues or everything was
// measured.
func Over(run *v1alpha1.BenchmarkRun) *conduct.Ending {
	c := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionExecuted)
	if c == nil || c.Status != metav1.ConditionFalse || c.Reason == v1alpha1.ReasonTrialsFailed {
		return nil
	}
	return &conduct.Ending{Condition: c.Type, Reason: c.Reason, Message: c.Message}
}

// Run identifies a run in records.
func Run(run *v1alpha1.BenchmarkRun) record.Run {
	return record.Run{Namespace: run.Namespace, Name: run.Name, UID: string(run.UID), PlanHash: run.Status.PlanHash}
}

// Pod returns the record of a pod, whose container of that name is the measured or measuring one.
func Pod(p *corev1.Pod, container string) record.PodRecord {
	r := record.PodRecord{Name: p.Name, Member: p.Labels[v1alpha1.LabelMember], Node: p.Spec.NodeName, QOSClass: string(p.Status.QOSClass)}
	for _, c := range p.Spec.Containers {
		if c.Name == container {
			r.Image = c.Image
		}
	}
	for _, c := range p.Status.ContainerStatuses {
		if c.Name == container {
			r.ImageID = c.ImageID
		}
	}
	return r
}

// Plan returns a run's plan.
func Plan(run *v1alpha1.BenchmarkRun) (plan.Plan, error) {
	return plan.Compile(run.Spec, plan.Options{Name: run.Name, UID: string(run.UID), Round: ofRound(run)})
}

// KnownPlan is Plan, but also works if this version refuses only the number of blocks.
func KnownPlan(run *v1alpha1.BenchmarkRun) plan.Plan {
	p, err := Plan(run)
	if err != nil {
		return plan.Plan{Plan: record.Plan{Blocks: plan.BlocksOf(run.Spec)}}
	}
	return p
}

func ofRound(run *v1alpha1.BenchmarkRun) bool {
	owner := metav1.GetControllerOf(run)
	return owner != nil && owner.Kind == "BenchmarkSuite" && owner.APIVersion == v1alpha1.GroupVersion.String()
}

const (
	// releasePatience is how long a pod may hold CPUs after the request to end.
	releasePatience = 10 * time.Minute
	// orphanPatience is the same if its trial is gone: by then our pod is gone, or its node is known to be unavailable.
	orphanPatience = time.Minute
)

// HoldsCPUs reports whether another trial's pod may still use its CPUs. owner is its controlling Trial; nil if none has that UID. Anyone can
// forge labels and owner, so a pod blocks others only during the trial and for some minutes after.
func HoldsCPUs(p *corev1.Pod, owner *v1alpha1.Trial, nodes []plan.Node, now time.Time) bool {
	switch goes := p.DeletionTimestamp; {
	case owner == nil && goes.IsZero():
		return false
	case owner == nil:
		return Goes(p, nodes, now) && now.Sub(ToldToGo(p)) < orphanPatience
	case !goes.IsZero():
		return Goes(p, nodes, now)
	case owner.Status.CompletionTime != nil:
		return now.Sub(owner.Status.CompletionTime.Time) < releasePatience
	}
	return true
}

// Goes reports whether a trial's pod that is or will be deleted should be gone soon: its node is available, and the request to end is recent.
func Goes(p *corev1.Pod, nodes []plan.Node, now time.Time) bool {
	late := !p.DeletionTimestamp.IsZero() && now.Sub(ToldToGo(p)) >= releasePatience
	return ofTrial(p) && !late && !Unreachable(p, nodes)
}

// ToldToGo returns when a pod's deletion was requested. Its deletion timestamp is later by the grace period, which its creator chooses, up to
// a year; ours is two seconds.
func ToldToGo(p *corev1.Pod) time.Time {
	var grace int64
	if p.DeletionGracePeriodSeconds != nil {
		grace = *p.DeletionGracePeriodSeconds
	}
	return p.DeletionTimestamp.Add(-time.Duration(grace) * time.Second)
}

func ofTrial(p *corev1.Pod) bool {
	owner := metav1.GetControllerOf(p)
	return owner != nil && owner.Kind == "Trial" && owner.APIVersion == v1alpha1.GroupVersion.String()
}

// TrialOf returns the name and UID of the Trial that controls a pod, or empty.
func TrialOf(p *corev1.Pod) (name string, uid types.UID) {
	if !ofTrial(p) {
		return "", ""
	}
	owner := metav1.GetControllerOf(p)
	return owner.Name, owner.UID
}

// Unreachable reports whether a pod being deleted is on a node that is not ready: the object stays until the node is back. A cordoned node
// keeps running its pods.
func Unreachable(p *corev1.Pod, nodes []plan.Node) bool {
	return !p.DeletionTimestamp.IsZero() && slices.ContainsFunc(nodes, func(n plan.Node) bool { return n.Name == p.Spec.NodeName && n.NotReady })
}

func ready(n *corev1.Node) bool {
	return !slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status != corev1.ConditionTrue
	})
}

// Nodes converts the cluster's nodes for plans.
func Nodes(list []corev1.Node) []plan.Node {
	var nodes []plan.Node
	for _, n := range list {
		nodes = append(nodes, plan.Node{
			Name: n.Name, Role: n.Labels[v1alpha1.LabelRole], MilliCPU: n.Status.Allocatable.Cpu().MilliValue(),
			MemoryBytes: n.Status.Allocatable.Memory().Value(), Resources: resources(n.Status.Allocatable), Labels: n.Labels, Away: n.Spec.Unschedulable || !ready(&n), NotReady: !ready(&n),
		})
	}
	return nodes
}

// resources returns a node's resources other than CPUs, memory and disk.
func resources(all corev1.ResourceList) map[string]int64 {
	var out map[string]int64
	for name, q := range all {
		if plan.Askable(string(name)) && !q.IsZero() {
			if out == nil {
				out = map[string]int64{}
			}
			out[string(name)] = q.Value()
		}
	}
	return out
}

// Outcome returns the reason and message of a trial's summary.
func Outcome(t *v1alpha1.Trial) (reason, message string) {
	if c := meta.FindStatusCondition(t.Status.Conditions, v1alpha1.ConditionSucceeded); c != nil {
		return c.Reason, c.Message
	}
	return v1alpha1.ReasonPending, "not tried"
}

// Ending returns a run's end in the form of a local run's.
func Ending(r *v1alpha1.BenchmarkRun) progress.Ending {
	e := progress.Ending{Counts: true, Gated: len(r.Spec.Objectives) > 0, Verdict: &conduct.Verdict{Text: r.Status.Verdict}}
	e.State, e.Reason, e.Message = conduct.Failed, "Unknown", "the run has no condition that says how it has ended"
	if c := meta.FindStatusCondition(r.Status.Conditions, v1alpha1.ConditionSucceeded); c != nil {
		e.Reason, e.Message = c.Reason, c.Message
		if c.Status == metav1.ConditionTrue {
			e.State = conduct.Succeeded
		}
	}
	if c := meta.FindStatusCondition(r.Status.Conditions, v1alpha1.ConditionConclusive); c != nil {
		e.Counts = c.Reason != v1alpha1.ReasonNoValidResults
		e.Verdict.Conclusive, e.Verdict.Reason = c.Status == metav1.ConditionTrue, c.Reason
	}
	return e
}

// State returns a run's progress in a word or two.
func State(r *v1alpha1.BenchmarkRun) string {
	c := meta.FindStatusCondition(r.Status.Conditions, v1alpha1.ConditionSucceeded)
	switch {
	case !r.DeletionTimestamp.IsZero():
		return "Deleting"
	case c == nil:
		return "New"
	case c.Status == metav1.ConditionTrue:
		return "Succeeded"
	case r.Status.CompletionTime == nil && c.Reason == v1alpha1.ReasonInProgress:
		return "Measuring"
	}
	return c.Reason
}

func planned(s Sight) int32 { return plan.BlocksOf(s.Run.Spec) }

// Absence returns how long a started run had no operator or engine: from its status, and the given absence of operators. If Argo was
// unavailable at from, it counts as unavailable until to. For a queued run only to counts.
func Absence(run *v1alpha1.BenchmarkRun, from, to time.Time) conduct.Absence {
	status := run.Status.Absence
	a := conduct.Absence{Sum: time.Duration(status.Seconds) * time.Second}
	if status.Until != nil {
		a.Until = status.Until.Time
	}
	switch start := run.Status.StartTime; {
	case from.IsZero():
		return a
	case start == nil:
		return conduct.Absence{Until: to}
	case from.Before(start.Time):
		from = start.Time
	}
	if down := engineDownSince(run); !down.IsZero() && down.Before(from) {
		from = down
	}
	return a.With(from, to)
}

// WithoutEngine adds the time since then that a run waited for Argo.
func WithoutEngine(a conduct.Absence, run *v1alpha1.BenchmarkRun, now time.Time) conduct.Absence {
	if since := engineDownSince(run); !since.IsZero() {
		return a.With(since, now)
	}
	return a
}

func engineDownSince(run *v1alpha1.BenchmarkRun) time.Time {
	if run.Status.WaitingSince == nil || reasonOf(run) != v1alpha1.ReasonWorkflowEngineDown {
		return time.Time{}
	}
	return run.Status.WaitingSince.Time
}

// AbsenceStatus returns an absence for a run's status; why is the current reason for waiting. An ongoing Argo outage is not counted yet:
// passing time is not worth a write.
func AbsenceStatus(run *v1alpha1.BenchmarkRun, a conduct.Absence, why string, now time.Time) v1alpha1.AbsenceStatus {
	if why != v1alpha1.ReasonWorkflowEngineDown {
		a = WithoutEngine(a, run, now)
	}
	if a.Sum == 0 {
		return v1alpha1.AbsenceStatus{}
	}
	return v1alpha1.AbsenceStatus{Seconds: int32(a.Sum / time.Second), Until: &metav1.Time{Time: a.Until}}
}
