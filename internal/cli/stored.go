package cli

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/artifact"
	"loadstone.dev/loadstone/internal/discover"
	"loadstone.dev/loadstone/internal/record"
)

// storedRuns are the runs in the store of a cluster.
type storedRuns struct {
	in        *discover.Installation
	namespace string
}

// runs opens the store of the cluster.
func (k *kube) runs(ctx context.Context) (*storedRuns, error) {
	namespace, err := k.namespace()
	if err != nil {
		return nil, err
	}
	in, err := k.installation(ctx)
	if err != nil {
		return nil, err
	}
	return &storedRuns{in, namespace}, nil
}

// load reads the records of a run; of the context's namespace if the key names none.
func (s *storedRuns) load(ctx context.Context, key client.ObjectKey) (record.RunData, error) {
	if key.Namespace == "" {
		key.Namespace = s.namespace
	}
	r, err := getRun(ctx, s.in.Client, key)
	if err != nil {
		return record.RunData{}, err
	}
	return s.in.Store.Load(ctx, prefixOf(r))
}

func (s *storedRuns) close() { s.in.Close() }

// prefixOf is where a run lies in the store.
func prefixOf(r *v1alpha1.BenchmarkRun) string {
	return artifact.RunPrefix(r.Spec.Artifacts.Prefix, record.Run{Namespace: r.Namespace, Name: r.Name, UID: string(r.UID)})
}
