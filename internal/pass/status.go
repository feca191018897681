package pass

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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

// Benign reports whether the next pass will see the world as it is: a conflict, or an object gone meanwhile.
func Benign(err error) bool { return apierrors.IsConflict(err) || apierrors.IsNotFound(err) }
