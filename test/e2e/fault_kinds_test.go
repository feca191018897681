package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/render"
	"loadstone.dev/loadstone/internal/client/kube"
	"loadstone.dev/loadstone/test/oracles"
)

// fault is something that goes wrong on a cluster. It is undone after a while if it does not pass by itself.
type fault struct {
	name string
	// costly is true if it may cost the trial that is measured: what it hits is the trial, or who has to tell its agents their start.
	costly bool
	// long is true if it takes longer to get over than faults are apart.
	long  bool
	begin begin
}

// begin lets a fault begin in a storm, and says how it is undone.
type begin func(context.Context, *storm) (undo func(context.Context) error, err error)

// faults are all of them.
func faults() []fault {
	return []fault{
		{name: "the operator is killed", costly: true, begin: killed("loadstone")},
		{name: "the operator is away", costly: true, begin: away("loadstone")},
		{name: "the operator hangs", costly: true, begin: hangs("operator")},
		{name: "Argo is killed", begin: killed("loadstone-argo")},
		{name: "Argo is away", begin: away("loadstone-argo")},
		{name: "Argo's agent pod is deleted", begin: deleteAgent},
		{name: "a workflow is deleted", begin: deleteOf(render.WorkflowKind.Kind)},
		{name: "what Argo's agent reads and writes is deleted", begin: deleteOf("WorkflowTaskSet")},
		{name: "the store hangs", begin: hangs("minio")},
		{name: "the store takes no more connections", begin: cutStore},
		{name: "the store is killed", long: true, begin: killStore},
		{name: "the API server hangs", costly: true, begin: stops("apiserver")},
		{name: "etcd hangs", costly: true, long: true, begin: stops("etcd")},
		{name: "a kubelet hangs", costly: true, long: true, begin: stops("kubelet-server", "kubelet-loadgen")},
		{name: "a kubelet is killed", costly: true, long: true, begin: restarts("kubelet-server", "kubelet-loadgen")},
		{name: "a containerd hangs", costly: true, long: true, begin: stops("containerd-server", "containerd-loadgen")},
		{name: "a containerd is killed", costly: true, long: true, begin: restarts("containerd-server", "containerd-loadgen")},
		{name: "a measured pod is deleted", costly: true, begin: kills(deleteNow)},
		{name: "a measured process is killed by others", costly: true, begin: kills(killProcesses)},
		{name: "a run is deleted while it measures", begin: deleteRun},
		{name: "a node is cordoned", begin: cordon},
		{name: "a quota is used up", begin: quota},
	}
}

// deployment is one of the installation's.
func deployment(ctx context.Context, name string) (*appsv1.Deployment, error) {
	var d appsv1.Deployment
	err := loadstone.Client.Get(ctx, client.ObjectKey{Namespace: system, Name: name}, &d)
	return &d, err
}

// killed deletes the pods of a deployment, without a chance for them to say goodbye.
func killed(name string) begin {
	return func(ctx context.Context, _ *storm) (func(context.Context) error, error) {
		d, err := deployment(ctx, name)
		if err != nil {
			return nil, err
		}
		return nil, loadstone.Client.DeleteAllOf(ctx, &corev1.Pod{}, client.InNamespace(system), client.MatchingLabels(d.Spec.Selector.MatchLabels), client.GracePeriodSeconds(0))
	}
}

// away scales a deployment to nothing for a while.
func away(name string) begin {
	scale := func(ctx context.Context, replicas int32) error {
		d, err := deployment(ctx, name)
		if err != nil {
			return err
		}
		before := d.DeepCopy()
		d.Spec.Replicas = &replicas
		return loadstone.Client.Patch(ctx, d, client.MergeFrom(before))
	}
	return func(ctx context.Context, _ *storm) (func(context.Context) error, error) {
		return func(ctx context.Context) error { return scale(ctx, 1) }, scale(ctx, 0)
	}
}

// onlyPod is the one pod of a component of the installation.
func onlyPod(ctx context.Context, component string) (*corev1.Pod, error) {
	var pods corev1.PodList
	if err := loadstone.Client.List(ctx, &pods, client.InNamespace(system), client.MatchingLabels{"app.kubernetes.io/component": component}); err != nil {
		return nil, err
	}
	if len(pods.Items) != 1 || len(pods.Items[0].Status.ContainerStatuses) == 0 {
		return nil, fmt.Errorf("there are %d pods of %s, or it has not begun", len(pods.Items), component)
	}
	return &pods.Items[0], nil
}

