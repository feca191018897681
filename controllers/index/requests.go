package index

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Requests ask for a look at each of some objects, as far as they could be found.
func Requests[T any, P interface {
	*T
	client.Object
}](ctx context.Context, found []T, err error) []reconcile.Request {
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Finding the objects that an event is about")
	}
	var list []reconcile.Request
	for i := range found {
		list = append(list, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(P(&found[i]))})
	}
	return list
}
