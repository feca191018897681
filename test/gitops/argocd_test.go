package gitops

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/test/flux"
)

var update = flag.Bool("update", false, "write config/gitops/argocd/argocd-cm.yaml from the scripts")

const suiteObject, deploymentObject = "BenchmarkSuite/checkout", "Deployment/checkout"

// Passed commits are deployed, wave by wave, with the engine of Argo CD, the scripts of its ConfigMap and the options of the Application. It is one
// test, as with Flux: each step starts where the previous one ended.
func TestASuiteGoesFromGitThroughTheEngineOfArgoCD(t *testing.T) {
	w := newArgoCD(t)
	for _, step := range []struct {
		name string
		do   func(*argoCD)
	}{
		{"a wave waits for the round", aWaveWaits},
		{"what changes nothing starts nothing", aSyncStartsNothing},
		{"the action starts a round, which no sync ends", theActionStartsARound},
		{"a gate that is missed fails the sync", aMissedGateFailsTheSync},
		{"with ApplyOutOfSyncOnly what was held back is deployed", applyOutOfSyncOnlyLeaks},
		{"a typo costs no round", aTypoFailsTheSync},
		{"a suite that is suspended holds the sync", aSuspendedSuiteHolds},
		{"what is removed goes last, and the namespace stays", whatIsRemovedGoesLast},
		{"without ServerSideApply, a field that there is not is left out, and Replace takes away notes", clientSideApplyLeavesOut},
		{"without ServerSideApply, a value that is refused costs the suite by force", forceCostsTheRounds},
	} {
		began := time.Now()
		if !t.Run(step.name, func(t *testing.T) { w.T = t; step.do(w) }) {
			return
		}
		t.Logf("%s: %.1f s", step.name, time.Since(began).Seconds())
	}
}

func aWaveWaits(w *argoCD) {
	w.sync()
	w.begins(1, "1.4.0")
	s := w.says("Running", "waiting for healthy state of loadstone.dev/BenchmarkSuite/checkout")
	if r := s.of(deploymentObject); r != (syncResult{}) {
		w.T.Errorf("of the next wave it says %+v", r)
	}
	w.wantDeployed("")
	w.ends(metav1.ConditionTrue, v1alpha1.ReasonDone, "all objectives met")
	w.wantSynced(w.says("Succeeded", ""))
	w.wantDeployed("1.4.0")
}

// wantSynced expects no difference from Git, except for some objects.
func (w *argoCD) wantSynced(s syncState, but ...string) {
	w.T.Helper()
	slices.Sort(s.OutOfSync)
	if !slices.Equal(s.OutOfSync, but) {
		w.T.Errorf("out of sync are %q, want %q: %+v", s.OutOfSync, but, s)
	}
}

func aSyncStartsNothing(w *argoCD) {
	suite, runs := w.suite(), w.runs()
	w.sync()
	w.wantSynced(w.says("Succeeded", ""))
	w.kept("a sync", suite, runs)
	if now := w.suite(); now.Generation != suite.Generation {
		w.T.Errorf("a sync has changed the suite: %+v", now.ObjectMeta)
	}
}

func theActionStartsARound(w *argoCD) {
	changed, err := annotated(w.settings.action(w.T, "run"), w.suite())
	w.Must(err)
	asked := changed[v1alpha1.AnnotationRequestedAt]
	if at, err := time.Parse(time.RFC3339, asked); err != nil || time.Since(at).Abs() > time.Hour {
		w.T.Errorf("the action asks for a round by %q: %v", asked, err)
	}
	patch := fmt.Appendf(nil, `{"metadata": {"annotations": {%q: %q}}}`, v1alpha1.AnnotationRequestedAt, asked)
	w.Must(w.Client.Patch(w.T.Context(), w.suite(), client.RawPatch("application/merge-patch+json", patch), client.FieldOwner("argocd-server")))
	w.begins(2, "1.4.0")
	// The suite's state does not change before the round ends.
	w.sync()
	w.wantSynced(w.says("Succeeded", ""))
	w.ends(metav1.ConditionTrue, v1alpha1.ReasonDone, "all objectives met")
	w.awaitGood(2)
	w.sync()
	w.wantSynced(w.says("Succeeded", ""))
	if n := len(w.runs()); n != 2 {
		w.T.Errorf("there are %d runs, want 2", n)
	}
	if got := w.suite().Annotations[v1alpha1.AnnotationRequestedAt]; got != asked {
		w.T.Errorf("a sync has made the request %q of %q", got, asked)
	}
}

