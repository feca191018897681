package reconciler

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// However many passes failed, the next one comes soon: no event reports that the API server recovered.
func TestAnObjectIsNotLeftAloneForLong(t *testing.T) {
	limits := Workers(1).RateLimiter
	object := reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "bench", Name: "a"}}
	first := limits.When(object)
	if first != afterError {
		t.Errorf("after a failure it is looked at in %s, want %s", first, afterError)
	}
	last := first
	for range 40 {
		next := limits.When(object)
		if next < last || next > longestError {
			t.Errorf("after %s it is looked at in %s, want no less, and %s at most", last, next, longestError)
		}
		last = next
	}
	if last != longestError {
		t.Errorf("in the end it is looked at each %s, want %s", last, longestError)
	}
	if limits.Forget(object); limits.When(object) != afterError {
		t.Error("a pass that went well has changed nothing")
	}
}
