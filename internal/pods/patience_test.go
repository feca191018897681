package pods_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"loadstone.dev/loadstone/internal/pods"
)

func TestWhatMayComeBackIsWaitedForAsLongAsTheRunHasPatience(t *testing.T) {
	const patience = 10 * time.Minute
	for name, tc := range map[string]struct {
		said  string
		since time.Duration
		node  corev1.ConditionStatus
		// fails is true if the wait is over, and awaits is what is waited for.
		fails  bool
		awaits string
	}{
		"a registry that is away":            {"dial tcp 10.0.0.1:443: i/o timeout", patience - time.Second, corev1.ConditionTrue, false, `image "server:1"`},
		"a registry that stays away":         {"dial tcp 10.0.0.1:443: i/o timeout", patience, corev1.ConditionTrue, true, ""},
		"a registry that does not know it":   {"server:1: Not Found", pods.PullDeadline, corev1.ConditionTrue, true, ""},
		"a registry that gives it to others": {"pull access denied", pods.PullDeadline, corev1.ConditionTrue, true, ""},
		"nodes that are full":                {"", patience, corev1.ConditionFalse, false, "for a node for pod"},
		"nodes that stay full":               {"", patience + time.Second, corev1.ConditionFalse, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := attempt()
			a.Patience = patience
			server(&a).Status.Conditions = condOf(tc.node, tc.since, "0/3 nodes")
			if tc.said != "" {
				waitingFor(server(&a), 0, "ErrImagePull", tc.said)
			}
			if f := a.Fault(); (f != nil) != tc.fails {
				t.Errorf("the attempt ends with %+v", f)
			}
			if got := a.Awaited(); !strings.Contains(got, tc.awaits) || tc.awaits != "" && !strings.Contains(got, "10m0s (spec.patienceSeconds)") {
				t.Errorf("the attempt waits for %q", got)
			}
		})
	}
}
