package gitops

import (
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/testbed"
	"loadstone.dev/loadstone/test/flux"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.FromSlogHandler(slog.DiscardHandler))
	os.Exit(testbed.Main(m))
}

const (
	suiteFile = "performance/suite.yaml"
	// performance applies the suite and waits for its rounds. deploy depends on it.
	performance, deploy = "checkout-performance", "checkout"
	// source is the GitRepository of both.
	source = "checkout"
)

// Each commit that changes inputs is measured, and passed commits are deployed. It is one test, because a cluster with Flux takes seconds to start.
// Each step starts where the previous one ended.
func TestASuiteGoesFromGitThroughFlux(t *testing.T) {
	w := newFlux(t)
	for _, step := range []struct {
		name string
		do   func(*cluster)
	}{
		{"a commit is measured, and then deployed", aCommitIsMeasured},
		{"what changes nothing starts nothing", nothingStartsNothing},
		{"a round that is asked for is measured once", aRequestIsMeasuredOnce},
		{"a gate that is missed deploys nothing", aGateIsMissed},
		{"a typo costs no round", aTypoCostsNoRound},
		{"a repair is deployed", aRepairIsDeployed},
		{"a suite that is removed goes, and nothing else", aSuiteIsRemoved},
		{"with force, a value that is refused costs the suite", forceCostsTheSuite},
	} {
		began := time.Now()
		// The steps depend on each other.
		if !t.Run(step.name, func(t *testing.T) { w.T, w.git.T = t, t; step.do(w) }) {
			return
		}
		t.Logf("%s: %.1f s", step.name, time.Since(began).Seconds())
	}
}

func aCommitIsMeasured(w *cluster) {
	first := w.git.Push("Measure checkout")
	w.follow()
	w.begins(1, "1.4.0")
	w.Await("that Flux waits for the round", func() string {
		ready, err := flux.Condition(w.Get(flux.Kustomizations, performance), "Healthy")
		w.Must(err)
		if ready.Status == metav1.ConditionUnknown {
			return ""
		}
		return ready.Message
	})
	w.wantDeployed("")
	w.ends(metav1.ConditionTrue, v1alpha1.ReasonDone, "all objectives met")
	w.Stands(performance, metav1.ConditionTrue, first, "")
	w.Stands(deploy, metav1.ConditionTrue, first, "")
	w.wantDeployed("1.4.0")
	if s := w.suite(); s.Status.LastGood.Round != 1 {
		w.T.Errorf("Flux calls ready what has the status %+v", s.Status)
	}
}

func nothingStartsNothing(w *cluster) {
	suite, runs := w.suite(), w.runs()
	w.Again("a-sync", source, performance, deploy)
	w.restart()
	w.Again("a-sync-after-a-restart", source, performance, deploy)
	w.git.Edit(suiteFile, "  triggers:\n", "  history: {passed: 10}\n  triggers:\n")
	w.push("Keep ten rounds, which is no input")
	w.Await("that the operator has seen the commit", func() string {
		if s := w.suite(); s.Generation == suite.Generation || *s.Status.ObservedGeneration != s.Generation {
			return fmt.Sprintf("generation %d", s.Generation)
		}
		return ""
	})
	w.kept("a commit that changes no input", suite, runs)
}

// Flux removes what kubectl wrote, but keeps the request of loadstone suite run.
func aRequestIsMeasuredOnce(w *cluster) {
	const note = "example.com/note"
	for annotation, owner := range map[string]string{v1alpha1.AnnotationRequestedAt: "loadstone", note: "kubectl-annotate"} {
		patch := fmt.Appendf(nil, `{"metadata": {"annotations": {%q: "now"}}}`, annotation)
		w.Must(w.Client.Patch(w.T.Context(), w.suite(), client.RawPatch("application/merge-patch+json", patch), client.FieldOwner(owner)))
	}
	w.begins(2, "1.4.0")
	w.Again("a-sync-during-a-request", source, performance, deploy)
	w.ends(metav1.ConditionTrue, v1alpha1.ReasonDone, "all objectives met")
	w.Await("the end of the round", func() string {
		if s := w.suite(); s.Status.LastGood.Round != 2 {
			return s.Status.LastGood.Message
		}
		return ""
	})
	w.Again("a-sync-after-a-request", source, performance, deploy)
	if n := len(w.runs()); n != 2 {
		w.T.Errorf("there are %d runs, want 2", n)
	}
	if of := w.suite().Annotations; of[v1alpha1.AnnotationRequestedAt] != "now" || of[note] != "" {
		w.T.Errorf("Flux has left the annotations %v", of)
	}
}

