package inputs

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/trial/kind/sweep"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

// Texts are the scripts and bodies that a run stores at its start.
type Texts struct {
	Scripts []protocol.Script
	Bodies  []Body
}

// Read reads the scripts and bodies of a run, or returns a *plan.Violation. It needs a reader of the API server: a cache would hold every
// ConfigMap of the cluster.
func Read(ctx context.Context, live client.Reader, run *v1alpha1.BenchmarkRun) (Texts, error) {
	scripts, err := readScripts(ctx, live, run)
	if err != nil {
		return Texts{}, err
	}
	bodies, err := readBodies(ctx, live, run)
	return Texts{scripts, bodies}, err
}

// Freeze stores the texts under the run's prefix.
func (t Texts) Freeze(ctx context.Context, store artifact.Bucket, runPrefix string) ([]v1alpha1.FrozenScript, []v1alpha1.FrozenBody, error) {
	scripts, err := freezeScripts(ctx, store, runPrefix, t.Scripts)
	if err != nil {
		return nil, nil, err
	}
	bodies, err := freezeBodies(ctx, store, runPrefix, t.Bodies)
	return scripts, bodies, err
}

func readScripts(ctx context.Context, live client.Reader, run *v1alpha1.BenchmarkRun) ([]protocol.Script, error) {
	var scripts []protocol.Script
	all := 0
	for i, l := range run.Spec.Loads {
		if l.Script.IsZero() {
			continue
		}
		field := fmt.Sprintf("spec.loads[%d].script", i)
		text, err := read(ctx, live, run.Namespace, l.Script, field)
		if err != nil {
			return nil, err
		}
		if all += len(text); all > protocol.MaxScripts {
			return nil, violation("%s: the scripts of all loads exceed %d bytes in total: shorten them or split the run", field, protocol.MaxScripts)
		}
		scripts = append(scripts, protocol.Script{Load: l.Name, Text: text})
	}
	return scripts, nil
}

func read(ctx context.Context, live client.Reader, namespace string, s v1alpha1.Script, field string) ([]byte, error) {
	if v := plan.CheckName(field+".configMap", s.ConfigMap); v != nil {
		return nil, v
	}
	var m corev1.ConfigMap
	err := live.Get(ctx, client.ObjectKey{Namespace: namespace, Name: s.ConfigMap}, &m)
	if apierrors.IsNotFound(err) {
		return nil, missing("%s.configMap: ConfigMap %s does not exist in namespace %s: create it there, or correct the name", field, s.ConfigMap, namespace)
	} else if err != nil {
		return nil, fmt.Errorf("reading ConfigMap %s: %w", s.ConfigMap, err)
	}
	text := []byte(m.Data[s.Key])
	if binary, ok := m.BinaryData[s.Key]; ok {
		text = binary
	}
	if len(text) == 0 {
		return nil, missing("%s.key: ConfigMap %s has no key %s, or the key is empty: add it, or name another key", field, s.ConfigMap, s.Key)
	}
	return text, nil
}

// missing is a violation that may resolve itself: the ConfigMap may be applied after the run.
func missing(format string, args ...any) error {
	return &plan.Violation{Reason: v1alpha1.ReasonObjectMissing, Message: fmt.Sprintf(format, args...)}
}

func violation(format string, args ...any) error {
	return &plan.Violation{Reason: v1alpha1.ReasonInvalidSpec, Message: fmt.Sprintf(format, args...)}
}

func freezeScripts(ctx context.Context, store artifact.Bucket, runPrefix string, scripts []protocol.Script) ([]v1alpha1.FrozenScript, error) {
	var frozen []v1alpha1.FrozenScript
	for _, s := range scripts {
		stored, err := put(ctx, store, artifact.ScriptKey(runPrefix, s.Load), s.Text)
		if err != nil {
			return nil, err
		}
		frozen = append(frozen, v1alpha1.FrozenScript{Load: s.Load, Bytes: stored.Bytes, SHA256: stored.SHA256})
	}
	return frozen, nil
}

// put stores a text, or returns the stored one: an operator that died afterwards may have stored it, and the source may have changed since.
func put(ctx context.Context, store artifact.Bucket, key string, text []byte) (record.Artifact, error) {
	stored, err := store.Put(ctx, key, "text/plain; charset=utf-8", text)
	if errors.Is(err, artifact.ErrExists) {
		return store.Find(ctx, key)
	}
	return stored, err
}

// Frozen reports whether every script and every named body of a run is stored.
func Frozen(run *v1alpha1.BenchmarkRun) bool {
	for _, use := range sweep.BodyUses(run.Spec.Loads) {
		if !frozenBody(run.Status.Bodies, use.From.String()) {
			return false
		}
	}
	return !slices.ContainsFunc(run.Spec.Loads, func(l v1alpha1.Load) bool {
		return !l.Script.IsZero() && !slices.ContainsFunc(run.Status.Scripts, func(f v1alpha1.FrozenScript) bool { return f.Load == l.Name })
	})
}

// Load reads stored scripts and checks their digests.
func Load(ctx context.Context, store artifact.Bucket, runPrefix string, frozen []v1alpha1.FrozenScript) ([]protocol.Script, error) {
	var scripts []protocol.Script
	for _, f := range frozen {
		text, err := store.Get(ctx, artifact.ScriptKey(runPrefix, f.Load), f.SHA256)
		if err != nil {
			return nil, err
		}
		scripts = append(scripts, protocol.Script{Load: f.Load, Text: text})
	}
	return scripts, nil
}

// Record converts stored scripts for the run's manifest.
func Record(frozen []v1alpha1.FrozenScript, runPrefix string) []record.FrozenScript {
	var scripts []record.FrozenScript
	for _, f := range frozen {
		scripts = append(scripts, record.FrozenScript{Load: f.Load, Artifact: record.Artifact{
			Name: "scripts/" + f.Load, Key: artifact.ScriptKey(runPrefix, f.Load), Bytes: f.Bytes, SHA256: f.SHA256,
		}})
	}
	return scripts
}
