package inputs_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/inputs"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

// memory is a store that writes each key once.
type memory struct {
	artifact.Bucket
	held map[string][]byte
}

func (m memory) Put(ctx context.Context, key, _ string, body []byte) (record.Artifact, error) {
	if old, ok := m.held[key]; ok && string(old) != string(body) {
		return record.Artifact{}, artifact.ErrExists
	}
	m.held[key] = body
	return m.Find(ctx, key)
}

func (m memory) Find(_ context.Context, key string) (record.Artifact, error) {
	sum := sha256.Sum256(m.held[key])
	return record.Artifact{Key: key, Bytes: int64(len(m.held[key])), SHA256: hex.EncodeToString(sum[:])}, nil
}

func (m memory) Get(_ context.Context, key, sha string) ([]byte, error) {
	sum := sha256.Sum256(m.held[key])
	if hex.EncodeToString(sum[:]) != sha {
		return nil, artifact.ErrCorrupt
	}
	return m.held[key], nil
}

func runOf(named ...v1alpha1.Script) *v1alpha1.BenchmarkRun {
	run := &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: "quick"}}
	for i, s := range named {
		run.Spec.Loads = append(run.Spec.Loads, v1alpha1.Load{Name: string(rune('a' + i)), Script: s})
	}
	return run
}

func TestTheScriptOfEachLoadIsReadOrRefused(t *testing.T) {
	large := strings.Repeat("-", protocol.MaxScripts/2+1)
	live := fake.NewClientBuilder().WithObjects(&corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: "mine"},
		Data:       map[string]string{"a.lua": "-- a", "empty.lua": "", "large.lua": large}, BinaryData: map[string][]byte{"binary.lua": []byte("-- \xff")},
	}).Build()
	mine := func(key string) v1alpha1.Script { return v1alpha1.Script{ConfigMap: "mine", Key: key} }
	for name, tc := range map[string]struct {
		run     *v1alpha1.BenchmarkRun
		want    []protocol.Script
		refused string
		missing bool
	}{
		"none":                         {run: runOf(v1alpha1.Script{})},
		"text, none and bytes":         {run: runOf(mine("a.lua"), v1alpha1.Script{}, mine("binary.lua")), want: []protocol.Script{{Load: "a", Text: []byte("-- a")}, {Load: "c", Text: []byte("-- \xff")}}},
		"a ConfigMap that is not":      {run: runOf(v1alpha1.Script{ConfigMap: "other", Key: "a.lua"}), refused: "spec.loads[0].script.configMap: ConfigMap other does not exist in namespace bench", missing: true},
		"a name that no ConfigMap has": {run: runOf(v1alpha1.Script{ConfigMap: "a/b", Key: "a.lua"}), refused: "spec.loads[0].script.configMap is \"a/b\", which no object can be named: use lower-case letters"},
		"a key that is not":            {run: runOf(mine("b.lua")), refused: "spec.loads[0].script.key: ConfigMap mine has no key b.lua, or the key is empty", missing: true},
		"an empty one":                 {run: runOf(mine("a.lua"), mine("empty.lua")), refused: "spec.loads[1].script.key: ConfigMap mine has no key empty.lua", missing: true},
		"more than a run may carry":    {run: runOf(mine("large.lua"), mine("large.lua")), refused: "spec.loads[1].script: the scripts of all loads exceed 1048576 bytes in total"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := inputs.Read(t.Context(), live, tc.run)
			if diff := cmp.Diff(tc.want, got.Scripts); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			reason := v1alpha1.ReasonInvalidSpec
			if tc.missing {
				reason = v1alpha1.ReasonObjectMissing
			}
			v := (*plan.Violation)(nil)
			if errors.As(err, &v) != (tc.refused != "") || v != nil && (v.Reason != reason || !strings.HasPrefix(v.Message, tc.refused)) {
				t.Errorf("got %v, want %q", err, tc.refused)
			}
		})
	}
}

func TestWhatWasFrozenFirstHolds(t *testing.T) {
	store, run := memory{held: map[string][]byte{}}, runOf(v1alpha1.Script{ConfigMap: "mine", Key: "a.lua"})
	if inputs.Frozen(run) {
		t.Error("a script is frozen before it was stored")
	}
	before := []protocol.Script{{Load: "a", Text: []byte("-- as it was")}}
	if _, _, err := (inputs.Texts{Scripts: before}).Freeze(t.Context(), store, "bench/quick-1"); err != nil {
		t.Fatal(err)
	}
	edited := inputs.Texts{Scripts: []protocol.Script{{Load: "a", Text: []byte("-- another load")}}}
	frozen, _, err := edited.Freeze(t.Context(), store, "bench/quick-1")
	if err != nil {
		t.Fatal(err)
	}
	run.Status.Scripts = frozen
	if !inputs.Frozen(run) {
		t.Error("a script that is stored is not frozen")
	}
	got, err := inputs.Load(t.Context(), store, "bench/quick-1", frozen)
	if diff := cmp.Diff(before, got); diff != "" || err != nil {
		t.Errorf("read back, %v (-want +got):\n%s", err, diff)
	}
	want := []record.FrozenScript{{Load: "a", Artifact: record.Artifact{
		Name: "scripts/a", Key: "bench/quick-1/scripts/a", Bytes: int64(len(before[0].Text)), SHA256: frozen[0].SHA256,
	}}}
	if diff := cmp.Diff(want, inputs.Record(frozen, "bench/quick-1")); diff != "" {
		t.Errorf("in the manifest (-want +got):\n%s", diff)
	}
	store.held["bench/quick-1/scripts/a"] = []byte("-- tampered with")
	if _, err := inputs.Load(t.Context(), store, "bench/quick-1", frozen); !errors.Is(err, artifact.ErrCorrupt) {
		t.Errorf("a script that was changed in the store: %v", err)
	}
}
