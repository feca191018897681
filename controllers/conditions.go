package controllers

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maxMessage bounds condition messages: they may quote a server's last words.
const maxMessage = 1024

// conditionSet collects the conditions of one pass over one generation.
type conditionSet struct {
	list       []metav1.Condition
	generation int64
	now        metav1.Time
}

// set states a condition; its transition time moves only when its status does.
func (c *conditionSet) set(kind string, status metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(&c.list, metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: clip(message, maxMessage),
		ObservedGeneration: c.generation, LastTransitionTime: c.now,
	})
}

// sorted is the set in a fixed order, so that equal sets are equal bytes.
func (c *conditionSet) sorted() []metav1.Condition {
	slices.SortFunc(c.list, func(a, b metav1.Condition) int { return cmp.Compare(a.Type, b.Type) })
	return c.list
}

// clip shortens a message, keeping its beginning, to at most n bytes of valid UTF-8.
func clip(s string, n int) string {
	s = strings.ToValidUTF8(s, "?")
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n-3], "") + "..."
}