func aGateIsMissed(w *cluster) {
	w.git.Edit(suiteFile, "checkout:1.4.0", "checkout:1.4.1")
	w.git.Edit("deploy/deployment.yaml", "checkout:1.4.0", "checkout:1.4.1")
	second := w.git.Push("Sell faster") // Flux finds it by itself.
	committed := time.Now()
	w.begins(3, "1.4.1")
	w.T.Logf("%.1f s from a commit to its run, with a Git repository that Flux asks every 2 s", time.Since(committed).Seconds())
	w.ends(metav1.ConditionFalse, v1alpha1.ReasonObjectivesMissed, "throughput 0.81 of anchor's, at least 0.95 wanted")
	ended := time.Now()
	// Flux names the failed object but not the reason, which is in the suite.
	w.Stands(performance, metav1.ConditionFalse, second, "BenchmarkSuite/checkout-performance/checkout status: 'Failed'")
	w.T.Logf("%.1f s from a run's end to what Flux says of it", time.Since(ended).Seconds())
	if c := meta.FindStatusCondition(w.suite().Status.Conditions, v1alpha1.ConditionStalled); c.Status != metav1.ConditionTrue || !strings.Contains(c.Message, "0.81 of anchor's") {
		w.T.Errorf("Stalled is %+v", c)
	}
	w.Await("that nothing is deployed", func() string {
		ready, err := flux.Condition(w.Get(flux.Kustomizations, deploy), "Ready")
		w.Must(err)
		if ready.Status == metav1.ConditionFalse && strings.Contains(ready.Message, "checkout-performance' is not ready") {
			return ""
		}
		return ready.Message
	})
	w.wantDeployed("1.4.0")
}

func aTypoCostsNoRound(w *cluster) {
	suite, runs := w.suite(), w.runs()
	for _, typo := range []struct{ name, old, with, force, says string }{
		{"a field of a template that there is not", "connections: 100", "conections: 100", "true", "status: 'Failed'"},
		{"a field of the suite that there is not", "triggers:", "trigers:", "true", "field not declared in schema"},
		{"a value that the API server refuses", "images: AsWritten", "images: AsWriten", "false", "AsWriten"},
	} {
		w.Change(flux.Kustomizations, performance, `{"spec": {"force": `+typo.force+`}}`)
		w.git.Edit(suiteFile, typo.old, typo.with)
		w.Stands(performance, metav1.ConditionFalse, w.push("Make a typo: "+typo.name), typo.says)
		w.kept(typo.name, suite, runs)
		w.git.Edit(suiteFile, typo.with, typo.old)
	}
}

func aRepairIsDeployed(w *cluster) {
	w.git.Edit(suiteFile, "checkout:1.4.1", "checkout:1.4.2")
	w.git.Edit("deploy/deployment.yaml", "checkout:1.4.1", "checkout:1.4.2")
	third := w.push("Sell as fast as before")
	w.begins(4, "1.4.2")
	w.ends(metav1.ConditionTrue, v1alpha1.ReasonDone, "all objectives met")
	w.Stands(performance, metav1.ConditionTrue, third, "")
	w.Stands(deploy, metav1.ConditionTrue, third, "")
	w.wantDeployed("1.4.2")
	if s := w.suite(); s.Status.LastGood.Round != 4 {
		w.T.Errorf("the status is %+v", s.Status)
	}
}

func aSuiteIsRemoved(w *cluster) {
	stranger := &v1alpha1.BenchmarkSuite{ObjectMeta: metav1.ObjectMeta{Namespace: measured, Name: "stranger"}, Spec: w.suite().Spec}
	stranger.Spec.Triggers = v1alpha1.Triggers{Schedules: []v1alpha1.Schedule{{Cron: "@yearly"}}}
	w.Must(w.Client.Create(w.T.Context(), stranger))
	// Kubernetes' garbage collector would delete owned objects. There is none here.
	for _, run := range w.runs() {
		if owner := metav1.GetControllerOf(&run); owner == nil || owner.UID != w.suite().UID {
			w.T.Errorf("the run %s is owned by %+v", run.Name, owner)
		}
	}
	w.git.Edit("performance/kustomization.yaml", "- suite.yaml\n", "")
	w.Stands(performance, metav1.ConditionTrue, w.push("Measure no more"), "")
	if s := w.suite(); s != nil {
		w.T.Errorf("the suite is still there: %+v", s.ObjectMeta)
	}
	w.Must(w.Client.Get(w.T.Context(), client.ObjectKeyFromObject(stranger), stranger))
	w.Must(w.Client.Get(w.T.Context(), client.ObjectKey{Name: measured}, &corev1.Namespace{}))
	w.wantDeployed("1.4.2")
}

// This is why config/gitops/flux does not use force. Flux takes a refusal for an immutable field and deletes the object before it knows whether the
// new one is accepted. The annotation can only enable force.
func forceCostsTheSuite(w *cluster) {
	w.git.Edit("performance/kustomization.yaml", "- namespace.yaml\n", "- namespace.yaml\n- suite.yaml\n")
	w.git.Edit(suiteFile, "checkout:1.4.2", "checkout:1.4.3")
	w.git.Edit(suiteFile, "  name: checkout\n", "  name: checkout\n  annotations: {kustomize.toolkit.fluxcd.io/force: disabled}\n")
	w.push("Measure again")
	w.Await("a suite", func() string {
		if w.suite() == nil {
			return "there is none"
		}
		return ""
	})
	w.begins(5, "1.4.3")
	w.ends(metav1.ConditionTrue, v1alpha1.ReasonDone, "all objectives met")
	w.Change(flux.Kustomizations, performance, `{"spec": {"force": true}}`)
	w.git.Edit(suiteFile, "images: AsWritten", "images: AsWriten")
	w.Stands(performance, metav1.ConditionFalse, w.push("Make a typo"), "AsWriten")
	if s := w.suite(); s != nil {
		w.T.Errorf("Flux has left the suite: docs/how-to/flux.md says that it would not")
	}
}
