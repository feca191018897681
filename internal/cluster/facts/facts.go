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

// Interim is what a run knows of its interim analyses.
func Interim(run *v1alpha1.BenchmarkRun) conduct.Interim {
	status := run.Status.Interim
	return conduct.Interim{After: status.AnalysedBlocks, Stopped: status.StoppedAfterBlock, MaxWidth: run.Spec.Stop.MaxWidth}
}

// Trials are the trials of a run by its plan, in the order of the list.
func Trials(list []v1alpha1.Trial, p plan.Plan) conduct.Trials {
	trials := make(conduct.Trials, len(list))
	for i := range list {
		trials[i] = Trial(&list[i], p)
	}
	return trials
}

// Trial is what is known of a trial by the plan of its run. Of one that is not in the plan the work is kind.Unknown.
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

// MeasuredOn are the nodes of a trial that was stored.
func MeasuredOn(m record.TrialManifest) []v1alpha1.MemberNode {
	var list []v1alpha1.MemberNode
	for _, p := range m.Pods {
		list = append(list, v1alpha1.MemberNode{Member: p.Member, Node: p.Node})
	}
	return list
}

// Line is the line of the plan of its run to which a trial points.
func Line(t *v1alpha1.Trial, p plan.Plan) (record.PlannedTrial, error) {
	line, found := p.Line(t.Spec.RunName, t.Name, Index(t), t.Spec.Block)
	if !found {
		return line, fmt.Errorf("the plan of BenchmarkRun %s has no trial %s with index %d in block %d", t.Spec.RunName, t.Name, Index(t), t.Spec.Block)
	}
	return line, nil
}

// servers are the implementations that a trial names itself; none of a trial that an older version made.
func servers(t *v1alpha1.Trial) []string {
	var names []string
	for _, label := range []string{v1alpha1.LabelImplementation, v1alpha1.LabelPeer} {
		if name := t.Labels[label]; name != "" {
			names = append(names, name)
		}
	}
	return names
}

// Index is the position of a trial in its run; 0 of an object without one, which no API server takes.
func Index(t *v1alpha1.Trial) int32 {
	if t.Spec.Index == nil {
		return 0
	}
	return *t.Spec.Index
}

// EndReason is why a run measures nothing more; empty while it does. Trials that an early end cuts off are out of time, whatever has ended their run.
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

// Over is why a run's measuring has ended early, as an operator has written it down while the report waits for its store; nil if it goes on, or if all was
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

// Pod is where a pod ran and what ran in it: its first container is the one that is measured, or that measures.
func Pod(p *corev1.Pod) record.PodRecord {
	r := record.PodRecord{
		Name: p.Name, Member: p.Labels[v1alpha1.LabelMember], Node: p.Spec.NodeName,
		QOSClass: string(p.Status.QOSClass), Image: p.Spec.Containers[0].Image,
	}
	for _, c := range p.Status.ContainerStatuses {
		if c.Name == p.Spec.Containers[0].Name {
			r.ImageID = c.ImageID
		}
	}
	return r
}

// Plan is the plan of a run on a cluster.
func Plan(run *v1alpha1.BenchmarkRun) (plan.Plan, error) {
	return plan.Compile(run.Spec, plan.Options{Name: run.Name, UID: string(run.UID), Round: ofRound(run)})
}

// KnownPlan is the plan of a run, or of one whose spec this version refuses the number of its blocks alone.
func KnownPlan(run *v1alpha1.BenchmarkRun) plan.Plan {
	p, err := Plan(run)
	if err != nil {
		return plan.Plan{Plan: record.Plan{Blocks: plan.BlocksOf(run.Spec)}}
	}
	return p
}

// ofRound reports whether a suite has made a run.
func ofRound(run *v1alpha1.BenchmarkRun) bool {
	owner := metav1.GetControllerOf(run)
	return owner != nil && owner.Kind == "BenchmarkSuite" && owner.APIVersion == v1alpha1.GroupVersion.String()
}

const (
	// releasePatience is how long a pod may hold CPUs after it was told to go.
	releasePatience = 10 * time.Minute
	// orphanPatience is the same of a pod whose trial is gone: one of ours has gone by then, or its node is known to be away.
	orphanPatience = time.Minute
)

// HoldsCPUs reports whether a pod that another trial has made may still use its CPUs. The owner is the Trial that controls it, nil if there is none
// with that UID. Anybody may give a pod our labels, and name a trial as its owner: it holds up nobody for longer than the trial and some minutes.
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

// Goes reports whether a pod that a trial has made, and that is or will be deleted, can be expected to be gone soon: its node is there, and it is not long
// since it was told to go.
func Goes(p *corev1.Pod, nodes []plan.Node, now time.Time) bool {
	late := !p.DeletionTimestamp.IsZero() && now.Sub(ToldToGo(p)) >= releasePatience
	return ofTrial(p) && !late && !Unreachable(p, nodes)
}

