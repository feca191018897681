package inputs_test

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/inputs"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/store/artifact"
)

// posting is a run that posts a body of the ConfigMap "mine".
func posting(key string) *v1alpha1.BenchmarkRun {
	return &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: "quick"}, Spec: v1alpha1.BenchmarkRunSpec{
		Implementations: []v1alpha1.Implementation{{Name: "go", Image: "go:1", Port: 8080}},
		Loads: []v1alpha1.Load{{
			Name: "orders", Tool: v1alpha1.ToolWrk, Levels: []v1alpha1.Level{{Connections: 10}},
			Request: v1alpha1.Request{Method: "POST", BodyFrom: v1alpha1.BodySource{ConfigMap: "mine", Key: key}},
		}},
	}}
}

func TestTheBodiesOfRequestsAreReadOrRefused(t *testing.T) {
	live := fake.NewClientBuilder().WithObjects(&corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: "mine"},
		Data:       map[string]string{"a.json": "{}", "large.json": strings.Repeat("x", 64<<10+1)}, BinaryData: map[string][]byte{"image": {0xff}},
	}).Build()
	for key, want := range map[string]string{
		"a.json":     "",
		"none.json":  "spec.loads[0].request.bodyFrom.key: ConfigMap mine has no key none.json, or the key is empty: add it, or name another key",
		"large.json": "spec.loads[0].request.bodyFrom has 65537 bytes, and the maximum is 65536",
		"image":      "spec.loads[0].request.bodyFrom has bytes that are no text",
	} {
		texts, err := inputs.Read(t.Context(), live, posting(key))
		v := (*plan.Violation)(nil)
		if errors.As(err, &v) != (want != "") || v != nil && !strings.HasPrefix(v.Message, want) {
			t.Errorf("%s: %v, want %q", key, err, want)
		}
		if want == "" && (len(texts.Bodies) != 1 || string(texts.Bodies[0].Text) != "{}") {
			t.Errorf("%s: %+v", key, texts)
		}
	}
}

func TestABodyOfAConfigMapThatCannotBeIsRefused(t *testing.T) {
	live, run := fake.NewClientBuilder().Build(), posting("a.json")
	run.Spec.Loads[0].Request.BodyFrom.ConfigMap = ".."
	_, err := inputs.Read(t.Context(), live, run)
	if v := (*plan.Violation)(nil); !errors.As(err, &v) || !strings.HasPrefix(v.Message, `spec.loads[0].request.bodyFrom.configMap is "..", which no object can be named`) {
		t.Errorf("got %v", err)
	}
}

func TestTrialsAreMadeOfTheBodiesThatWereFrozen(t *testing.T) {
	store, run := memory{held: map[string][]byte{}}, posting("a.json")
	if inputs.Frozen(run) {
		t.Error("a body is frozen before it was stored")
	}
	texts := inputs.Texts{Bodies: []inputs.Body{{Name: "mine/a.json", Text: []byte("{}")}}}
	var err error
	if _, run.Status.Bodies, err = texts.Freeze(t.Context(), store, "bench/quick-1"); err != nil || !inputs.Frozen(run) {
		t.Fatalf("frozen are %+v, %v", run.Status.Bodies, err)
	}
	bodies, err := inputs.LoadBodies(t.Context(), store, "bench/quick-1", run.Status.Bodies)
	if err != nil {
		t.Fatal(err)
	}
	p, err := facts.Plan(run)
	if err != nil {
		t.Fatal(err)
	}
	if filled, err := inputs.WithBodies(p, bodies); err != nil || filled.Cells[0].Request.Body != "{}" || p.Cells[0].Request.Body != "" {
		t.Errorf("the plan sends %+v, %v", filled.Cells, err)
	}
	if filled, err := inputs.WithBodies(p, nil); err == nil {
		t.Errorf("without the body, the plan sends %+v", filled.Cells)
	}
	recorded := inputs.RecordBodies(run.Status.Bodies, "bench/quick-1")
	if len(recorded) != 1 || recorded[0].From != "mine/a.json" || recorded[0].Key != "bench/quick-1/bodies/mine/a.json" || recorded[0].Bytes != 2 {
		t.Errorf("recorded is %+v", recorded)
	}
	store.held["bench/quick-1/bodies/mine/a.json"] = []byte("[]")
	if _, err := inputs.LoadBodies(t.Context(), store, "bench/quick-1", run.Status.Bodies); !errors.Is(err, artifact.ErrCorrupt) {
		t.Errorf("a body that was changed in the store: %v", err)
	}
}
