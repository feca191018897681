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

// writeStatus writes a changed status in one merge patch that fails if somebody else wrote the object meanwhile: the pass
// was then built on something old and is done again.
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

// Insist does again, four times within a second, what the API server does not do at the moment: something that begins anew at each refusal would get
// through nowhere where many are refused.
func Insist(do func() error) error {
	return retry.OnError(wait.Backoff{Steps: 4, Duration: 20 * time.Millisecond, Factor: 4, Jitter: 0.2}, passes, do)
}

// passes reports whether an API server may do in a moment what it has refused.
func passes(err error) bool {
	return apierrors.IsInternalError(err) || apierrors.IsTooManyRequests(err) || apierrors.IsServiceUnavailable(err) || apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err)
}

// Benign reports whether the next pass will see the world as it is: a conflict, or an object gone meanwhile.
func Benign(err error) bool { return apierrors.IsConflict(err) || apierrors.IsNotFound(err) }

// Denied reports whether a webhook or a policy of the cluster refuses an object that may be as it should. Both choose the code with which they do, and
// are known by the words of the API server alone.
func Denied(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "admission webhook ") || strings.Contains(err.Error(), "ValidatingAdmissionPolicy "))
}

// OverQuota reports whether the API server refuses an object because a ResourceQuota is used up, which others may free or somebody raise.
func OverQuota(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "exceeded quota:")
}

// Forbidden reports whether the API server forbids an object for a reason that others may remove: a limit or a right of the namespace. The standard
// for pods is none of these: a spec either meets it or does not.
func Forbidden(err error) bool {
	return apierrors.IsForbidden(err) && !strings.Contains(err.Error(), "violates PodSecurity")
}

// Terminating reports whether the API server takes no object into a namespace any more, since the namespace is being deleted.
func Terminating(err error) bool {
	return apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}
