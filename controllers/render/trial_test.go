package render

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
)

func TestTrialPointsToItsPlanAndNamesItsServers(t *testing.T) {
	run := &v1alpha1.BenchmarkRun{}
	run.Name, run.Namespace, run.UID = "quick", "bench", "run-uid"
	index := int32(7)
	for name, tc := range map[string]struct {
		servers []string
		labels  map[string]string
	}{
		"one server": {[]string{"go"}, map[string]string{v1alpha1.LabelImplementation: "go"}},
		"a duet":     {[]string{"go", "epoll"}, map[string]string{v1alpha1.LabelImplementation: "go", v1alpha1.LabelPeer: "epoll"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := Trial(run, record.PlannedTrial{Name: "quick-007", Index: index, Block: 2, Type: record.Sweep, Servers: tc.servers})
			tc.labels[v1alpha1.LabelRun], tc.labels[v1alpha1.LabelRunUID] = "quick", "run-uid"
			if diff := cmp.Diff(tc.labels, got.Labels); diff != "" || got.Name != "quick-007" || got.Namespace != "bench" || got.OwnerReferences[0].UID != "run-uid" {
				t.Errorf("it is %+v (labels -want +got):\n%s", got.ObjectMeta, diff)
			}
			if diff := cmp.Diff(v1alpha1.TrialSpec{RunName: "quick", Index: &index, Block: 2, Start: v1alpha1.StartHeld}, got.Spec); diff != "" {
				t.Errorf("spec (-want +got):\n%s", diff)
			}
		})
	}
}
