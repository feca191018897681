package reconciler

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestTheTransitionTimeOfAConditionMovesWithItsStatusOnly(t *testing.T) {
	noon := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	old := []metav1.Condition{
		{Type: "B", Status: metav1.ConditionTrue, Reason: "Done", LastTransitionTime: metav1.Time{Time: noon}},
		{Type: "A", Status: metav1.ConditionUnknown, Reason: "InProgress", LastTransitionTime: metav1.Time{Time: noon}},
	}
	c := NewConditions(old, 2, noon.Add(time.Hour))
	if !c.IsTrue("B") || c.IsTrue("A") || c.IsTrue("C") {
		t.Error("a condition is not as it was")
	}
	c.Set("B", metav1.ConditionTrue, "Done", "still")
	c.Set("A", metav1.ConditionTrue, "Done", "")
	got := c.Sorted()
	if len(got) != 2 || got[0].Type != "A" || !got[0].LastTransitionTime.Equal(&metav1.Time{Time: noon.Add(time.Hour)}) {
		t.Errorf("a condition that has changed is %+v", got)
	}
	if b := got[1]; !b.LastTransitionTime.Equal(&metav1.Time{Time: noon}) || b.Message != "still" || b.ObservedGeneration != 2 {
		t.Errorf("a condition that has not changed is %+v", b)
	}
	if old[1].Status != metav1.ConditionUnknown {
		t.Error("the conditions of before were written to")
	}
}

// Messages quote servers and agents, and terminals show them.
func TestMessageHasNoTerminalControls(t *testing.T) {
	c := NewConditions(nil, 1, time.Time{})
	c.Set("X", metav1.ConditionFalse, "Y", "\x1b]0;PWNED\a\x1b[2Jfaster")
	if got, want := c.Sorted()[0].Message, `\x1b]0;PWNED\a\x1b[2Jfaster`; got != want {
		t.Errorf("it is %q, want %q", got, want)
	}
}

func TestAMessageIsBounded(t *testing.T) {
	c := NewConditions(nil, 1, time.Time{})
	c.Set("X", metav1.ConditionFalse, "Y", strings.Repeat("é", 5000))
	if n := len(c.Sorted()[0].Message); n > MaxMessage {
		t.Errorf("a message of %d bytes", n)
	}
}

func TestAMessageIsTheSameAtEachTry(t *testing.T) {
	for said, want := range map[string]string{
		"read tcp 10.0.0.1:43210->10.0.0.2:9000: i/o timeout":                            "read tcp 10.0.0.2:9000: i/o timeout",
		"read tcp [fd00::1]:43210->[fd00::2]:9000: connection reset by peer":             "read tcp [fd00::2]:9000: connection reset by peer",
		"lookup s3 on 10.96.0.10:53: read udp 10.0.0.1:4321->10.96.0.10:53: i/o timeout": "lookup s3 on 10.96.0.10:53: read udp 10.96.0.10:53: i/o timeout",
		"dial tcp 10.0.0.2:9000: connect: connection refused":                            "dial tcp 10.0.0.2:9000: connect: connection refused",
		"a map of a->b, of 12->13":                                                       "a map of a->b, of 12->13",
	} {
		c := NewConditions(nil, 1, time.Time{})
		c.Set("X", metav1.ConditionFalse, "Y", said)
		if got := c.Sorted()[0].Message; got != want {
			t.Errorf("of %q it says %q, want %q", said, got, want)
		}
	}
}
