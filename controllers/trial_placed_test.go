package controllers

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/pods"
	"loadstone.dev/loadstone/controllers/render"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/store/artifact"
)

// own is the node of a member of a trial, in whichever attempt.
func own(trial, member string) string { return "own-" + trial + "-" + member }

// scatter puts each pod on another node, like a scheduler that prefers nodes with the image.
func scatter(w *world) {
	w.kubelet.place = func(p *corev1.Pod) string { return own(p.Labels[v1alpha1.LabelTrial], p.Labels[v1alpha1.LabelMember]) }
}

func TestRunStaysOnNodesOfFirstTrial(t *testing.T) {
	t.Parallel()
	w := newWorld(t, scatter)
	w.agents.disturb("bound-000-") // A repeat block follows.
	run := w.apply("bound", with("go", v1alpha1.Implementation{Name: "epoll", Image: "epoll:1"}))
	first := w.awaitFirst("bound")
	await(w, first, "its end", func(t *v1alpha1.Trial) bool { return t.Status.CompletionTime != nil })
	w.stop() // The choice must be known to the next operator too.
	w.startManager()
	run = w.awaitEnd(run)
	condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)

	if n := onTheirNodes(t, w, run, first.Name, record.MemberGenerator(0), record.MemberServer(0)); n != 4 {
		t.Errorf("%d trials are stored, want those of a block and of a repeat one", n)
	}
}

func TestEachGeneratorStaysOnItsNode(t *testing.T) {
	t.Parallel()
	w := newWorld(t, scatter)
	run := w.awaitEnd(w.apply("gang", func(s *v1alpha1.BenchmarkRunSpec) {
		s.Blocks, s.Loads[0].Generators.Pods, s.Placement.GeneratorPinning = 2, 2, v1alpha1.Preferred
	}))
	condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
	onTheirNodes(t, w, run, "gang-000-go", record.MemberGenerator(0), record.MemberGenerator(1), record.MemberServer(0))
}

// onTheirNodes checks that every stored trial ran on the nodes of the first, and returns their number.
func onTheirNodes(t *testing.T, w *world, run *v1alpha1.BenchmarkRun, first string, roles ...string) int {
	t.Helper()
	var want []record.BoundNode
	for _, role := range roles {
		want = append(want, record.BoundNode{Member: role, Node: own(first, role)})
	}
	store, err := artifact.Open(w.store)
	w.must(err)
	d, err := store.Load(t.Context(), artifact.RunPrefix("", facts.Run(run)), "")
	w.must(err)
	if diff := cmp.Diff(want, d.Manifest.Nodes); diff != "" {
		t.Errorf("nodes in the run's manifest (-want +got):\n%s", diff)
	}
	for _, trial := range d.Trials {
		var got []record.BoundNode
		for _, p := range trial.Manifest.Pods {
			got = append(got, record.BoundNode{Member: p.Member, Node: p.Node})
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("nodes of trial %s (-want +got):\n%s", trial.Manifest.Name, diff)
		}
	}
	return len(d.Trials)
}

func TestDuetStaysOnItsNode(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) {
		w.kubelet.place = func(p *corev1.Pod) string {
			return "own-" + p.Labels[v1alpha1.LabelTrial] + "-" + p.Labels[v1alpha1.LabelRole] // The second server follows the first.
		}
	})
	run := w.awaitEnd(w.apply("duet", with("go", v1alpha1.Implementation{Name: "go2", Image: "go2:1"}), asDuet))
	condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
	want := []v1alpha1.MemberNode{
		{Member: "server-1", Node: "own-duet-000-duet-server"}, {Member: "generator-0", Node: "own-duet-000-duet-generator"}, {Member: "server-0", Node: "own-duet-000-duet-server"},
	}
	for _, trial := range w.trials(run) {
		got := map[string]string{}
		for _, n := range trial.Status.Nodes {
			got[n.Member] = n.Node
		}
		for _, n := range want {
			if got[n.Member] != n.Node {
				t.Errorf("%s of trial %s was on %s, want %s", n.Member, trial.Name, got[n.Member], n.Node)
			}
		}
	}
}