// hangs stops the processes of a component of the installation for a while.
func hangs(component string) begin {
	return func(ctx context.Context, _ *storm) (func(context.Context) error, error) {
		p, err := onlyPod(ctx, component)
		if err != nil {
			return nil, err
		}
		return func(context.Context) error { return signal(p, syscall.SIGCONT) }, signal(p, syscall.SIGSTOP)
	}
}

// signal sends a signal to the processes of a pod.
func signal(p *corev1.Pod, s syscall.Signal) error {
	pids, err := processes(p)
	if err != nil {
		return err
	}
	sent := 0
	for _, pid := range pids {
		if syscall.Kill(pid, s) == nil {
			sent++
		}
	}
	if sent == 0 {
		return fmt.Errorf("pod %s has no process on this machine", p.Name)
	}
	return nil
}

// processes are those of a pod, which are those of this machine in its cgroup, but for its sandbox's.
func processes(p *corev1.Pod) ([]int, error) {
	files, err := filepath.Glob("/proc/[0-9]*/cgroup")
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, file := range files {
		groups, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(groups, []byte("pod"+p.UID)) && !bytes.Contains(groups, []byte("pod"+strings.ReplaceAll(string(p.UID), "-", "_"))) {
			continue // It has ended, or is another's.
		}
		name, err := os.ReadFile(filepath.Join(filepath.Dir(file), "comm"))
		if err != nil || strings.TrimSpace(string(name)) == "pause" {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			return nil, err
		}
		pids = append(pids, pid)
	}
	return pids, nil
}

// cutStore leaves the store's Service without a pod for a while: what is connected stays so, and nobody else gets through.
func cutStore(ctx context.Context, _ *storm) (func(context.Context) error, error) {
	cut := func(ctx context.Context, value string) error {
		s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: "loadstone-minio"}}
		return loadstone.Client.Patch(ctx, s, client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec": {"selector": {"cut": %s}}}`, value)))
	}
	return func(ctx context.Context) error { return cut(ctx, "null") }, cut(ctx, `"yes"`)
}

