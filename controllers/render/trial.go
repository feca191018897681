package render

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
)

// Trial points to a line of the run's plan. It is held until its workflow step.
func Trial(run *v1alpha1.BenchmarkRun, line record.PlannedTrial) *v1alpha1.Trial {
	t := &v1alpha1.Trial{ObjectMeta: owned(run, line.Name), Spec: v1alpha1.TrialSpec{
		RunName: run.Name, Index: &line.Index, Block: line.Block, Start: v1alpha1.StartHeld,
	}}
	for i, label := range []string{v1alpha1.LabelImplementation, v1alpha1.LabelPeer} {
		if i < len(line.Servers) {
			t.Labels[label] = line.Servers[i]
		}
	}
	return t
}

func owned(run *v1alpha1.BenchmarkRun, name string) metav1.ObjectMeta {
	yes := true
	return metav1.ObjectMeta{
		Name: name, Namespace: run.Namespace,
		Labels: map[string]string{v1alpha1.LabelRun: run.Name, v1alpha1.LabelRunUID: string(run.UID)},
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: v1alpha1.GroupVersion.String(), Kind: "BenchmarkRun", Name: run.Name, UID: run.UID,
			Controller: &yes, BlockOwnerDeletion: &yes,
		}},
	}
}