// awaitGood waits until a round is the last good one.
func (w *argoCD) awaitGood(round int32) {
	w.T.Helper()
	w.Await(fmt.Sprintf("the end of round %d", round), func() string {
		if s := w.suite(); s.Status.LastGood.Round != round {
			return s.Status.LastGood.Message
		}
		return ""
	})
}

func (w *argoCD) release(old, version string) {
	w.T.Helper()
	w.edit("checkout:"+old, "checkout:"+version)
}

func aMissedGateFailsTheSync(w *argoCD) {
	w.release("1.4.0", "1.4.1")
	w.sync()
	w.begins(3, "1.4.1")
	w.ends(metav1.ConditionFalse, v1alpha1.ReasonObjectivesMissed, "throughput 0.81 of anchor's, at least 0.95 wanted")
	s := w.says("Failed", "0.81 of anchor's, at least 0.95 wanted")
	w.T.Logf("the sync says %q, and of the suite %+v", s.Message, s.of(suiteObject))
	if r := s.of(suiteObject); !strings.Contains(r.Message, "0.81 of anchor's") || r.Status != "Synced" {
		w.T.Errorf("of the suite it says %+v", r)
	}
	w.wantSynced(s, deploymentObject)
	w.wantDeployed("1.4.0")
	// As Argo CD does by itself.
	suite, runs := w.suite(), w.runs()
	w.sync()
	w.says("Failed", "0.81 of anchor's")
	w.kept("another try", suite, runs)
	w.wantDeployed("1.4.0")
	inGit := w.text
	w.remove("Deployment")
	w.sync()
	w.says("Failed", "0.81 of anchor's")
	w.wantDeployed("1.4.0")
	w.text = inGit
}

// This is why the Application does not have ApplyOutOfSyncOnly: it applies and checks only objects that differ.
func applyOutOfSyncOnlyLeaks(w *argoCD) {
	w.sync("ApplyOutOfSyncOnly=true")
	w.says("Succeeded", "")
	w.wantDeployed("1.4.1")
	if state, _, err := ArgoCD(root+"/config/gitops/argocd-health.lua", w.suite()); state != "Degraded" || err != nil {
		w.T.Errorf("the suite is %s, %v: the sync was to go on nevertheless", state, err)
	}
}

func aTypoFailsTheSync(w *argoCD) {
	suite, runs := w.suite(), w.runs()
	for _, typo := range []struct{ name, old, with, force, phase, says string }{
		{"a field of a template that there is not", "connections: 100", "conections: 100", "false", "Failed", `unknown field "loads[0].levels[0].conections"`},
		{"a field of the suite that there is not", "triggers:", "trigers:", "false", "Error", ".spec.trigers: field not declared in schema"},
		{"a value that the API server refuses", "images: AsWritten", "images: AsWriten", "false", "Failed", "AsWriten"},
		{"the same by force, which server-side apply refuses", "images: AsWritten", "images: AsWriten", "true", "Failed", "--force cannot be used with --server-side"},
	} {
		w.edit(typo.old, typo.with)
		w.sync("Force=" + typo.force)
		w.T.Logf("%s: %+v", typo.name, w.says(typo.phase, typo.says))
		w.kept(typo.name, suite, runs)
		w.edit(typo.with, typo.old)
	}
}

func aSuspendedSuiteHolds(w *argoCD) {
	w.release("1.4.1", "1.4.2")
	w.edit("  triggers:\n", "  suspend: true\n  triggers:\n")
	w.sync()
	w.Await("that the suite is suspended", func() string {
		state, message, err := ArgoCD(root+"/config/gitops/argocd-health.lua", w.suite())
		w.Must(err)
		if state == "Suspended" {
			return ""
		}
		return state + ": " + message
	})
	w.says("Running", "waiting for healthy state of loadstone.dev/BenchmarkSuite/checkout")
	w.wantDeployed("1.4.1")
	w.Must(w.Client.Patch(w.T.Context(), w.suite(), client.RawPatch("application/merge-patch+json", []byte(`{"spec": {"suspend": false}}`))))
	w.begins(4, "1.4.2")
	w.ends(metav1.ConditionTrue, v1alpha1.ReasonDone, "all objectives met")
	w.wantSynced(w.says("Succeeded", ""), suiteObject)
	w.wantDeployed("1.4.2")
	w.edit("  suspend: true\n", "")
}