func TestRunWaitsForItsNode(t *testing.T) {
	t.Parallel()
	w := newWorld(t, scatter)
	run := w.apply("fixed", ample, func(s *v1alpha1.BenchmarkRunSpec) { s.Blocks, s.PatienceSeconds = 2, 1 })
	first := w.awaitMeasuring("fixed-000-go", 1)
	node := own(first.Name, record.MemberServer(0))
	w.kubelet.vanish(node)
	w.awaitTrial(run, first)
	says := "pod fixed-001-go-1-s0 is waiting for node " + node + ", where trial fixed-000-go was measured: all trials of a run share their nodes"
	await(w, w.trial("fixed-001-go"), "a word about the node", func(t *v1alpha1.Trial) bool {
		c := meta.FindStatusCondition(t.Status.Conditions, v1alpha1.ConditionPrepared)
		return c != nil && strings.Contains(c.Message, says)
	})
	w.awaitUnscheduled(render.PodName("fixed-001-go", 1, record.MemberServer(0)))
	w.clock.Forward(conduct.PrepareDeadline + pods.ScheduleDeadline)
	w.poke(w.trial("fixed-001-go"))
	w.poke(run)
	await(w, run, "a word about its trial", func(r *v1alpha1.BenchmarkRun) bool {
		c := meta.FindStatusCondition(r.Status.Conditions, v1alpha1.ConditionExecuted)
		return c != nil && c.Status == metav1.ConditionUnknown && strings.Contains(c.Message, "trial fixed-001-go: "+says)
	})
	// What happens from here on is no matter of waiting: the API server's clock, which says when a pod has found its node, was not put forward.
	for _, trial := range w.trials(run) {
		if len(trial.Status.Failures) > 0 {
			t.Errorf("trial %s did not wait: %q", trial.Name, trial.Status.Failures)
		}
	}
	w.kubelet.comeBack(node)
	run = w.awaitHastened(run)
	condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
}

func TestTimedOutRunReportsPartialResults(t *testing.T) {
	t.Parallel()
	w := newWorld(t, scatter)
	run := w.apply("part", ample, func(s *v1alpha1.BenchmarkRunSpec) { s.Blocks, s.TimeoutSeconds = 2, 600 })
	first := w.awaitMeasuring("part-000-go", 1)
	w.kubelet.vanish(own(first.Name, record.MemberServer(0)))
	w.awaitTrial(run, first)
	w.awaitUnscheduled(render.PodName("part-001-go", 1, record.MemberServer(0)))
	w.clock.Forward(10 * time.Minute)
	w.poke(run)
	run = w.awaitEnd(run)
	for _, kind := range []string{v1alpha1.ConditionExecuted, v1alpha1.ConditionSucceeded} {
		condition(t, run.Status.Conditions, kind, metav1.ConditionFalse, v1alpha1.ReasonTimedOut, "the run exceeded its timeout of 600 s")
	}
	condition(t, run.Status.Conditions, v1alpha1.ConditionReported, metav1.ConditionTrue, v1alpha1.ReasonDone)
	artifactsOf(t, w, run)
	store, err := artifact.Open(w.store)
	w.must(err)
	d, err := store.Load(t.Context(), artifact.RunPrefix("", facts.Run(run)), "")
	w.must(err)
	if notes := strings.Join(d.Manifest.Notes, "\n"); len(d.Trials) != 1 || !strings.Contains(notes, "this record is partial, because the run ended early (TimedOut)") {
		t.Errorf("%d trials are on record, with the notes %s", len(d.Trials), notes)
	}
}

// awaitUnscheduled waits until the scheduler has said of a pod that no node fits.
func (w *world) awaitUnscheduled(name string) {
	w.t.Helper()
	await(w, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}}, "a word of the scheduler's", func(p *corev1.Pod) bool {
		return len(p.Status.Conditions) > 0
	})
}
