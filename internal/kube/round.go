package kube

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/discover"
)

// owner is who has written a request. Flux takes away what somebody has written whose name begins with kubectl, as that of a plugin of kubectl does, and
// with it a request that still waits.
const owner = "loadstone"

// RequestRound asks for a round of a suite, and says what will come of it.
func RequestRound(ctx context.Context, k *Flags, name string, now time.Time) (string, error) {
	namespace, err := k.Namespace()
	if err != nil {
		return "", err
	}
	c, err := k.Client(ctx)
	if err != nil {
		return "", err
	}
	s := &v1alpha1.BenchmarkSuite{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	patch := fmt.Appendf(nil, `{"metadata": {"annotations": {%q: %q}}}`, v1alpha1.AnnotationRequestedAt, now.UTC().Format(time.RFC3339Nano))
	err = c.Patch(ctx, s, client.RawPatch("application/merge-patch+json", patch), client.FieldOwner(owner))
	if apierrors.IsNotFound(err) {
		return "", invalid(fmt.Errorf("there is no BenchmarkSuite %s/%s: loadstone suite list shows those that there are", namespace, name))
	}
	if err != nil {
		return "", fmt.Errorf("asking for a round of BenchmarkSuite %s/%s: %w", namespace, name, discover.Explain("", err))
	}
	said := fmt.Sprintf("benchmarksuite %s/%s: a round is asked for", namespace, name)
	if s.Spec.Suspend != nil && *s.Spec.Suspend {
		said += ", and waits until spec.suspend is false"
	}
	return said, nil
}
