package bench

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/remotecommand"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/render"
	"loadstone.dev/loadstone/hack/figures"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/client/kube"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/trial/kind/sweep"
)

const (
	namespace = "default"
	system    = "loadstone-system"
	// workflowLabel is Argo's, on its agent pods.
	workflowLabel = "workflows.argoproj.io/workflow"
	// patience limits each wait for pods, the operator and other users' runs; longestRun limits a run.
	patience, longestRun = 5 * time.Minute, 45 * time.Minute
	lookEvery            = 100 * time.Millisecond
)

// onCluster is a measurement on the cluster of the current kubeconfig.
type onCluster struct {
	measurement
	client.Client
	config *rest.Config
	store  *artifact.Store
}

func beginOnCluster(b *testing.B) onCluster {
	b.Helper()
	m := onCluster{measurement: begin(b)}
	m.must(v1alpha1.AddToScheme(scheme.Scheme))
	var err error
	m.config, err = clientcmd.NewNonInteractiveDeferredLoadingClientConfig(clientcmd.NewDefaultClientConfigLoadingRules(), nil).ClientConfig()
	m.must(err)
	m.config.QPS = -1 // The client must not limit requests itself.
	m.Client, err = client.New(m.config, client.Options{Scheme: scheme.Scheme})
	m.must(err)
	in, err := kube.Find(b.Context(), system)
	m.must(err)
	b.Cleanup(in.Close)
	m.store = in.Store
	return m
}

// await polls until a condition holds, also after the benchmark has ended.
func (m onCluster) await(limit time.Duration, what string, so func(context.Context) (bool, error)) {
	m.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(m.Context()), limit)
	defer cancel()
	for {
		yes, err := so(ctx)
		if yes && err == nil {
			return
		}
		if err != nil {
			m.Fatalf("waiting for %s: %v", what, err)
		}
		select {
		case <-ctx.Done():
			m.Fatalf("waiting for %s: not within %s", what, limit)
		case <-time.After(lookEvery):
		}
	}
}

func (m onCluster) awaitFree() {
	m.Helper()
	m.await(patience, "the end of others' runs", func(ctx context.Context) (bool, error) {
		var runs v1alpha1.BenchmarkRunList
		var pods corev1.PodList
		err := errors.Join(m.List(ctx, &runs), m.List(ctx, &pods, client.HasLabels{v1alpha1.LabelTrial}))
		under := slices.ContainsFunc(runs.Items, func(r v1alpha1.BenchmarkRun) bool { return r.Status.CompletionTime == nil })
		return !under && len(pods.Items) == 0, err
	})
}

// remove deletes a run and waits until all its pods are gone. Artifacts stay under bench/.
func (m onCluster) remove(run *v1alpha1.BenchmarkRun) {
	m.Helper()
	m.must(client.IgnoreNotFound(m.Delete(context.WithoutCancel(m.Context()), run)))
	m.await(patience, "the end of all pods of "+run.Name, func(ctx context.Context) (bool, error) {
		var pods, agents corev1.PodList
		err := errors.Join(
			m.List(ctx, &pods, client.MatchingLabels{v1alpha1.LabelRunUID: string(run.UID)}),
			m.List(ctx, &agents, client.InNamespace(system), client.MatchingLabels{workflowLabel: render.WorkflowName(run.Name, string(run.UID), plan.Part{})}),
		)
		still := m.Get(ctx, client.ObjectKeyFromObject(run), &v1alpha1.BenchmarkRun{})
		return still != nil && len(pods.Items)+len(agents.Items) == 0, errors.Join(err, client.IgnoreNotFound(still))
	})
}

// performance is one run, from just before its creation until its observed completion.
type performance struct {
	plan           plan.Plan
	applied, ended time.Time
	data           record.RunData
	table          analysis.Table
	// loads are those of the trials in the order of execution.
	loads [][]cellLoad
}

