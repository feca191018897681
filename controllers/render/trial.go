package render

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/trial/kind/kinds"
)

// Trial is one line of the plan as an object, held until its step of the workflow comes.
func Trial(run *v1alpha1.BenchmarkRun, p *plan.Plan, line record.PlannedTrial) *v1alpha1.Trial {
	return &v1alpha1.Trial{ObjectMeta: owned(run, line.Name), Spec: kinds.Write(run.Name, p.Plan, line)}
}

// owned is an object of that name which goes with its run.
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
