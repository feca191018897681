package facts

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/run/plan"
)

func TestARunOfARoundMayBeTheFirstOfItsSuite(t *testing.T) {
	suite := &v1alpha1.BenchmarkSuite{ObjectMeta: metav1.ObjectMeta{Name: "checkout", UID: "u"}}
	of := func(kind string) []metav1.OwnerReference {
		return []metav1.OwnerReference{*metav1.NewControllerRef(suite, v1alpha1.GroupVersion.WithKind(kind))}
	}
	for name, tc := range map[string]struct {
		owners []metav1.OwnerReference
		round  bool
	}{
		"a run that a suite has made":                                     {of("BenchmarkSuite"), true},
		"a run that somebody has made, or that was copied from a suite's": {nil, false},
		"a run that something else has made":                              {of("CronJob"), false},
	} {
		run := &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Name: "r", UID: "v", OwnerReferences: tc.owners}, Spec: v1alpha1.BenchmarkRunSpec{
			Implementations: []v1alpha1.Implementation{{Name: "a", Image: "a:1", Port: 80}, {Name: "b", Image: "b:1", Port: 80}},
			Loads:           []v1alpha1.Load{{Name: "l", Tool: v1alpha1.ToolWrk, Levels: []v1alpha1.Level{{Connections: 1}}}},
			Objectives:      []v1alpha1.Objective{{Metric: v1alpha1.ObjectiveRegression, Of: "Throughput", Min: "1", Against: v1alpha1.Earlier{LastGood: 1, Anchor: "b"}}},
		}}
		p, err := Plan(run)
		if (err == nil) != tc.round || len(p.Objectives) > 0 {
			t.Errorf("%s has the objectives %+v, and %v", name, p.Objectives, err)
		}
	}
}

func TestANodeIsAwayUnlessItRunsPods(t *testing.T) {
	node := func(status corev1.ConditionStatus, cordoned bool) corev1.Node {
		n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{v1alpha1.LabelRole: "server"}}, Spec: corev1.NodeSpec{Unschedulable: cordoned}}
		n.Status.Allocatable = corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("1500m"), corev1.ResourcePods: resource.MustParse("110"), corev1.ResourceEphemeralStorage: resource.MustParse("1Gi"),
			"hugepages-1Gi": resource.MustParse("0"), "hugepages-2Mi": resource.MustParse("64Mi"), "nvidia.com/gpu": resource.MustParse("2"),
		}
		if status != "" {
			n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status}}
		}
		return n
	}
	for name, tc := range map[string]struct {
		node corev1.Node
		away bool
	}{
		"one that is ready":              {node(corev1.ConditionTrue, false), false},
		"one that says nothing":          {node("", false), false},
		"one that is not ready":          {node(corev1.ConditionFalse, false), true},
		"one of which nobody hears":      {node(corev1.ConditionUnknown, false), true},
		"one that is ready and cordoned": {node(corev1.ConditionTrue, true), true},
	} {
		has := map[string]int64{"hugepages-2Mi": 64 << 20, "nvidia.com/gpu": 2}
		want := []plan.Node{{Name: "n", Role: "server", MilliCPU: 1500, Resources: has, Labels: map[string]string{v1alpha1.LabelRole: "server"}, Away: tc.away, NotReady: tc.away && !tc.node.Spec.Unschedulable}}
		if diff := cmp.Diff(want, Nodes([]corev1.Node{tc.node})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A webhook may put a container before ours.
func TestRecordOfAPodNamesTheMeasuredImage(t *testing.T) {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p", Labels: map[string]string{v1alpha1.LabelMember: "server-0"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "istio-proxy", Image: "proxy:1"}, {Name: "server", Image: "app:1"}}},
		Status:     corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "istio-proxy", ImageID: "sha256:0"}, {Name: "server", ImageID: "sha256:1"}}},
	}
	if got := Pod(p, "server"); got.Image != "app:1" || got.ImageID != "sha256:1" {
		t.Errorf("the record is %+v", got)
	}
}

func TestAPodHoldsNoCPUWhereItsNodeIsAway(t *testing.T) {
	nodes := []plan.Node{{Name: "here"}, {Name: "away", Away: true, NotReady: true}, {Name: "cordoned", Away: true}}
	goes := &metav1.Time{Time: time.Unix(1, 0)}
	for name, tc := range map[string]struct {
		node string
		goes *metav1.Time
		want bool
	}{
		"it is deleted, and its node is away":     {"away", goes, true},
		"it is deleted, and its node is there":    {"here", goes, false},
		"it is deleted, and its node is cordoned": {"cordoned", goes, false},
		"its node is away, and may come back":     {"away", nil, false},
		"its node is none that the cluster has":   {"gone", goes, false},
		"it is deleted before it has found one":   {"", goes, false},
		"it is not deleted, and its node is here": {"here", nil, false},
	} {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: tc.goes}, Spec: corev1.PodSpec{NodeName: tc.node}}
		if got := Unreachable(p, nodes); got != tc.want {
			t.Errorf("%s: it is unreachable: %v", name, got)
		}
	}
}

func TestAPodHoldsOthersUpForAsLongAsItsTrialAndSomeMinutes(t *testing.T) {
	const year = 365 * 24 * time.Hour
	now := time.Unix(100_000, 0)
	micro := func(d time.Duration) *metav1.MicroTime { return &metav1.MicroTime{Time: now.Add(-d)} }
	ago := func(d time.Duration) *metav1.Time { return &metav1.Time{Time: now.Add(-d)} }
	trial := func(ended *metav1.MicroTime) *v1alpha1.Trial {
		return &v1alpha1.Trial{Status: v1alpha1.TrialStatus{CompletionTime: ended}}
	}
	for name, tc := range map[string]struct {
		goes  *metav1.Time
		grace int64
		owner *v1alpha1.Trial
		want  bool
	}{
		"of a trial that goes on":                     {nil, 0, trial(nil), true},
		"of a trial that has just ended":              {nil, 0, trial(micro(time.Second)), true},
		"of a trial that ended long ago":              {nil, 0, trial(micro(releasePatience)), false},
		"of a trial that there is not":                {nil, 0, nil, false},
		"of one that is gone, and goes, too":          {ago(time.Second), 2, nil, true},
		"of one that is gone, and does not go":        {ago(orphanPatience), 0, nil, false},
		"of one that is gone, and takes its leave":    {ago(-year), 365 * 24 * 3600, nil, true},
		"of one that is gone, and takes a year to go": {ago(orphanPatience - year), 365 * 24 * 3600, nil, false},
		"that goes":                    {ago(releasePatience - 3*time.Second), 2, trial(nil), true},
		"that was told to go long ago": {ago(releasePatience - 2*time.Second), 2, trial(nil), false},
		"that was told to go long ago, and takes a year": {ago(releasePatience - year), 365 * 24 * 3600, trial(nil), false},
		"that goes, of a trial that ended long ago":      {ago(0), 2, trial(micro(time.Hour)), true},
	} {
		t.Run("a pod "+name, func(t *testing.T) {
			yes := true
			p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: tc.goes, DeletionGracePeriodSeconds: &tc.grace, OwnerReferences: []metav1.OwnerReference{{
				APIVersion: v1alpha1.GroupVersion.String(), Kind: "Trial", Name: "t", Controller: &yes,
			}}}}
			if got := HoldsCPUs(p, tc.owner, nil, now); got != tc.want {
				t.Errorf("it holds CPUs: %v", got)
			}
		})
	}
}