// perform creates a run, calls meanwhile, waits for the end, reads the record, and removes the run. It also reports how many cells are credible and
// how punctual their loads were.
func (m onCluster) perform(run *v1alpha1.BenchmarkRun, meanwhile func(plan.Plan)) (p performance) {
	m.Helper()
	m.awaitFree()
	p.applied = time.Now()
	m.must(m.Create(m.Context(), run))
	defer m.remove(run)
	var err error
	p.plan, err = plan.Compile(run.Spec, plan.Options{Name: run.Name, UID: string(run.UID)})
	m.must(err)
	if meanwhile != nil {
		meanwhile(p.plan)
	}
	m.await(longestRun, "the end of "+run.Name, func(ctx context.Context) (bool, error) {
		return run.Status.CompletionTime != nil, m.Get(ctx, client.ObjectKeyFromObject(run), run)
	})
	p.ended = time.Now()
	if !meta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionSucceeded) {
		m.Fatalf("%s has not succeeded: %+v", run.Name, run.Status.Conditions)
	}
	p.data, err = m.store.Load(m.Context(), artifact.RunPrefix(run.Spec.Artifacts.Prefix, record.Run{Namespace: run.Namespace, Name: run.Name, UID: string(run.UID)}), "")
	m.must(err)
	p.table, err = analysis.Analyse(p.data)
	m.must(err)
	for _, t := range p.data.Trials {
		loads, err := trialLoads(t)
		m.must(err)
		p.loads = append(p.loads, loads)
	}
	m.report(p.believed(run.Name)...)
	return p
}

func (p performance) believed(name string) []figures.Figure {
	var late []time.Duration
	var good, all int
	reasons := map[validity.Code]int{}
	for _, l := range slices.Concat(p.loads...) {
		late = append(late, l.late)
	}
	for _, g := range p.table.Groups {
		good, all = good+g.Valid+g.Suspect, all+g.Valid+g.Suspect+g.Void+g.Missing
		for _, c := range g.Cells {
			for _, r := range c.Reasons {
				reasons[r.Code]++
			}
		}
	}
	if len(late) == 0 {
		return nil
	}
	return []figures.Figure{
		figures.Of("cells-not-void-"+name, 100*float64(good)/float64(all), "%", figures.AtLeast(100), fmt.Sprintf("n=%d, reasons %v", all, reasons)),
		figures.Of("start-lateness-"+name, slices.Max(late).Seconds(), "s", figures.AtMost(0.1), fmt.Sprintf("largest; median %.4f s, n=%d", figures.Median(late).Seconds(), len(late))),
	}
}

func implementation(name string) v1alpha1.Implementation {
	registry, tag := cmp.Or(os.Getenv("REGISTRY"), "localhost/loadstone"), cmp.Or(os.Getenv("TAG"), "dev")
	return v1alpha1.Implementation{
		Name: name, Image: registry + "/" + name + ":" + tag, Command: []string{"/usr/local/bin/" + name, "--port=8080"}, Port: 8080,
	}
}

func benchmarkRun(name string, warmup, duration, blocks int32, levels []int32, implementations ...string) *v1alpha1.BenchmarkRun {
	body := "helloworld"
	load := v1alpha1.Load{
		Name: "sweep", Tool: v1alpha1.ToolWrk, WarmupSeconds: &warmup, DurationSeconds: duration,
		Request: v1alpha1.Request{Expect: v1alpha1.Expect{Body: &body}},
	}
	for _, l := range levels {
		load.Levels = append(load.Levels, v1alpha1.Level{Connections: l})
	}
	run := &v1alpha1.BenchmarkRun{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
		Spec: v1alpha1.BenchmarkRunSpec{
			Loads: []v1alpha1.Load{load}, Blocks: blocks, Baseline: implementations[0], Artifacts: v1alpha1.Artifacts{Prefix: "bench"},
		},
	}
	for _, i := range implementations {
		run.Spec.Implementations = append(run.Spec.Implementations, implementation(i))
	}
	return run
}

// BenchmarkClusterStart measures the time from creation to first request.
func BenchmarkClusterStart(b *testing.B) {
	m := beginOnCluster(b)
	times := m.starts()
	m.report(figures.Of("time-to-first-request", figures.Median(times).Seconds(), "s", figures.AtMost(4), "median, "+figures.Spread(times)))
}

func (m onCluster) starts() (times []time.Duration) {
	m.Helper()
	for i := range sized(5, 2) {
		p := m.perform(benchmarkRun(fmt.Sprintf("bench-start-%d", i), 0, 1, 1, []int32{10}, "gohttp"), nil)
		times = append(times, p.loads[0][0].from.Sub(p.applied))
	}
	return times
}

