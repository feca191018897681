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
	"loadstone.dev/loadstone/test/e2e/registry"
	"loadstone.dev/loadstone/test/oracles"
)

// fault is a fault of a cluster. If it does not end by itself, it is undone.
type fault struct {
	name string
	// costly is true if it may cost the current trial, because it hits the trial or the operator that must start its agents.
	costly bool
	// long is true if recovery takes longer than the time between faults.
	long  bool
	begin begin
}

// begin starts a fault in a storm and returns how to undo it.
type begin func(context.Context, *storm) (undo func(context.Context) error, err error)

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

func deployment(ctx context.Context, name string) (*appsv1.Deployment, error) {
	var d appsv1.Deployment
	err := loadstone.Client.Get(ctx, client.ObjectKey{Namespace: system, Name: name}, &d)
	return &d, err
}

// killed deletes a deployment's pods without a grace period.
func killed(name string) begin {
	return func(ctx context.Context, _ *storm) (func(context.Context) error, error) {
		d, err := deployment(ctx, name)
		if err != nil {
			return nil, err
		}
		return nil, loadstone.Client.DeleteAllOf(ctx, &corev1.Pod{}, client.InNamespace(system), client.MatchingLabels(d.Spec.Selector.MatchLabels), client.GracePeriodSeconds(0))
	}
}

// away scales a deployment to 0 for a while.
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

// hangs stops a component's processes for a while.
func hangs(component string) begin {
	return func(ctx context.Context, _ *storm) (func(context.Context) error, error) {
		p, err := onlyPod(ctx, component)
		if err != nil {
			return nil, err
		}
		return func(context.Context) error { return signal(p, syscall.SIGCONT) }, signal(p, syscall.SIGSTOP)
	}
}

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

// processes are a pod's processes on this machine, by its cgroup, without the sandbox.
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

// cutStore removes the endpoints of the store's Service for a while. Only existing connections work.
func cutStore(ctx context.Context, _ *storm) (func(context.Context) error, error) {
	cut := func(ctx context.Context, value string) error {
		s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: "loadstone-minio"}}
		return loadstone.Client.Patch(ctx, s, client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec": {"selector": {"cut": %s}}}`, value)))
	}
	return func(ctx context.Context) error { return cut(ctx, "null") }, cut(ctx, `"yes"`)
}

// killStore kills the store's process. The kubelet restarts it with a growing delay.
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

// findAgain reconnects the tests to the installation's store.
func findAgain(ctx context.Context) error {
	found, err := kube.Find(ctx, system)
	if err != nil {
		return err
	}
	loadstone.Close()
	loadstone = found
	return nil
}

// stops stops one of some hack/cluster processes for a while.
func stops(names ...string) begin {
	return func(_ context.Context, s *storm) (func(context.Context) error, error) {
		pid, err := process(names[s.chance.IntN(len(names))])
		if err != nil {
			return nil, err
		}
		return func(context.Context) error { return syscall.Kill(pid, syscall.SIGCONT) }, syscall.Kill(pid, syscall.SIGSTOP)
	}
}

func process(name string) (int, error) {
	text, err := os.ReadFile(filepath.Join(registry.Cache(), "cluster", "pids", name))
	if err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(string(text), " ")
	return strconv.Atoi(first)
}

// restarts kills and restarts one of some hack/cluster processes.
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

// kills ends a pod of a trial and records it in the storm.
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

// someMeasured waits for a running pod of a trial.
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

// deleteRun waits for a measuring run, deletes it, and checks that nothing remains.
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

// deleteOf deletes the measured run's Argo objects of a kind.
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

// quota allows no new pods in the runs' namespace for a while.
func quota(ctx context.Context, _ *storm) (func(context.Context) error, error) {
	q := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "none", Namespace: namespace}, Spec: corev1.ResourceQuotaSpec{
		Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")},
	}}
	return func(ctx context.Context) error { return loadstone.Client.Delete(ctx, q) }, loadstone.Client.Create(ctx, q)
}
