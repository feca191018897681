package render

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/trial/kind/sweep"
)

func duet(t *testing.T) (plan.Plan, swept) {
	t.Helper()
	p, err := plan.Compile(v1alpha1.BenchmarkRunSpec{
		Baseline: "go", Order: v1alpha1.OrderSlicedDuet, Blocks: 2,
		Implementations: []v1alpha1.Implementation{
			{Name: "go", Image: "localhost/loadstone/gohttp:dev", Port: 8080},
			{Name: "epoll", Image: "localhost/loadstone/epoll:dev", Port: 8081},
		},
		Loads: []v1alpha1.Load{{Name: "sweep", Tool: v1alpha1.ToolWrk, Levels: []v1alpha1.Level{{Connections: 10}}}},
	}, plan.Options{Name: "duet", UID: "11111111-2222"})
	if err != nil {
		t.Fatal(err)
	}
	return p, sweepOf(t, p, p.Trials[0])
}

func TestGoldenObjectsOfADuet(t *testing.T) {
	p, tr := duet(t)
	golden(t, "duet-workflow.yaml", Workflow(p, WorkflowOptions{
		Namespace: "loadstone-system", RunNamespace: "bench", RunName: "duet", RunUID: "11111111-2222",
		Service: "http://loadstone.loadstone-system.svc:8090", ServiceAccount: "loadstone-workflow",
	}).Object)
	golden(t, "duet-server.yaml", member(t, tr, record.MemberServer(0), options()))
	golden(t, "duet-peer.yaml", member(t, tr, record.MemberServer(1), options()))
}

// A whole CPU with equal limit would be exclusive, and another server could not share it; a quota would hold a server back in its turn.
func TestNeitherServerOfADuetGetsACPUOfItsOwnOrAQuota(t *testing.T) {
	_, tr := duet(t)
	for _, role := range []string{record.MemberServer(0), record.MemberServer(1)} {
		r := member(t, tr, role, options()).Spec.Containers[0].Resources
		if _, limited := r.Limits[corev1.ResourceCPU]; limited || r.Requests.Cpu().MilliValue() != sweep.DuetMilliCPU || r.Limits.Memory().Cmp(*r.Requests.Memory()) != 0 {
			t.Errorf("%s: %+v", role, r)
		}
	}
}

func TestAGeneratorOfADuetHasMemoryForTheConnectionsToBoth(t *testing.T) {
	_, tr := duet(t)
	both := member(t, tr, record.MemberGenerator(0), options()).Spec.Containers[0].Resources.Limits.Memory().Value()
	tr.Cells[0].Order = ""
	one := member(t, tr, record.MemberGenerator(0), options()).Spec.Containers[0].Resources.Limits.Memory().Value()
	if both-one != 10*tool.ConnectionBytes {
		t.Errorf("%d bytes for both, %d for one", both, one)
	}
}