// BenchmarkClusterSweep measures the time without load in a run of several trials.
func BenchmarkClusterSweep(b *testing.B) {
	m, levels := beginOnCluster(b), []int32{10, 50, 100, 500}
	p := m.perform(benchmarkRun("bench-sweep", sized[int32](2, 1), sized[int32](10, 1), sized[int32](3, 2), levels, "gohttp", "epoll"), nil)
	var perTrial, perCell []time.Duration
	var load time.Duration
	for i, l := range p.loads {
		for j, c := range l {
			load += c.load()
			if j > 0 {
				perCell = append(perCell, c.from.Sub(l[j-1].to)+c.gap)
			}
		}
		if i > 0 {
			before := p.loads[i-1]
			perTrial = append(perTrial, l[0].from.Sub(before[len(before)-1].to))
		}
	}
	took := p.ended.Sub(p.applied)
	m.report(
		figures.Of("dead-time-per-trial", figures.Median(perTrial).Seconds(), "s", figures.AtMost(4), "median, "+figures.Spread(perTrial)),
		figures.Of("dead-time-between-cells", figures.Median(perCell).Seconds(), "s", figures.AtMost(0.3), "median, "+figures.Spread(perCell)),
		figures.Of("share-under-load", 100*float64(load)/float64(took), "%", figures.AtLeast(90), fmt.Sprintf("from creation to completion, %.1f s", took.Seconds())),
	)
}

// BenchmarkClusterPairs compares the throughput through Loadstone with wrk by hand in the same pods. A pending pod that counts as measured holds each
// trial when its pods exist, because the operator starts no load while another measured pod exists. Meanwhile, wrk runs in the generator pod. Then
// the trial continues. Process, CPUs and time are the same, so the rest is Loadstone's effect.
func BenchmarkClusterPairs(b *testing.B) {
	m := beginOnCluster(b)
	warmup, seconds := sized[int32](2, 1), sized[int32](5, 1)
	byHand := map[string]float64{}
	p := m.perform(benchmarkRun("bench-pairs", warmup, seconds, sized[int32](20, 3), []int32{100}, "gohttp"), func(p plan.Plan) {
		for _, line := range p.Trials {
			byHand[line.Name] = m.whileHeld(line.Name, warmup, seconds)
		}
	})
	var ratios []float64
	for _, t := range p.data.Trials {
		if rate, ok := byHand[t.Manifest.Name]; ok {
			ratios = append(ratios, throughput(t.Generators[0].Cells[0].Measurement)/rate)
		}
	}
	of, err := figures.Geometric(ratios)
	m.must(err)
	m.report(figures.Of("throughput-against-wrk-by-hand", of.Mean, "ratio", figures.AtLeast(0.98), fmt.Sprintf("geometric mean of %d pairs, %s", len(ratios), of)))
}

// whileHeld runs wrk twice in the pods of a held trial, first to warm up.
func (m onCluster) whileHeld(trial string, warmup, seconds int32) (rate float64) {
	m.Helper()
	const settle = 500 * time.Millisecond // Servers listen by then.
	var server, generator corev1.Pod
	pods := map[string]*corev1.Pod{render.PodName(trial, 1, record.MemberServer(0)): &server, render.PodName(trial, 1, record.MemberGenerator(0)): &generator}
	awaitPods := func(what string, so func(*corev1.Pod) bool) {
		m.await(longestRun, what, func(ctx context.Context) (yes bool, err error) {
			yes = true
			for name, pod := range pods {
				err = errors.Join(err, client.IgnoreNotFound(m.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, pod)))
				yes = yes && so(pod)
			}
			return yes, err
		})
	}
	awaitPods("the pods of "+trial, func(p *corev1.Pod) bool { return p.UID != "" })
	hold := holdingPod(trial)
	m.must(m.Create(m.Context(), hold))
	defer func() {
		m.must(client.IgnoreNotFound(m.Delete(context.WithoutCancel(m.Context()), hold, client.GracePeriodSeconds(0))))
	}()
	awaitPods("the containers of "+trial, func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
	time.Sleep(settle)
	for _, d := range []int32{warmup, seconds} {
		out := m.exec(&generator, "wrk", "-t1", "-c100", fmt.Sprintf("-d%ds", d), "--latency", "http://"+server.Status.PodIP+":8080/")
		var err error
		rate, err = printedRate(out)
		m.must(err)
	}
	var t v1alpha1.Trial
	m.must(m.Get(m.Context(), client.ObjectKey{Namespace: namespace, Name: trial}, &t))
	if t.Status.StartTime != nil {
		m.Fatalf("%s did not wait: both have measured at once", trial)
	}
	return rate
}

