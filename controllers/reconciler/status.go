package reconciler

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// writeStatus writes a changed status in one merge patch. It fails if the object changed meanwhile; the pass is then repeated.
func writeStatus(ctx context.Context, c client.Client, before, after client.Object) (changed bool, err error) {
	if equality.Semantic.DeepEqual(before, after) {
		return false, nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := c.Status().Patch(ctx, after, patch); err != nil {
		return false, fmt.Errorf("writing status of %s: %w", client.ObjectKeyFromObject(after), err)
	}
	return true, nil
}

// Insist retries four times within a second while the API server refuses for a moment. Restarting a whole pass at each refusal would make no
// progress if many are refused.
func Insist(do func() error) error {
	return retry.OnError(wait.Backoff{Steps: 4, Duration: 20 * time.Millisecond, Factor: 4, Jitter: 0.2}, passes, do)
}

func passes(err error) bool {
	return apierrors.IsInternalError(err) || apierrors.IsTooManyRequests(err) || apierrors.IsServiceUnavailable(err) || apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err)
}

// Benign reports whether the next pass will solve it: a conflict, or a deleted object.
func Benign(err error) bool { return apierrors.IsConflict(err) || apierrors.IsNotFound(err) }

// Denied reports whether a webhook or policy denies a valid object. They choose their status codes freely, so the API server's words decide.
func Denied(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "admission webhook ") || strings.Contains(err.Error(), "ValidatingAdmissionPolicy "))
}

// OverQuota reports whether a ResourceQuota is exhausted.
func OverQuota(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "exceeded quota:")
}

// Forbidden reports whether a limit or right of the namespace forbids the object; others can change that. Pod Security does not count: a spec
// either meets it or not.
func Forbidden(err error) bool {
	return apierrors.IsForbidden(err) && !strings.Contains(err.Error(), "violates PodSecurity")
}

// Terminating reports whether the namespace is being deleted.
func Terminating(err error) bool {
	return apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}
