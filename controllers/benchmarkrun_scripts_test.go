package controllers

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/inputs"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

func (w *world) scripts(data map[string]string) *corev1.ConfigMap {
	w.t.Helper()
	m := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "mine"}, Data: data, BinaryData: map[string][]byte{"binary.lua": []byte("-- \xff")},
	}
	w.must(w.c.Create(w.t.Context(), m))
	return m
}

func (w *world) scriptsAlso(key, text string) {
	w.t.Helper()
	var m corev1.ConfigMap
	w.must(w.c.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: "mine"}, &m))
	m.Data[key] = text
	w.must(w.c.Update(w.t.Context(), &m))
}

func scripted(configMap, key string) func(*v1alpha1.BenchmarkRunSpec) {
	return func(s *v1alpha1.BenchmarkRunSpec) {
		s.Loads[0].Script = v1alpha1.Script{ConfigMap: configMap, Key: key}
	}
}

func TestScriptIsReadOnceAtStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const before, after = "-- as it was", "-- another load"
	mine := w.scripts(map[string]string{"a.lua": before})
	run := w.apply("frozen", scripted("mine", "a.lua"), func(s *v1alpha1.BenchmarkRunSpec) { s.Blocks = 2 })
	w.awaitFirst("frozen")
	mine.Data["a.lua"] = after
	w.must(w.c.Update(t.Context(), mine))
	w.stop() // The next operator must know the frozen scripts, too.
	w.startManager()
	run = w.awaitEnd(run)
	condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)

	sum := sha256.Sum256([]byte(before))
	digest := hex.EncodeToString(sum[:])
	if diff := cmp.Diff([]v1alpha1.FrozenScript{{Load: "sweep", Bytes: int64(len(before)), SHA256: digest}}, run.Status.Scripts); diff != "" {
		t.Errorf("scripts in the run's status (-want +got):\n%s", diff)
	}
	store, err := artifact.Open(w.store)
	w.must(err)
	d, err := store.Load(t.Context(), artifact.RunPrefix("", facts.Run(run)), "")
	w.must(err)
	if len(d.Manifest.Scripts) != 1 || d.Manifest.Scripts[0].Load != "sweep" {
		t.Fatalf("scripts in the run's manifest: %+v", d.Manifest.Scripts)
	}
	if text, err := store.Get(t.Context(), d.Manifest.Scripts[0].Key, digest); err != nil || string(text) != before {
		t.Errorf("stored is %q, %v", text, err)
	}
	if len(d.Trials) != 2 {
		t.Errorf("%d trials are stored", len(d.Trials))
	}
	for _, trial := range d.Trials {
		if got := trial.Generators[0].Scripts; len(got) != 1 || got[0].SHA256 != digest {
			t.Errorf("trial %s ran %+v, want the script as it was", trial.Manifest.Name, got)
		}
	}
}

func TestMissingScriptIsAwaitedThenRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	large := strings.Repeat("-", protocol.MaxScripts/2+1)
	w.scripts(map[string]string{"empty.lua": "", "large.lua": large})
	for name, tc := range map[string]struct {
		delta  func(*v1alpha1.BenchmarkRunSpec)
		reason string
		says   string
	}{
		"nomap": {scripted("other", "a.lua"), v1alpha1.ReasonObjectMissing, "spec.loads[0].script.configMap: ConfigMap other does not exist in namespace " + w.namespace + ": create it there, or correct the name"},
		"nokey": {scripted("mine", "a.lua"), v1alpha1.ReasonObjectMissing, "spec.loads[0].script.key: ConfigMap mine has no key a.lua, or the key is empty"},
		"empty": {scripted("mine", "empty.lua"), v1alpha1.ReasonObjectMissing, "spec.loads[0].script.key: ConfigMap mine has no key empty.lua, or the key is empty"},
		"large": {func(s *v1alpha1.BenchmarkRunSpec) {
			scripted("mine", "large.lua")(s)
			second := *s.Loads[0].DeepCopy()
			second.Name = "second"
			s.Loads = append(s.Loads, second)
		}, v1alpha1.ReasonInvalidSpec, "spec.loads[1].script: the scripts of all loads exceed 1048576 bytes in total"},
	} {
		t.Run(name, func(t *testing.T) {
			w.clock.hold(true)
			defer w.clock.hold(false)
			run := w.apply(name, tc.delta)
			if tc.reason == v1alpha1.ReasonObjectMissing {
				run = await(w, run, "a word of what is missing", waitsFor(tc.says))
				w.clock.Forward(inputs.Patience)
			}
			run = w.awaitEnd(run)
			for _, kind := range []string{v1alpha1.ConditionPlanned, v1alpha1.ConditionSucceeded} {
				condition(t, run.Status.Conditions, kind, metav1.ConditionFalse, tc.reason, tc.says)
			}
		})
	}
	if pods := w.kubelet.pods(); len(pods) > 0 {
		t.Errorf("pods were made: %v", pods)
	}
	posts := func(s *v1alpha1.BenchmarkRunSpec) {
		s.Loads[0].Request = v1alpha1.Request{Method: "POST", BodyFrom: v1alpha1.BodySource{ConfigMap: "mine", Key: "order.json"}}
	}
	// The ConfigMap may be applied after the run.
	w.clock.hold(true)
	run := await(w, w.apply("posts", posts), "a word of what is missing", waitsFor("spec.loads[0].request.bodyFrom.key: ConfigMap mine has no key order.json"))
	w.scriptsAlso("order.json", `{"a": 1}`)
	w.clock.hold(false)
	run = w.awaitEnd(run)
	condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
	store, err := artifact.Open(w.store)
	w.must(err)
	d, err := store.Load(t.Context(), artifact.RunPrefix(run.Spec.Artifacts.Prefix, facts.Run(run)), "")
	w.must(err)
	for _, trial := range d.Trials {
		if asked := trial.Manifest.Cells[0].Request; asked.Body != `{"a": 1}` || len(run.Status.Bodies) != 1 || run.Status.Bodies[0].Name != "mine/order.json" {
			t.Errorf("trial %s sends %+v, and frozen are %+v", trial.Manifest.Name, asked, run.Status.Bodies)
		}
	}
	run = w.awaitEnd(w.apply("binary", scripted("mine", "binary.lua")))
	condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
}