// ToldToGo is when a pod that is being deleted was told so. Its deletion timestamp lies later by its grace period, which may be a year, as whoever makes
// a pod chooses; that of ours is two seconds.
func ToldToGo(p *corev1.Pod) time.Time {
	var grace int64
	if p.DeletionGracePeriodSeconds != nil {
		grace = *p.DeletionGracePeriodSeconds
	}
	return p.DeletionTimestamp.Add(-time.Duration(grace) * time.Second)
}

// ofTrial reports whether a pod says that a trial has made it.
func ofTrial(p *corev1.Pod) bool {
	owner := metav1.GetControllerOf(p)
	return owner != nil && owner.Kind == "Trial" && owner.APIVersion == v1alpha1.GroupVersion.String()
}

// TrialOf is the name of the Trial that controls a pod, and its UID; empty if none does.
func TrialOf(p *corev1.Pod) (name string, uid types.UID) {
	if !ofTrial(p) {
		return "", ""
	}
	owner := metav1.GetControllerOf(p)
	return owner.Name, owner.UID
}

// Unreachable reports whether a pod that is being deleted is on a node that is not ready: its object stays until the node is back, and nothing is
// placed there before. A node that is cordoned goes on running what it has.
func Unreachable(p *corev1.Pod, nodes []plan.Node) bool {
	return !p.DeletionTimestamp.IsZero() && slices.ContainsFunc(nodes, func(n plan.Node) bool { return n.Name == p.Spec.NodeName && n.NotReady })
}

// ready reports whether nothing is known that keeps a node from running pods.
func ready(n *corev1.Node) bool {
	return !slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status != corev1.ConditionTrue
	})
}

// Nodes are the nodes of the cluster as plans see them.
func Nodes(list []corev1.Node) []plan.Node {
	var nodes []plan.Node
	for _, n := range list {
		nodes = append(nodes, plan.Node{
			Name: n.Name, Role: n.Labels[v1alpha1.LabelRole], MilliCPU: n.Status.Allocatable.Cpu().MilliValue(),
			MemoryBytes: n.Status.Allocatable.Memory().Value(), Resources: resources(n.Status.Allocatable), Away: n.Spec.Unschedulable || !ready(&n), NotReady: !ready(&n),
		})
	}
	return nodes
}

// resources are those of a node that a container can ask for beside CPUs, memory and disk.
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

// Outcome is the reason and message of a trial's summary.
func Outcome(t *v1alpha1.Trial) (reason, message string) {
	if c := meta.FindStatusCondition(t.Status.Conditions, v1alpha1.ConditionSucceeded); c != nil {
		return c.Reason, c.Message
	}
	return v1alpha1.ReasonPending, "not tried"
}

// Ending is how a run has ended on a cluster, as if it had ended on this machine.
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

// State is how far a run is, in a word or two.
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

// planned is how many blocks a run asks for.
func planned(s Sight) int32 { return plan.BlocksOf(s.Run.Spec) }

// Absence is the time in which nobody could lead a run whose turn has come: what its status says, and a time in which no operator was there. If Argo
// was away when that began, it was away meanwhile. Of a run in the queue only the end of that counts.
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

// WithoutEngine adds to an absence the time in which a run has waited for Argo since then.
func WithoutEngine(a conduct.Absence, run *v1alpha1.BenchmarkRun, now time.Time) conduct.Absence {
	if since := engineDownSince(run); !since.IsZero() {
		return a.With(since, now)
	}
	return a
}

// engineDownSince is since when a run waits for Argo; zero if it does not.
func engineDownSince(run *v1alpha1.BenchmarkRun) time.Time {
	if run.Status.WaitingSince == nil || reasonOf(run) != v1alpha1.ReasonWorkflowEngineDown {
		return time.Time{}
	}
	return run.Status.WaitingSince.Time
}

// AbsenceStatus is what the status of a run says of an absence, where why is the reason for which the run waits now. While that is Argo's absence, it
// counts nothing of it: time that passes by itself is not worth a write.
func AbsenceStatus(run *v1alpha1.BenchmarkRun, a conduct.Absence, why string, now time.Time) v1alpha1.AbsenceStatus {
	if why != v1alpha1.ReasonWorkflowEngineDown {
		a = WithoutEngine(a, run, now)
	}
	if a.Sum == 0 {
		return v1alpha1.AbsenceStatus{}
	}
	return v1alpha1.AbsenceStatus{Seconds: int32(a.Sum / time.Second), Until: &metav1.Time{Time: a.Until}}
}