// holdingPod looks like another user's measured pod to the operator, but stays pending.
func holdingPod(trial string) *corev1.Pod {
	yes, no := true, false
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: trial + "-hold", Namespace: namespace, Labels: map[string]string{
			v1alpha1.LabelTrial: trial + "-hold", v1alpha1.LabelRunUID: "bench-hold",
		}},
		Spec: corev1.PodSpec{
			SchedulingGates: []corev1.PodSchedulingGate{{Name: "loadstone.dev/bench"}},
			SecurityContext: &corev1.PodSecurityContext{RunAsNonRoot: &yes, SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}},
			Containers: []corev1.Container{{
				Name: "hold", Image: implementation("gohttp").Image,
				SecurityContext: &corev1.SecurityContext{AllowPrivilegeEscalation: &no, Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}},
			}},
		},
	}
}

// exec runs a command in a generator's pod and returns its output.
func (m onCluster) exec(pod *corev1.Pod, args ...string) string {
	m.Helper()
	host, _, err := rest.DefaultServerUrlFor(m.config)
	m.must(err)
	address := host.JoinPath("api/v1/namespaces", pod.Namespace, "pods", pod.Name, "exec")
	address.RawQuery = url.Values{"container": {sweep.ProcessGenerator}, "command": args, "stdout": {"true"}, "stderr": {"true"}}.Encode()
	e, err := remotecommand.NewSPDYExecutor(m.config, http.MethodPost, address)
	m.must(err)
	var out, stderr bytes.Buffer
	if err := e.StreamWithContext(m.Context(), remotecommand.StreamOptions{Stdout: &out, Stderr: &stderr}); err != nil {
		m.Fatalf("executing %s in pod %s: %v: %s", args[0], pod.Name, err, stderr.String())
	}
	return out.String()
}

// BenchmarkClusterGenerators measures how far apart several generators start, by their first connections, and the CPU use of agents. The generators
// share CPUs, because few machines have one for each.
func BenchmarkClusterGenerators(b *testing.B) {
	m := beginOnCluster(b)
	run := benchmarkRun("bench-generators", 1, 1, sized[int32](3, 2), []int32{8, 40, 80, 120}, "gohttp")
	run.Spec.Loads[0].Generators.Pods = 4
	run.Spec.Placement.GeneratorPinning = v1alpha1.Preferred
	p := m.perform(run, nil)
	var skews []time.Duration
	var agents, observers []float64
	onServer := 0
	for _, g := range p.table.Groups {
		for _, c := range g.Cells {
			if micros, ok := c.Observations[measured.StartSkew]; ok {
				skews = append(skews, time.Duration(micros*float64(time.Microsecond)))
			}
			if share, ok := c.Observations[measured.AgentShare]; ok {
				agents = append(agents, 100*share)
			}
			if slices.ContainsFunc(c.Reasons, func(r validity.Reason) bool { return r.Code == validity.ObserverOnServer }) {
				onServer++
			}
		}
	}
	for _, t := range p.data.Trials {
		for _, c := range t.Servers[0].Cells {
			observers = append(observers, 100*float64(c.ObserverCPUNanos)/float64(c.Ended.Sub(c.Started)))
		}
	}
	if len(skews) == 0 || len(agents) == 0 || len(observers) == 0 {
		m.Fatalf("%d starts, %d agents and %d observers were seen", len(skews), len(agents), len(observers))
	}
	n := fmt.Sprintf("4 pods, n=%d cells", len(skews))
	m.report(
		figures.Of("start-skew-median", 1e3*figures.Median(skews).Seconds(), "ms", figures.AtMost(2), n+", "+figures.Spread(skews)),
		figures.Of("start-skew-worst", 1e3*slices.Max(skews).Seconds(), "ms", figures.AtMost(10), n),
		figures.Of("agent-of-generator", slices.Max(agents), "% of a CPU", figures.AtMost(1), fmt.Sprintf("the busiest agent of each cell, largest of n=%d", len(agents))),
		figures.Of("observer", slices.Max(observers), "% of a CPU", figures.AtMost(1), fmt.Sprintf("largest of n=%d cells", len(observers))),
		figures.Of("cells-with-observer-on-server", float64(onServer), "cells", figures.AtMost(0), fmt.Sprintf("n=%d", len(observers))),
	)
}

