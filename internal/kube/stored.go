package kube

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/artifact"
	"loadstone.dev/loadstone/internal/discover"
	"loadstone.dev/loadstone/internal/record"
)

// Stored are the runs in the store of a cluster.
type Stored struct {
	in        *discover.Installation
	namespace string
}

// Runs opens the store of the cluster.
func (k *Flags) Runs(ctx context.Context) (*Stored, error) {
	namespace, err := k.Namespace()
	if err != nil {
		return nil, err
	}
	in, err := k.Installation(ctx)
	if err != nil {
		return nil, err
	}
	return &Stored{in, namespace}, nil
}

// Load reads the records of a run; of the context's namespace if the key names none.
func (s *Stored) Load(ctx context.Context, key client.ObjectKey) (record.RunData, error) {
	if key.Namespace == "" {
		key.Namespace = s.namespace
	}
	r, err := Run(ctx, s.in.Client, key)
	if err != nil {
		return record.RunData{}, err
	}
	return s.in.Store.Load(ctx, PrefixOf(r))
}

// Close ends the connection to the store.
func (s *Stored) Close() { s.in.Close() }

// PrefixOf is where a run lies in the store.
func PrefixOf(r *v1alpha1.BenchmarkRun) string {
	return artifact.RunPrefix(r.Spec.Artifacts.Prefix, record.Run{Namespace: r.Namespace, Name: r.Name, UID: string(r.UID)})
}

// Run reads a run. One that is not there is a sentence.
func Run(ctx context.Context, c client.Client, key client.ObjectKey) (*v1alpha1.BenchmarkRun, error) {
	var r v1alpha1.BenchmarkRun
	err := c.Get(ctx, key, &r)
	if apierrors.IsNotFound(err) {
		return nil, invalid(fmt.Errorf("there is no BenchmarkRun %s in namespace %s: loadstone list --all-namespaces shows those that are there", key.Name, key.Namespace))
	}
	if err != nil {
		return nil, fmt.Errorf("reading BenchmarkRun %s: %w", key, discover.Explain("", err))
	}
	return &r, nil
}