// Deletion waits for owned objects. The test simulates Kubernetes' garbage collector.
func whatIsRemovedGoesLast(w *argoCD) {
	stranger := &v1alpha1.BenchmarkSuite{ObjectMeta: metav1.ObjectMeta{Namespace: w.measured, Name: "stranger", Annotations: w.suite().Annotations}, Spec: w.suite().Spec}
	stranger.Spec.Triggers = v1alpha1.Triggers{Schedules: []v1alpha1.Schedule{{Cron: "@yearly"}}}
	w.Must(w.Client.Create(w.T.Context(), stranger))
	kept := w.text
	w.remove("BenchmarkSuite")
	w.remove("Namespace\nmetadata:\n  annotations:")
	w.sync()
	w.says("Running", "waiting for healthy state of apps/Deployment/checkout")
	if s := w.suite(); s == nil || s.DeletionTimestamp != nil {
		w.T.Error("the suite has gone before what serves is healthy")
	}
	w.serves()
	w.Await("that the suite is deleted", func() string {
		s := w.suite()
		if s == nil || s.DeletionTimestamp == nil || !slices.Contains(s.Finalizers, metav1.FinalizerDeleteDependents) {
			return "it is not, or does not wait for its runs"
		}
		return ""
	})
	for _, run := range w.runs() {
		if owner := metav1.GetControllerOf(&run); owner == nil || owner.UID != w.suite().UID {
			w.T.Errorf("the run %s is owned by %+v", run.Name, owner)
		}
		w.Must(w.Client.Delete(w.T.Context(), &run))
	}
	w.Must(w.Client.Patch(w.T.Context(), w.suite(), client.RawPatch("application/merge-patch+json", []byte(`{"metadata": {"finalizers": null}}`))))
	s := w.says("Succeeded", "")
	if r := s.of("Namespace/" + w.measured); r.Status != "PruneSkipped" {
		w.T.Errorf("of the namespace it says %+v", r)
	}
	if w.suite() != nil {
		w.T.Error("the suite is still there")
	}
	w.Must(w.Client.Get(w.T.Context(), client.ObjectKeyFromObject(stranger), stranger))
	w.Must(w.Client.Get(w.T.Context(), client.ObjectKey{Name: w.measured}, &corev1.Namespace{}))
	w.wantDeployed("1.4.2")
	w.text = kept
}

func (w *argoCD) serves() {
	w.T.Helper()
	d := &appsv1.Deployment{}
	w.Must(w.Client.Get(w.T.Context(), client.ObjectKey{Namespace: w.served, Name: "checkout"}, d))
	d.Status = appsv1.DeploymentStatus{ObservedGeneration: d.Generation, Replicas: 1, UpdatedReplicas: 1, ReadyReplicas: 1, AvailableReplicas: 1}
	w.Must(w.Client.Status().Update(w.T.Context(), d))
}

// This is why the Application has ServerSideApply: otherwise the API server's warning is lost.
func clientSideApplyLeavesOut(w *argoCD) {
	w.edit("triggers:", "trigers:")
	w.sync("ServerSideApply=false")
	s := w.says("Succeeded", "")
	w.T.Logf("the sync says %+v", s)
	if got := w.suite().Spec.Triggers.Change.Images; got != "" {
		w.T.Errorf("the suite follows %s", got)
	}
	w.edit("trigers:", "triggers:")
	const note = `{"metadata": {"annotations": {"example.com/note": "now"}}}`
	w.Must(w.Client.Patch(w.T.Context(), w.suite(), client.RawPatch("application/merge-patch+json", []byte(note))))
	w.sync("ServerSideApply=false", "Replace=true")
	w.begins(1, "1.4.2")
	if got := w.suite().Annotations["example.com/note"]; got != "" {
		w.T.Errorf("Replace has left the note %q", got)
	}
	w.ends(metav1.ConditionTrue, v1alpha1.ReasonDone, "all objectives met")
	w.says("Succeeded", "")
}