// BenchmarkClusterProfiles measures how repeatable counts are, and what profiling costs in addition to the profilers.
func BenchmarkClusterProfiles(b *testing.B) {
	m := beginOnCluster(b)
	run := benchmarkRun("bench-profiles", 0, 1, 1, []int32{1}, "epoll", "gohttp", "uvhttp")
	requests := sized[int32](20_000, 500)
	run.Spec.Loads[0].Request.Expect.Body = nil
	run.Spec.Profiles = []v1alpha1.Profile{
		{Name: "instructions", Tool: v1alpha1.ToolCallgrind, Requests: requests, Repeats: 3},
		{Name: "memory", Tool: v1alpha1.ToolMemcheck, Requests: requests, Implementations: []string{"epoll"}},
	}
	p := m.perform(run, nil)
	for _, profile := range p.table.Profiles {
		for _, f := range profile.Found {
			switch c := f.PerRequest; {
			case profile.Name == "memory":
				m.report(figures.Of("first-answer-under-memcheck", float64(f.FirstAnswerMillis)/1000, "s", figures.AtMost(20), "of a static server in an image of nothing else"))
			case c == nil:
				m.Fatalf("the instructions of a request of %s are unknown: %+v", f.Implementation, f)
			default:
				m.report(figures.Of("instructions-spread-"+f.Implementation, 100*c.Spread(), "%", figures.AtMost(1),
					fmt.Sprintf("n=%d by %s, %.1f to %.1f instructions a request", c.N, f.Tool, c.Min, c.Max)))
			}
		}
	}
	beside := besideProfilers(p.data.Following)
	m.report(figures.Of("profile-beside-its-tool", figures.Median(beside).Seconds(), "s", figures.AtMost(5), "median, "+figures.Spread(beside)))
	cache := cmp.Or(os.Getenv("LOADSTONE_CACHE"), filepath.Join(os.Getenv("HOME"), ".cache", "loadstone"))
	toolbox, err := os.Stat(filepath.Join(cache, "images", "toolbox.tar"))
	m.must(err)
	m.report(figures.Of("toolbox-image", float64(toolbox.Size())/1e6, "MB", figures.AtMost(40), "toolbox, the archive"))
}

// besideProfilers is the time of each trial, up to the next one's first launch, minus its own launches.
func besideProfilers(trials []record.TrialData) (list []time.Duration) {
	for i := 1; i < len(trials); i++ {
		own, next := trials[i-1].Servers[0].Profiled.Launches, trials[i].Servers[0].Profiled.Launches
		if len(own) == 0 || len(next) == 0 {
			continue
		}
		beside := next[0].Started.Sub(own[0].Started)
		for _, l := range own {
			beside -= l.Ended.Sub(l.Started)
		}
		list = append(list, beside)
	}
	return list
}

