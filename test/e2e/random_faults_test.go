package e2e

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/publish"
	"loadstone.dev/loadstone/internal/reason"
	"loadstone.dev/loadstone/internal/render"
)

const (
	// faultEvery is the time from the begin of one fault to that of the next, and faultHeld how long those last that last.
	faultEvery, faultHeld = 20 * time.Second, 15 * time.Second
	// faultPatience is how long a run may take from its turn to its end when no more faults begin, and settled how long what it leaves may stay.
	faultPatience, settled = 10 * time.Minute, 90 * time.Second
	// queued is how many runs of the test have not ended at any time.
	queued = 2
)

// fault is something that goes wrong on a cluster. It is undone after a while if it does not pass by itself.
type fault struct {
	name  string
	begin func(context.Context) (undo func(context.Context) error, err error)
}

// Runs follow each other in a queue while something goes wrong every twenty seconds, in an order that follows from a seed. Whatever it is: every run
// ends with a reason, what it has measured can be read back and reported, nothing is left of it, and no implementation is blamed.
//
//	LOADSTONE_FAULTS       how long faults begin, such as 20m; 80 seconds unless it is set
//	LOADSTONE_FAULTS_SEED  the seed; 1 unless it is set
func TestRandomFaultsLoseNothingAndBlameNobody(t *testing.T) {
	length, seed := 80*time.Second, uint64(1)
	if own := os.Getenv("LOADSTONE_FAULTS"); own != "" {
		var err error
		if length, err = time.ParseDuration(own); err != nil {
			t.Fatal(err)
		}
	}
	if own := os.Getenv("LOADSTONE_FAULTS_SEED"); own != "" {
		var err error
		if seed, err = strconv.ParseUint(own, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	s := &storm{t: t, chance: rand.New(rand.NewPCG(seed, 0)), begun: map[string]int{}, ended: map[string]int{}}
	t.Logf("faults for %s, seed %d", length, seed)
	for until := time.Now().Add(length); time.Now().Before(until); {
		next := time.Now().Add(faultEvery)
		s.feed()
		s.strike()
		s.collect()
		time.Sleep(time.Until(next))
	}
	for patience := time.Now().Add(faultPatience); len(s.runs) > 0 && time.Now().Before(patience); time.Sleep(time.Second) {
		s.collect()
	}
	for _, run := range s.runs {
		t.Errorf("%s has not ended %s after the last fault: %+v\n%s", run.Name, faultPatience, run.Status.Conditions, describeTrials(t, run))
	}
	t.Logf("%d runs: %s; %d trials stored, %d attempts given up, %d repeat blocks", s.made-len(s.runs), counted(s.ended), s.stored, s.retries, s.repeats)
	t.Logf("faults: %s", counted(s.begun))
	if s.stored == 0 {
		t.Error("no trial was stored: nothing was tested")
	}
}

// storm is a queue of runs under faults.
type storm struct {
	t      *testing.T
	chance *rand.Rand
	// bag are the faults that have not been drawn since all of them were.
	bag  []fault
	runs []*v1alpha1.BenchmarkRun
	made int
	// begun counts faults by their names, and ended runs by their reasons.
	begun, ended             map[string]int
	stored, retries, repeats int
}

// feed applies runs until as many as the queue shall hold have not ended.
func (s *storm) feed() {
	for len(s.runs) < queued {
		run := small(fmt.Sprintf("storm-%03d", s.made), func(spec *v1alpha1.BenchmarkRunSpec) {
			other := *spec.Implementations[0].DeepCopy()
			other.Name = "same"
			spec.Implementations = append(spec.Implementations, other)
			spec.Loads[0].DurationSeconds, spec.Blocks, spec.TimeoutSeconds, spec.Baseline = 3, 2, 900, other.Name
		})
		if err := apply(s.t, run); apierrors.IsInvalid(err) {
			s.t.Fatal(err)
		} else if err != nil {
			s.t.Logf("applying %s: %s", run.Name, err)
			return // What is in the way is a fault of ours, and passes.
		}
		s.made++
		s.runs = append(s.runs, run)
	}
}

// strike begins a fault, holds it and undoes it.
func (s *storm) strike() {
	if len(s.bag) == 0 {
		s.bag = faults(s.chance)
		s.chance.Shuffle(len(s.bag), func(i, j int) { s.bag[i], s.bag[j] = s.bag[j], s.bag[i] })
	}
	f := s.bag[0]
	s.bag = s.bag[1:]
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	undo, err := f.begin(ctx)
	if err != nil {
		s.t.Logf("%s cannot be done now: %s", f.name, err)
		return
	}
	s.t.Logf("%s", f.name)
	s.begun[f.name]++
	if undo == nil {
		return
	}
	time.Sleep(faultHeld)
	if err := undo(ctx); err != nil {
		s.t.Fatalf("undoing: %s: %s", f.name, err)
	}
}

// collect looks at the runs that have ended, and removes them.
func (s *storm) collect() {
	s.runs = slices.DeleteFunc(s.runs, func(run *v1alpha1.BenchmarkRun) bool {
		if err := loadstone.Client.Get(s.t.Context(), client.ObjectKeyFromObject(run), run); err != nil {
			s.t.Logf("looking at %s: %s", run.Name, err)
			return false
		}
		if !ended(run) {
			return false
		}
		s.judge(run)
		remove(s.t, run)
		return true
	})
}

// judge holds a run that has ended against what must be true of every one.
func (s *storm) judge(run *v1alpha1.BenchmarkRun) {
	c := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionSucceeded)
	if c == nil || c.Reason == "" || c.Status == metav1.ConditionUnknown {
		s.t.Errorf("%s has ended without a reason: %+v", run.Name, run.Status.Conditions)
		return
	}
	s.ended[c.Reason]++
	s.t.Logf("%s: %s: %s", run.Name, c.Reason, c.Message)
	if reason.Of(c.Reason) == 0 || reason.Of(c.Reason) == reason.Implementation || c.Reason == v1alpha1.ReasonReportFailed {
		s.t.Errorf("%s has ended with %s: %s", run.Name, c.Reason, c.Message)
	}
	stored := 0
	for _, tr := range trials(s.t, run) {
		s.retries += len(tr.Status.Failures)
		if tr.Status.ManifestKey != "" {
			stored++
		}
		if done := meta.FindStatusCondition(tr.Status.Conditions, v1alpha1.ConditionSucceeded); done != nil && reason.Of(done.Reason) == reason.Implementation {
			s.t.Errorf("%s blames the implementation: %s: %s", tr.Name, done.Reason, done.Message)
		}
	}
	if stored > 0 {
		s.read(run, stored)
	}
	for deadline := time.Now().Add(settled); ; time.Sleep(time.Second) {
		var pods corev1.PodList
		err := loadstone.Client.List(s.t.Context(), &pods, client.MatchingLabels{v1alpha1.LabelRunUID: string(run.UID)})
		if err == nil && len(pods.Items) == 0 {
			return
		}
		if time.Now().After(deadline) {
			s.t.Errorf("%s after its end %s has left %d pods: %v", settled, run.Name, len(pods.Items), err)
			return
		}
	}
}

// read reads a run back from the store, with the digest of each object, and looks whether an implementation is blamed.
func (s *storm) read(run *v1alpha1.BenchmarkRun, stored int) {
	data, err := publish.Read(s.t.Context(), loadstone.Store, prefix(run))
	if err != nil {
		s.t.Errorf("%s cannot be read back: %s", run.Name, err)
		return
	}
	s.stored += len(data.Trials)
	s.repeats += int(data.Manifest.RepeatBlocks)
	seen := map[string]bool{}
	for _, one := range data.Trials {
		if seen[one.Manifest.Name] {
			s.t.Errorf("%s was stored twice", one.Manifest.Name)
		}
		seen[one.Manifest.Name] = true
	}
	if len(data.Trials) != stored {
		s.t.Errorf("of %s %d trials are stored, and %d are read back", run.Name, stored, len(data.Trials))
	}
	table, err := analysis.Analyse(data)
	if err != nil {
		s.t.Errorf("%s cannot be analysed: %s", run.Name, err)
		return
	}
	for _, g := range table.Groups {
		for _, c := range g.Cells {
			if c.ImplementationFailure() {
				s.t.Errorf("%s: %s is blamed for a cell: %+v", c.Trial, g.Implementation, c.Reasons)
			}
		}
	}
}

// faults are all of them.
func faults(chance *rand.Rand) []fault {
	return []fault{
		{"the operator is killed", func(ctx context.Context) (func(context.Context) error, error) { return nil, killPods(ctx, "loadstone") }},
		{"the operator is away", func(ctx context.Context) (func(context.Context) error, error) { return away(ctx, "loadstone") }},
		{"the operator hangs", func(ctx context.Context) (func(context.Context) error, error) { return hang(ctx, "operator") }},
		{"Argo is killed", func(ctx context.Context) (func(context.Context) error, error) {
			return nil, killPods(ctx, "loadstone-argo")
		}},
		{"Argo is away", func(ctx context.Context) (func(context.Context) error, error) { return away(ctx, "loadstone-argo") }},
		{"the store hangs", func(ctx context.Context) (func(context.Context) error, error) { return hang(ctx, "minio") }},
		{"the API server hangs", hangAPIServer},
		{"a workflow is deleted", deleteWorkflow},
		{"a measured pod is deleted", func(ctx context.Context) (func(context.Context) error, error) {
			p, err := someMeasured(ctx, chance)
			if err != nil {
				return nil, err
			}
			return nil, loadstone.Client.Delete(ctx, p, client.GracePeriodSeconds(0))
		}},
		{"a measured process is killed by others", func(ctx context.Context) (func(context.Context) error, error) {
			p, err := someMeasured(ctx, chance)
			if err != nil {
				return nil, err
			}
			return nil, signal(p, syscall.SIGKILL)
		}},
		{"a node is cordoned", func(ctx context.Context) (func(context.Context) error, error) { return cordon(ctx, chance) }},
		{"a quota is used up", quota},
	}
}

// deployment is one of the installation's.
func deployment(ctx context.Context, name string) (*appsv1.Deployment, error) {
	var d appsv1.Deployment
	err := loadstone.Client.Get(ctx, client.ObjectKey{Namespace: system, Name: name}, &d)
	return &d, err
}

// killPods deletes the pods of a deployment, without a chance for them to say goodbye.
func killPods(ctx context.Context, name string) error {
	d, err := deployment(ctx, name)
	if err != nil {
		return err
	}
	return loadstone.Client.DeleteAllOf(ctx, &corev1.Pod{}, client.InNamespace(system), client.MatchingLabels(d.Spec.Selector.MatchLabels), client.GracePeriodSeconds(0))
}

// away scales a deployment to nothing for a while.
func away(ctx context.Context, name string) (func(context.Context) error, error) {
	scale := func(ctx context.Context, replicas int32) error {
		d, err := deployment(ctx, name)
		if err != nil {
			return err
		}
		before := d.DeepCopy()
		d.Spec.Replicas = &replicas
		return loadstone.Client.Patch(ctx, d, client.MergeFrom(before))
	}
	return func(ctx context.Context) error { return scale(ctx, 1) }, scale(ctx, 0)
}

// hang stops the processes of a component of the installation for a while.
func hang(ctx context.Context, name string) (func(context.Context) error, error) {
	p, err := component(ctx, name)
	if err != nil {
		return nil, err
	}
	return func(context.Context) error { return signal(p, syscall.SIGCONT) }, signal(p, syscall.SIGSTOP)
}

// component is the pod of a component of the installation.
func component(ctx context.Context, name string) (*corev1.Pod, error) {
	var pods corev1.PodList
	if err := loadstone.Client.List(ctx, &pods, client.InNamespace(system), client.MatchingLabels{"app.kubernetes.io/component": name}); err != nil {
		return nil, err
	}
	if len(pods.Items) != 1 {
		return nil, fmt.Errorf("there are %d pods of %s", len(pods.Items), name)
	}
	return &pods.Items[0], nil
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

// hangAPIServer stops the API server of hack/cluster for a while.
func hangAPIServer(context.Context) (func(context.Context) error, error) {
	cache := os.Getenv("LOADSTONE_CACHE")
	if cache == "" {
		cache = filepath.Join(os.Getenv("HOME"), ".cache", "loadstone")
	}
	text, err := os.ReadFile(filepath.Join(cache, "cluster", "pids", "apiserver"))
	if err != nil {
		return nil, err
	}
	first, _, _ := strings.Cut(string(text), " ")
	pid, err := strconv.Atoi(first)
	if err != nil {
		return nil, err
	}
	return func(context.Context) error { return syscall.Kill(pid, syscall.SIGCONT) }, syscall.Kill(pid, syscall.SIGSTOP)
}

// someMeasured is a pod of a trial that runs, which is waited for.
func someMeasured(ctx context.Context, chance *rand.Rand) (*corev1.Pod, error) {
	for {
		var pods corev1.PodList
		if err := loadstone.Client.List(ctx, &pods, client.InNamespace(namespace), client.HasLabels{v1alpha1.LabelRunUID}); err != nil {
			return nil, err
		}
		running := slices.DeleteFunc(pods.Items, func(p corev1.Pod) bool { return p.Status.Phase != corev1.PodRunning || !p.DeletionTimestamp.IsZero() })
		if len(running) > 0 {
			return &running[chance.IntN(len(running))], nil
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// deleteWorkflow deletes the workflows of the run that is measured.
func deleteWorkflow(ctx context.Context) (func(context.Context) error, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(render.WorkflowKind)
	if err := loadstone.Client.List(ctx, list, client.InNamespace(system), client.HasLabels{v1alpha1.LabelRunUID}); err != nil {
		return nil, err
	}
	if len(list.Items) == 0 {
		return nil, fmt.Errorf("there is none")
	}
	for i := range list.Items {
		if err := loadstone.Client.Delete(ctx, &list.Items[i]); client.IgnoreNotFound(err) != nil {
			return nil, err
		}
	}
	return nil, nil
}

// cordon keeps new pods from a node for a while.
func cordon(ctx context.Context, chance *rand.Rand) (func(context.Context) error, error) {
	var nodes corev1.NodeList
	if err := loadstone.Client.List(ctx, &nodes, client.HasLabels{v1alpha1.LabelRole}); err != nil {
		return nil, err
	}
	if len(nodes.Items) == 0 {
		return nil, fmt.Errorf("no node has the label %s", v1alpha1.LabelRole)
	}
	name := nodes.Items[chance.IntN(len(nodes.Items))].Name
	set := func(ctx context.Context, unschedulable bool) error {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
		return loadstone.Client.Patch(ctx, n, client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"spec":{"unschedulable":%v}}`, unschedulable)))
	}
	return func(ctx context.Context) error { return set(ctx, false) }, set(ctx, true)
}

// quota leaves no room for pods in the namespace of the runs for a while.
func quota(ctx context.Context) (func(context.Context) error, error) {
	q := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "none", Namespace: namespace}, Spec: corev1.ResourceQuotaSpec{
		Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")},
	}}
	return func(ctx context.Context) error { return loadstone.Client.Delete(ctx, q) }, loadstone.Client.Create(ctx, q)
}

// counted prints what was counted by name.
func counted(all map[string]int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		parts = append(parts, fmt.Sprintf("%d × %s", all[name], name))
	}
	return strings.Join(parts, ", ")
}
