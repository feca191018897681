package pods_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Instants of a pod are those of others' clocks, but for its creation, which is the API server's. A clock that is late cuts no patience short; one that
// is early lets it last for as much longer.
func TestAClockThatDiffersCutsNoPatienceShort(t *testing.T) {
	const patience, off = 5 * time.Minute, 10 * time.Minute
	for name, tc := range map[string]struct {
		// clock is that of the node or of the scheduler, less the API server's.
		clock     time.Duration
		scheduled corev1.ConditionStatus
		// depends: the server's dependency started by its node's clock.
		depends bool
		want    time.Duration
	}{
		"a pull, and the scheduler is late":                    {-off, corev1.ConditionTrue, false, patience},
		"a pull, and the scheduler is early":                   {off, corev1.ConditionTrue, false, patience + off},
		"a pull after a dependency, and the node is late":      {-off, corev1.ConditionTrue, true, patience},
		"a pull after a dependency, and the node is early":     {off, corev1.ConditionTrue, true, patience + off},
		"a pod that finds no node, and the scheduler is late":  {-off, corev1.ConditionFalse, false, patience},
		"a pod that finds no node, and the scheduler is early": {off, corev1.ConditionFalse, false, patience + off},
		"a pull, and all clocks are equal":                     {0, corev1.ConditionTrue, true, patience},
		"a pod that finds no node, and all clocks are equal":   {0, corev1.ConditionFalse, false, patience},
	} {
		t.Run(name, func(t *testing.T) {
			a := attempt()
			a.Patience = patience
			for _, p := range a.Pods {
				p.CreationTimestamp = metav1.Time{Time: noon}
			}
			if tc.depends {
				depending(corev1.ContainerStatus{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Time{Time: noon.Add(tc.clock)}}}})(&a)
			}
			server(&a).Status.Conditions = condOf(tc.scheduled, -tc.clock, "0/3 nodes")
			if tc.scheduled == corev1.ConditionTrue {
				waitingFor(server(&a), 0, "ErrImagePull", "dial tcp 10.0.0.1:443: i/o timeout")
			}
			if a.Now = noon.Add(tc.want - time.Second); a.Fault() != nil {
				t.Errorf("%s after its creation the attempt ends with %s", tc.want-time.Second, describe(a.Fault()))
			}
			if a.Now = noon.Add(tc.want + time.Second); a.Fault() == nil {
				t.Errorf("%s after its creation it goes on", tc.want+time.Second)
			}
		})
	}
}
