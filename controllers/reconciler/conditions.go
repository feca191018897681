package reconciler

import (
	"cmp"
	"regexp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/internal/base/util"
)

// MaxMessage limits condition messages, which may quote a server's last output.
const MaxMessage = 1024

// ownEnd matches the local address in Go's network errors, such as "10.0.0.1:43210->". Its port changes at each try. A changing message would be
// written each time, and trigger the next try at once.
var ownEnd = regexp.MustCompile(`\S+:\d+->`)

// Conditions collects the conditions of one pass.
type Conditions struct {
	list       []metav1.Condition
	generation int64
	now        metav1.Time
}

// NewConditions starts with the conditions of an object, for a pass over its generation.
func NewConditions(old []metav1.Condition, generation int64, now time.Time) *Conditions {
	return &Conditions{list: slices.Clone(old), generation: generation, now: metav1.Time{Time: now}}
}

// Set sets a condition. Its transition time changes only with its status.
func (c *Conditions) Set(kind string, status metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(&c.list, metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: util.Clip(ownEnd.ReplaceAllString(message, ""), MaxMessage),
		ObservedGeneration: c.generation, LastTransitionTime: c.now,
	})
}

// IsTrue reports whether a condition is True now.
func (c *Conditions) IsTrue(kind string) bool { return meta.IsStatusConditionTrue(c.list, kind) }

// Known reports whether a condition is True or False now.
func (c *Conditions) Known(kind string) bool {
	at := meta.FindStatusCondition(c.list, kind)
	return at != nil && at.Status != metav1.ConditionUnknown
}

// Sorted returns the conditions in a fixed order, so that equal sets have equal bytes.
func (c *Conditions) Sorted() []metav1.Condition {
	slices.SortFunc(c.list, func(a, b metav1.Condition) int { return cmp.Compare(a.Type, b.Type) })
	return c.list
}