// killStore kills the store's process. The kubelet starts it anew, later and later the more often it is killed.
func killStore(ctx context.Context, _ *storm) (func(context.Context) error, error) {
	p, err := onlyPod(ctx, "minio")
	if err != nil {
		return nil, err
	}
	before := p.Status.ContainerStatuses[0].RestartCount
	anew := func(ctx context.Context) error {
		for {
			if err := loadstone.Client.Get(ctx, client.ObjectKeyFromObject(p), p); err != nil {
				return err
			}
			if s := p.Status.ContainerStatuses[0]; s.RestartCount > before && s.Ready {
				return findAgain(ctx)
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
	return anew, signal(p, syscall.SIGKILL)
}

// findAgain finds the installation whose store has broken off the connection to the tests.
func findAgain(ctx context.Context) error {
	found, err := kube.Find(ctx, system)
	if err != nil {
		return err
	}
	loadstone.Close()
	loadstone = found
	return nil
}

// stops stops one of some processes of hack/cluster for a while.
func stops(names ...string) begin {
	return func(_ context.Context, s *storm) (func(context.Context) error, error) {
		pid, err := process(names[s.chance.IntN(len(names))])
		if err != nil {
			return nil, err
		}
		return func(context.Context) error { return syscall.Kill(pid, syscall.SIGCONT) }, syscall.Kill(pid, syscall.SIGSTOP)
	}
}

// cache is the folder in which hack/cluster keeps what it has built, and the cluster.
func cache() string {
	if dir := os.Getenv("LOADSTONE_CACHE"); dir != "" {
		return dir
	}
	return filepath.Join(os.Getenv("HOME"), ".cache", "loadstone")
}

// process is the process of a component of hack/cluster.
func process(name string) (int, error) {
	text, err := os.ReadFile(filepath.Join(cache(), "cluster", "pids", name))
	if err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(string(text), " ")
	return strconv.Atoi(first)
}

// restarts kills one of some processes of hack/cluster, and starts it anew at once.
func restarts(names ...string) begin {
	return func(ctx context.Context, s *storm) (func(context.Context) error, error) {
		name := names[s.chance.IntN(len(names))]
		out, err := exec.CommandContext(ctx, "../../hack/cluster/restart.sh", name).CombinedOutput()
		if err != nil {
			return nil, fmt.Errorf("restarting %s: %w: %s", name, err, out)
		}
		return nil, nil
	}
}

// kills puts an end to a pod of a trial, and tells the storm which.
func kills(end func(context.Context, *corev1.Pod) error) begin {
	return func(ctx context.Context, s *storm) (func(context.Context) error, error) {
		p, err := s.someMeasured(ctx)
		if err != nil {
			return nil, err
		}
		attempt, err := strconv.Atoi(p.Labels[v1alpha1.LabelAttempt])
		if err != nil {
			return nil, fmt.Errorf("the attempt of pod %s: %w", p.Name, err)
		}
		if err := end(ctx, p); err != nil {
			return nil, err
		}
		s.kills = append(s.kills, oracles.Kill{Trial: p.Labels[v1alpha1.LabelTrial], Attempt: int32(attempt), At: time.Now()})
		return nil, nil
	}
}

func deleteNow(ctx context.Context, p *corev1.Pod) error {
	return loadstone.Client.Delete(ctx, p, client.GracePeriodSeconds(0))
}

func killProcesses(_ context.Context, p *corev1.Pod) error { return signal(p, syscall.SIGKILL) }

// someMeasured is a pod of a trial that runs, which is waited for.
func (s *storm) someMeasured(ctx context.Context) (*corev1.Pod, error) {
	for {
		var pods corev1.PodList
		if err := loadstone.Client.List(ctx, &pods, client.InNamespace(namespace), client.HasLabels{v1alpha1.LabelRunUID}); err != nil {
			return nil, err
		}
		running := slices.DeleteFunc(pods.Items, func(p corev1.Pod) bool { return p.Status.Phase != corev1.PodRunning || !p.DeletionTimestamp.IsZero() })
		if len(running) > 0 {
			return &running[s.chance.IntN(len(running))], nil
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// deleteRun deletes the run that measures, which is waited for, and sees to it that nothing is left of it.
func deleteRun(ctx context.Context, s *storm) (func(context.Context) error, error) {
	for ; ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
		if i := slices.IndexFunc(s.runs, measuring(s.t)); i >= 0 {
			run := s.runs[i]
			s.runs = slices.Delete(s.runs, i, i+1)
			s.ended["deleted"]++
			remove(s.t, run)
			return nil, nil
		}
	}
	return nil, errors.New("no run measures")
}

// deleteAgent deletes the pod in which Argo does the steps of the run that is measured.
func deleteAgent(ctx context.Context, _ *storm) (func(context.Context) error, error) {
	var pods corev1.PodList
	if err := loadstone.Client.List(ctx, &pods, client.InNamespace(system), client.HasLabels{"workflows.argoproj.io/workflow"}); err != nil {
		return nil, err
	}
	if len(pods.Items) == 0 {
		return nil, errors.New("there is none")
	}
	for i := range pods.Items {
		if err := loadstone.Client.Delete(ctx, &pods.Items[i], client.GracePeriodSeconds(0)); client.IgnoreNotFound(err) != nil {
			return nil, err
		}
	}
	return nil, nil
}

// deleteOf deletes the objects of a kind that Argo has of the run that is measured.
func deleteOf(kind string) begin {
	return func(ctx context.Context, _ *storm) (func(context.Context) error, error) {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(render.WorkflowKind.GroupVersion().WithKind(kind))
		if err := loadstone.Client.List(ctx, list, client.InNamespace(system)); err != nil {
			return nil, err
		}
		if len(list.Items) == 0 {
			return nil, errors.New("there is none")
		}
		for i := range list.Items {
			if err := loadstone.Client.Delete(ctx, &list.Items[i]); client.IgnoreNotFound(err) != nil {
				return nil, err
			}
		}
		return nil, nil
	}
}

// cordon keeps new pods from a node for a while.
func cordon(ctx context.Context, s *storm) (func(context.Context) error, error) {
	var nodes corev1.NodeList
	if err := loadstone.Client.List(ctx, &nodes, client.HasLabels{v1alpha1.LabelRole}); err != nil {
		return nil, err
	}
	if len(nodes.Items) == 0 {
		return nil, fmt.Errorf("no node has the label %s", v1alpha1.LabelRole)
	}
	name := nodes.Items[s.chance.IntN(len(nodes.Items))].Name
	set := func(ctx context.Context, unschedulable bool) error {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
		return loadstone.Client.Patch(ctx, n, client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"unschedulable":%v}}`, unschedulable)))
	}
	return func(ctx context.Context) error { return set(ctx, false) }, set(ctx, true)
}

// quota leaves no room for pods in the namespace of the runs for a while.
func quota(ctx context.Context, _ *storm) (func(context.Context) error, error) {
	q := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "none", Namespace: namespace}, Spec: corev1.ResourceQuotaSpec{
		Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")},
	}}
	return func(ctx context.Context) error { return loadstone.Client.Delete(ctx, q) }, loadstone.Client.Create(ctx, q)
}
