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

// MaxMessage bounds the messages of conditions: they may quote a server's last words.
const MaxMessage = 1024

// ownEnd is the own end of a connection in an error of Go's network, such as "10.0.0.1:43210->". Its port is another one at each try, and a message that is
// another one at each try would be written and seen each time, so that the next try would come at once.
var ownEnd = regexp.MustCompile(`\S+:\d+->`)

// Conditions collects the conditions of one pass over one generation.
type Conditions struct {
	list       []metav1.Condition
	generation int64
	now        metav1.Time
}

// NewConditions returns the conditions that an object has, for a pass over its generation to state anew.
func NewConditions(old []metav1.Condition, generation int64, now time.Time) *Conditions {
	return &Conditions{list: slices.Clone(old), generation: generation, now: metav1.Time{Time: now}}
}

// Set states a condition; its transition time moves only when its status does.
func (c *Conditions) Set(kind string, status metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(&c.list, metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: util.Clip(ownEnd.ReplaceAllString(message, ""), MaxMessage),
		ObservedGeneration: c.generation, LastTransitionTime: c.now,
	})
}

// IsTrue reports whether a condition is true, as it was stated last.
func (c *Conditions) IsTrue(kind string) bool { return meta.IsStatusConditionTrue(c.list, kind) }

// Known reports whether a condition is true or false, as it was stated last.
func (c *Conditions) Known(kind string) bool {
	at := meta.FindStatusCondition(c.list, kind)
	return at != nil && at.Status != metav1.ConditionUnknown
}

// Sorted returns the conditions in a fixed order, so that equal sets are equal bytes.
func (c *Conditions) Sorted() []metav1.Condition {
	slices.SortFunc(c.list, func(a, b metav1.Condition) int { return cmp.Compare(a.Type, b.Type) })
	return c.list
}
