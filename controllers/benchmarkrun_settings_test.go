package controllers

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/inputs"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/store/artifact"
)

// filed gives the server files of the ConfigMap "mine".
func filed(s *v1alpha1.BenchmarkRunSpec) {
	s.Implementations[0].Files = []v1alpha1.FileMount{{Path: "/etc/app", ConfigMap: v1alpha1.ObjectReference{Name: "mine"}}}
}

func waitsFor(what string) func(*v1alpha1.BenchmarkRun) bool {
	return func(r *v1alpha1.BenchmarkRun) bool {
		return slices.ContainsFunc(r.Status.Conditions, func(c metav1.Condition) bool {
			return c.Type == v1alpha1.ConditionSucceeded && strings.HasPrefix(c.Message, "waiting for up to 10s: ") && strings.Contains(c.Message, what)
		})
	}
}

func TestConfigMapsExistBeforeStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const says = `implementations[go].files[0] names the ConfigMap "mine", which namespace `
	w.clock.hold(true)
	run := await(w, w.apply("missing", filed), "a word of what is missing", waitsFor(says))
	w.clock.Forward(inputs.Patience)
	run = w.awaitEnd(run)
	w.clock.hold(false)
	for _, kind := range []string{v1alpha1.ConditionPlanned, v1alpha1.ConditionSucceeded} {
		condition(t, run.Status.Conditions, kind, metav1.ConditionFalse, v1alpha1.ReasonObjectMissing, says)
	}
	if pods := w.kubelet.pods(); len(pods) > 0 {
		t.Errorf("pods were made: %v", pods)
	}

	w.scripts(map[string]string{"app.json": "{}"})
	run = w.awaitEnd(w.apply("given", filed))
	condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
	store, err := artifact.Open(w.store)
	w.must(err)
	d, err := store.Load(t.Context(), artifact.RunPrefix("", facts.Run(run)), "")
	w.must(err)
	if diff := cmp.Diff(inputs.RecordDigests(run.Status.ConfigMaps), d.Manifest.ConfigMaps); diff != "" || len(d.Manifest.ConfigMaps) != 1 {
		t.Errorf("ConfigMaps in the run's manifest (-status +manifest):\n%s", diff)
	}
}

func TestChangedConfigMapEndsRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mine := w.scripts(map[string]string{"app.json": "{}"})
	run := w.apply("changed", filed, with("go", v1alpha1.Implementation{Name: "rust", Image: "rust:1"}), func(s *v1alpha1.BenchmarkRunSpec) { s.Blocks = 20 })
	w.awaitFirst("changed")
	mine.Data["app.json"] = "[]"
	w.must(w.c.Update(t.Context(), mine))
	run = w.awaitEnd(run)
	const says = `ConfigMap "mine" of implementations[go].files[0] changed after the run started`
	condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionFalse, v1alpha1.ReasonTrialsFailed, says)
	for _, trial := range w.trials(run) {
		if reason, message := facts.Outcome(&trial); reason == v1alpha1.ReasonObjectChanged && !strings.Contains(message, says) {
			t.Errorf("trial %s says %q", trial.Name, message)
		}
	}
	const all = 20 * 2 * 2 // A server and a generator for each implementation of each block.
	if pods := w.kubelet.pods(); len(pods) >= all {
		t.Errorf("the run went on to its end, for %d pods", len(pods))
	}
}

func TestMissingSecretEndsRunAtFirstTrial(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run := w.awaitEnd(w.apply("secret", with("go", v1alpha1.Implementation{Name: "rust", Image: "rust:1"}), func(s *v1alpha1.BenchmarkRunSpec) {
		s.Blocks = 20
		s.Implementations[0].Image = imageUnconfigured
		s.Implementations[0].EnvFrom = []v1alpha1.VariableSource{{Kind: v1alpha1.KindSecret, Name: "keys"}}
	}))
	const says = `implementations[go].envFrom[0] names the Secret "keys", which namespace `
	condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionFalse, v1alpha1.ReasonTrialsFailed, says)
	for _, trial := range w.trials(run) {
		if reason, message := facts.Outcome(&trial); trial.Status.ManifestKey == "" && (reason != v1alpha1.ReasonObjectMissing || !strings.Contains(message, says)) {
			t.Errorf("trial %s ended with %s: %q", trial.Name, reason, message)
		}
	}
}