// With client-side apply, a refusal of the API server looks like a change of an immutable field. So the suite is deleted and created again.
func forceCostsTheRounds(w *argoCD) {
	before := w.suite()
	w.edit("images: AsWritten", "images: AsWriten")
	w.sync("ServerSideApply=false", "Force=true")
	s := w.says("Failed", "AsWriten")
	w.T.Logf("the sync says %+v", s)
	if now := w.suite(); now != nil && now.UID == before.UID {
		w.T.Errorf("the suite is what it was: docs/how-to/argo-cd.md says that it would not: %+v", s)
	}
}

func TestArgoCDAcceptsApplication(t *testing.T) {
	crds := filepath.Join(flux.Module(t, root, "github.com/argoproj/argo-cd/v3", "ARGOCD_VERSION"), "manifests", "crds")
	wantTaken(t, []string{filepath.Join(crds, "application-crd.yaml")}, filepath.Join(argo, "application.yaml"))
}

// The ConfigMap must have the scripts that other tests use.
func TestTheConfigMapOfArgoCDHasTheScripts(t *testing.T) {
	script := func(name, indent string) string {
		text, err := os.ReadFile(filepath.Join(root, "config", "gitops", name+".lua"))
		if err != nil {
			t.Fatal(err)
		}
		return indent + strings.ReplaceAll(strings.TrimSuffix(string(text), "\n"), "\n", "\n"+indent) + "\n"
	}
	want := `# What Argo CD has to know of suites and runs: their health, and the action "run" of a suite. It is a patch of the ConfigMap that Argo CD has. The scripts
# are those of config/gitops: after a change of one, "go test ./test/gitops -run ConfigMap -update" writes this file.
apiVersion: v1
kind: ConfigMap
metadata:
  name: argocd-cm
data:
  resource.customizations.health.loadstone.dev_BenchmarkSuite: |
` + script("argocd-health", "    ") + `  resource.customizations.health.loadstone.dev_BenchmarkRun: |
` + script("argocd-health-run", "    ") + `  resource.customizations.actions.loadstone.dev_BenchmarkSuite: |
    discovery.lua: |
      return {run = {}}
    definitions:
    - name: run
      action.lua: |
` + script("argocd-run", "        ")
	path := filepath.Join(argo, "argocd-cm.yaml")
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// In Argo CD, the library os has only the time: it starts no program and reads no environment.
func TestHealthScriptCanOnlyReadTheTime(t *testing.T) {
	got, err := annotated(`
		local os = require("os")
		local names = ""
		for name in pairs(os) do names = names .. name .. " " end
		return {metadata = {annotations = {names = names, time = os.time(), execute = tostring(os.execute), io = tostring(io)}}}`, map[string]any{})
	if err != nil {
		t.Fatal(err)
	}
	if got["execute"] != "nil" || got["io"] != "nil" || got["time"] == "" || len(strings.Fields(got["names"])) != 2 {
		t.Errorf("a script sees %v", got)
	}
}

// Otherwise a wave could pass with the verdict on the previous commit.
func TestOutdatedStatusIsProgressing(t *testing.T) {
	for kind, condition := range map[string]string{"BenchmarkSuite": v1alpha1.ConditionReady, "BenchmarkRun": v1alpha1.ConditionSucceeded} {
		script := readSettings(t)["resource.customizations.health.loadstone.dev_"+kind]
		for seen, want := range map[int]string{1: "Progressing", 2: "Healthy"} {
			state, _, err := health(script, map[string]any{
				"kind": kind, "metadata": map[string]any{"generation": 2},
				"status": map[string]any{
					"observedGeneration": seen,
					"conditions":         []any{map[string]any{"type": condition, "status": "True", "reason": "Done", "message": "all objectives met"}},
				},
			})
			if state != want || err != nil {
				t.Errorf("a %s of generation 2 with the status of generation %d is %s, %v, want %s", kind, seen, state, err, want)
			}
		}
	}
}