// BenchmarkClusterDependency measures how a database changes a server that does not use it.
func BenchmarkClusterDependency(b *testing.B) {
	m := beginOnCluster(b)
	run := benchmarkRun("bench-dependency", sized[int32](2, 1), sized[int32](5, 1), sized[int32](20, 2), []int32{100}, "epoll", "epoll")
	run.Spec.Implementations[0].Name, run.Spec.Implementations[1].Name, run.Spec.Baseline = "alone", "beside", "alone"
	user, cpu, memory := int64(1000), resource.MustParse("300m"), resource.MustParse("128Mi")
	run.Spec.Implementations[1].Dependencies = []v1alpha1.Dependency{
		{Name: "redis", Image: implementation("redis").Image, Port: 6379, ContainerSettings: v1alpha1.ContainerSettings{User: &user, Group: &user}, CPU: &cpu, Memory: &memory},
	}
	p := m.perform(run, nil)
	at := record.PointOf(p.plan.Cells[0])
	costs := func(implementation string) map[int32]float64 {
		byBlock := map[int32]float64{}
		for _, c := range p.table.Group(at, implementation).Cells {
			if c.Validity != validity.Void && c.CPUPerRequest != nil {
				byBlock[c.Block] = *c.CPUPerRequest
			}
		}
		return byBlock
	}
	var ratios []float64
	alone := costs("alone")
	for block, cost := range costs("beside") {
		if to, ok := alone[block]; ok {
			ratios = append(ratios, cost/to)
		}
	}
	of, err := figures.Geometric(ratios)
	m.must(err)
	m.report(figures.Figure{
		Name: "cpu-beside-a-dependency", Value: of.Mean, Interval: of, Unit: "ratio", Aim: figures.Around(1),
		Note: fmt.Sprintf("CPU time per request of epoll beside a redis that it does not use, to epoll alone; n=%d blocks; %s", len(ratios), of),
	})
}

// BenchmarkClusterChart measures the duration of helm test, up to a verdict.
func BenchmarkClusterChart(b *testing.B) {
	m := beginOnCluster(b)
	var took []time.Duration
	for range sized(3, 1) {
		m.awaitFree()
		began := time.Now()
		if out, err := exec.CommandContext(b.Context(), "helm", "test", "loadstone", "--namespace", system, "--timeout", "10m").CombinedOutput(); err != nil {
			m.Fatalf("helm test: %v: %s", err, out)
		}
		took = append(took, time.Since(began))
	}
	m.report(figures.Of("helm-test", figures.Median(took).Seconds(), "s", figures.AtMost(90), "from the command to the verdict; "+figures.Spread(took)))
}

// BenchmarkClusterMemory measures an idle operator by VmRSS, which includes the pages of its program.
func BenchmarkClusterMemory(b *testing.B) {
	m := beginOnCluster(b)
	m.awaitFree()
	pod := m.operator()
	time.Sleep(sized(30*time.Second, 2*time.Second))
	var largest int64
	for range 5 {
		largest = max(largest, residentBytes("/proc", &pod))
		time.Sleep(2 * time.Second)
	}
	if largest == 0 {
		m.Fatal("no process of the operator can be seen on this machine")
	}
	m.report(figures.Of("operator-idle-memory", float64(largest)/1e6, "MB", figures.AtMost(60), "VmRSS, largest of 5 over 10 s"))
}

// operatorLabels are those of the operator's pods.
var operatorLabels = client.MatchingLabels{"app.kubernetes.io/name": "loadstone", "app.kubernetes.io/component": "operator"}

func (m onCluster) operator() corev1.Pod {
	m.Helper()
	var pods corev1.PodList
	m.must(m.List(m.Context(), &pods, client.InNamespace(system), operatorLabels))
	i := slices.IndexFunc(pods.Items, func(p corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning && p.DeletionTimestamp == nil })
	if i < 0 {
		m.Fatal("no operator runs")
	}
	return pods.Items[i]
}

// processes returns the /proc folders of a container's processes. It finds them by the container's ID in their cgroup.
func processes(proc string, pod *corev1.Pod) (folders []string) {
	_, id, _ := strings.Cut(pod.Status.ContainerStatuses[0].ContainerID, "://")
	groups, err := filepath.Glob(filepath.Join(proc, "[0-9]*", "cgroup"))
	if err != nil || id == "" {
		return nil
	}
	for _, g := range groups {
		if text, err := os.ReadFile(g); err == nil && strings.Contains(string(text), id) {
			folders = append(folders, filepath.Dir(g))
		}
	}
	return folders
}

func residentBytes(proc string, pod *corev1.Pod) (sum int64) {
	for _, folder := range processes(proc, pod) {
		status, err := os.ReadFile(filepath.Join(folder, "status"))
		if err != nil {
			continue // It has ended meanwhile.
		}
		_, rest, _ := strings.Cut(string(status), "VmRSS:")
		kilobytes, _, _ := strings.Cut(rest, "kB")
		sum += 1024 * number(kilobytes)
	}
	return sum
}
