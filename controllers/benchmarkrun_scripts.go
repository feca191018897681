package controllers

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/artifact"
	"loadstone.dev/loadstone/internal/pass"
	"loadstone.dev/loadstone/internal/plan"
	"loadstone.dev/loadstone/internal/protocol"
	"loadstone.dev/loadstone/internal/record"
)

// freeze stores the users' scripts as they are when the run starts. From then on nobody reads their ConfigMaps: the generators of every
// trial get what was stored.
func (r *BenchmarkRunReconciler) freeze(ctx context.Context, s *runScope) (pass.Step, error) {
	if s.frozen() {
		return pass.GoOn, nil
	}
	texts, err := r.readScripts(ctx, s.run)
	if v := (*plan.Violation)(nil); errors.As(err, &v) {
		return s.refuse(v)
	} else if err != nil {
		return pass.Halt, err
	}
	var scripts []v1alpha1.FrozenScript
	for _, t := range texts {
		key := artifact.ScriptKey(s.prefix(), t.Load)
		stored, err := r.Store.Put(ctx, key, "text/plain; charset=utf-8", t.Text)
		if errors.Is(err, artifact.ErrExists) {
			// An operator that ended before it could say so has stored it, and it was changed since: what is stored holds.
			stored, err = r.Store.Find(ctx, key)
		}
		if err != nil {
			return r.storeAway(s, err)
		}
		scripts = append(scripts, v1alpha1.FrozenScript{Load: t.Load, Bytes: stored.Bytes, SHA256: stored.SHA256})
	}
	s.scripts = scripts
	return pass.Halt, nil
}

// frozen reports whether every script of the run is stored.
func (s *runScope) frozen() bool {
	return !slices.ContainsFunc(s.run.Spec.Loads, func(l v1alpha1.Load) bool {
		return !l.Script.IsZero() && !slices.ContainsFunc(s.run.Status.Scripts, func(f v1alpha1.FrozenScript) bool { return f.Load == l.Name })
	})
}

// readScripts reads the script of each load that has one, or says in a *plan.Violation which is missing. It asks the API server itself:
// a cache would hold every ConfigMap of the cluster.
func (r *BenchmarkRunReconciler) readScripts(ctx context.Context, run *v1alpha1.BenchmarkRun) ([]protocol.Script, error) {
	var scripts []protocol.Script
	all := 0
	for i, l := range run.Spec.Loads {
		if l.Script.IsZero() {
			continue
		}
		field := fmt.Sprintf("spec.loads[%d].script", i)
		var m corev1.ConfigMap
		err := r.Live.Get(ctx, client.ObjectKey{Namespace: run.Namespace, Name: l.Script.ConfigMap}, &m)
		if apierrors.IsNotFound(err) {
			return nil, badScript("%s.configMap: ConfigMap %s does not exist in namespace %s: create it before the run", field, l.Script.ConfigMap, run.Namespace)
		} else if err != nil {
			return nil, fmt.Errorf("reading ConfigMap %s: %w", l.Script.ConfigMap, err)
		}
		text := []byte(m.Data[l.Script.Key])
		if binary, ok := m.BinaryData[l.Script.Key]; ok {
			text = binary
		}
		if len(text) == 0 {
			return nil, badScript("%s.key: ConfigMap %s has no key %s, or the key is empty: add the script, or name another key", field, l.Script.ConfigMap, l.Script.Key)
		}
		if all += len(text); all > protocol.MaxScripts {
			return nil, badScript("%s: the scripts of all loads exceed %d bytes in total: shorten them or split the run", field, protocol.MaxScripts)
		}
		scripts = append(scripts, protocol.Script{Load: l.Name, Text: text})
	}
	return scripts, nil
}

func badScript(format string, args ...any) error {
	return &plan.Violation{Reason: v1alpha1.ReasonInvalidSpec, Message: fmt.Sprintf(format, args...)}
}

// frozenScripts are the run's scripts as its manifest names them.
func frozenScripts(run *v1alpha1.BenchmarkRun, prefix string) []record.FrozenScript {
	var scripts []record.FrozenScript
	for _, f := range run.Status.Scripts {
		scripts = append(scripts, record.FrozenScript{Load: f.Load, Artifact: record.Artifact{
			Name: "scripts/" + f.Load, Key: artifact.ScriptKey(prefix, f.Load), Bytes: f.Bytes, SHA256: f.SHA256,
		}})
	}
	return scripts
}
