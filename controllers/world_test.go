package controllers

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"net/http"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/selection"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/argo"
	"loadstone.dev/loadstone/controllers/index"
	"loadstone.dev/loadstone/controllers/render"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/cluster/namespaces"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/testbed"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

// lookEvery is the polling interval of tests, kubelets and Argo.
const lookEvery = testbed.LookEvery

// world is a cluster with an operator. API server, object store, reconcilers and endpoint are real, and the operator has
// the chart's rights. Kubelets, agents and Argo are fakes.
type world struct {
	t      *testing.T
	c      client.WithWatch
	config *rest.Config
	scheme *runtime.Scheme
	// operator is what the chart installs for the operator.
	operator *testbed.Installation
	// namespace is where runs are, system the operator's own.
	namespace, system string
	clock             *clock
	agents            *fakeAgents
	kubelet           *kubelet
	argo              *fakeArgo
	store             artifact.Config
	key               ed25519.PrivateKey
	addr              string
	stop              func()
	// values are those of the chart that are not its defaults.
	values []string
	// pods are the chart's settings of measured pods.
	pods v1alpha1.PodSettings
	// elects: the test starts operators in leader election; elected is the one started by elect, or nil.
	elects  bool
	elected *candidate
	// lease is that of the next one.
	lease time.Duration
	// reaper ends operators at their writes; nil lets them live.
	reaper *reaper
	// between stands between operators and the API server; nil if nothing does.
	between func(http.RoundTripper) http.RoundTripper
}

var (
	worlds  atomic.Int32
	prepare sync.Once
)

func newWorld(t *testing.T, deltas ...func(*world)) *world {
	t.Helper()
	w := &world{t: t, config: testbed.Cluster(t, ".."), scheme: runtime.NewScheme(), clock: &clock{}, stop: func() {}}
	w.config.QPS, w.config.Burst = 1000, 1000
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		w.must(add(w.scheme))
	}
	var err error
	w.c, err = client.NewWithWatch(w.config, client.Options{Scheme: w.scheme})
	w.must(err)
	prepare.Do(func() {
		_, err := envtest.InstallCRDs(w.config, envtest.CRDInstallOptions{CRDs: []*apiextensionsv1.CustomResourceDefinition{workflowCRD()}, MaxTime: testbed.Patience})
		w.must(err)
		makeNodes(t, w.c)
		admitPlanted(t, w)
	})
	n := worlds.Add(1)
	w.namespace, w.system = fmt.Sprintf("bench-%d", n), fmt.Sprintf("system-%d", n)
	w.must(w.c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}))
	storedAt(testbed.Store(t))(w)
	w.addr, err = testbed.FreeAddress()
	w.must(err)
	w.agents = &fakeAgents{clock: w.clock, byIP: map[string]*fakeAgent{}}
	w.kubelet = &kubelet{c: w.c, namespace: w.namespace, agents: w.agents, clock: w.clock, seen: map[string]bool{}, gone: map[string]bool{}}
	w.argo = &fakeArgo{c: w.c, namespace: w.system}
	for _, d := range deltas {
		d(w)
	}
	w.install()
	w.play()
	if !w.elects {
		w.startManager()
	}
	t.Cleanup(w.end)
	return w
}

// storedAt gives a world a bucket of an object store.
func storedAt(at testbed.ObjectStore) func(*world) {
	return func(w *world) {
		w.store = artifact.Config{Endpoint: at.Endpoint, Bucket: at.NewBucket(w.t), Region: "us-east-1", AccessKey: at.AccessKey, SecretKey: at.SecretKey}
	}
}

// install gives the operator what the chart gives it, and nothing more.
func (w *world) install() {
	w.t.Helper()
	w.operator = testbed.Install(w.t, w.config, "..", w.system, w.values...)
	c, err := client.New(w.operator.Config, client.Options{Scheme: w.scheme})
	w.must(err)
	w.key, err = argo.SigningKey(w.t.Context(), c, w.system)
	w.must(err)
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// play lets the kubelet and Argo do their part until the test ends, and reads every status that the operator writes.
func (w *world) play() {
	ctx, cancel := context.WithCancel(context.Background())
	var parts sync.WaitGroup
	parts.Go(func() { w.kubelet.run(ctx) })
	parts.Go(func() { w.argo.run(ctx) })
	for _, list := range []client.ObjectList{&v1alpha1.BenchmarkRunList{}, &v1alpha1.TrialList{}} {
		seen, err := w.c.Watch(ctx, list, client.InNamespace(w.namespace))
		w.must(err)
		parts.Go(func() { w.lintEvery(ctx, seen) })
	}
	w.t.Cleanup(func() {
		cancel()
		parts.Wait()
	})
}

// end deletes the runs of the test and sees that nothing is left of them.
func (w *world) end() {
	defer func() { w.stop() }()
	ctx, cancel := context.WithTimeout(context.Background(), testbed.Patience)
	defer cancel()
	if err := w.c.DeleteAllOf(ctx, &v1alpha1.BenchmarkRun{}, client.InNamespace(w.namespace)); err != nil {
		w.t.Error(err)
	}
	left := "?"
	for left != "" && ctx.Err() == nil {
		w.keep()
		time.Sleep(lookEvery)
		left = w.left(ctx)
	}
	if left != "" {
		w.t.Errorf("after the run was deleted there is still %s", left)
	}
}

// left names the remaining objects of a run.
func (w *world) left(ctx context.Context) string {
	var names []string
	workflows := &unstructured.UnstructuredList{}
	workflows.SetGroupVersionKind(render.WorkflowKind)
	var tokens corev1.Secret
	if err := w.c.Get(ctx, client.ObjectKey{Namespace: w.system, Name: render.TokensSecret}, &tokens); err != nil {
		return err.Error()
	}
	for name := range tokens.Data {
		names = append(names, "token "+name)
	}
	for _, list := range []client.ObjectList{&v1alpha1.BenchmarkRunList{}, &v1alpha1.TrialList{}, &corev1.PodList{}, &networkingv1.NetworkPolicyList{}, workflows} {
		for _, namespace := range []string{w.namespace, w.system} {
			if err := w.c.List(ctx, list, client.InNamespace(namespace)); err != nil {
				return err.Error()
			}
			err := meta.EachListItem(list, func(o runtime.Object) error {
				m, err := meta.Accessor(o)
				if err == nil {
					names = append(names, fmt.Sprintf("%T %s", list, m.GetName()))
				}
				return err
			})
			if err != nil {
				return err.Error()
			}
		}
	}
	return strings.Join(names, ", ")
}

// startManager starts an operator as cmd/manager does, but for leader election. Its stop ends it as SIGTERM would.
func (w *world) startManager() {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	m := w.newManager(w.reach())
	store, err := artifact.Open(w.store)
	w.must(err)
	w.register(ctx, m, w.reaper.seize(life{client: m.GetClient(), store: store, agents: w.agents}), w.addr)
	ended := make(chan error, 1)
	go func() { ended <- m.Start(ctx) }()
	w.stop = sync.OnceFunc(func() {
		cancel()
		// What keeps an operator from ending is hard to find afterwards.
		dump := time.AfterFunc(time.Minute, func() {
			var all strings.Builder
			err := pprof.Lookup("goroutine").WriteTo(&all, 1)
			w.t.Logf("the operator has not ended after a minute, %v: %s", err, all.String())
		})
		defer dump.Stop()
		if err := <-ended; err != nil {
			w.t.Errorf("the operator ended: %v", err)
		}
	})
}

// reach is how an operator reaches the API server.
func (w *world) reach() *rest.Config {
	c := rest.CopyConfig(w.operator.Config)
	if w.between != nil {
		c.Wrap(w.between)
	}
	return c
}

// elect starts an operator that stands for election. Its stop ends it as SIGTERM would.
func (w *world) elect() {
	w.t.Helper()
	if w.lease == 0 {
		w.lease = electionLease
	}
	c := newCandidate(w, w.addr, w.lease, &leaderEnds{by: map[*candidate]bool{}}, nil)
	w.elected = c
	w.stop = sync.OnceFunc(func() {
		w.elected = nil
		c.cancel()
		if err := <-c.ended; err != nil && !deposed(err) {
			w.t.Errorf("an operator ended: %v", err)
		}
	})
}

// deposed reports whether an operator has ended because it could not renew its lease.
func deposed(err error) bool {
	return err != nil && strings.Contains(err.Error(), "leader election lost")
}

// keep starts another operator after one lost its lease, which a machine that stalls for seconds does not renew. Its Deployment does the same.
// The next lease is longer, so that the slowest machine leads in the end.
func (w *world) keep() {
	w.t.Helper()
	if w.elected == nil {
		return
	}
	select {
	case err := <-w.elected.ended:
		if !deposed(err) {
			w.t.Fatalf("an operator ended: %v", err)
		}
		w.lease *= 2 // The machine is too slow for this one.
		w.elect()
	default:
	}
}

// register gives a manager the endpoint, at an address, and the reconcilers of an operator with its ways to the world.
func (w *world) register(ctx context.Context, m ctrl.Manager, operator life, addr string) {
	w.t.Helper()
	endpoint := &argo.Endpoint{Client: operator.client, Key: w.key, Addr: addr}
	w.must(endpoint.SetupWithManager(ctx, m))
	w.must(index.Index(ctx, m.GetFieldIndexer()))
	live := w.led().Reader(m.GetAPIReader())
	trials := &TrialReconciler{
		Client: operator.client, Live: live, Store: operator.store, Agents: operator.agents, Key: w.key, AgentImage: "agent:1", Pods: w.pods, Version: "test", Now: w.now,
	}
	w.must(trials.SetupWithManager(m))
	runs := &BenchmarkRunReconciler{
		Client: operator.client, Live: live, Store: operator.store, Recorder: m.GetEventRecorder("loadstone"), Key: w.key,
		Namespace: w.system, Service: "http://" + w.addr, WorkflowServiceAccount: "workflow", Network: &networkingv1.NetworkPolicySpec{}, Pods: w.pods, Absence: operator.absence,
		Version: "test", Now: w.clock.Now,
	}
	w.must(runs.SetupWithManager(m))
}

// now is the time of trials. It stands still from the earliest choice of a start until all agents got it: a busy machine would exceed the operator's
// quarter of a second.
func (w *world) now() time.Time {
	for _, name := range w.agents.due() {
		t := w.trial(name)
		if err := w.c.Get(context.Background(), client.ObjectKeyFromObject(t), t); err == nil && t.Spec.Start == v1alpha1.StartReleased {
			w.agents.stall(name)
		}
	}
	return w.clock.Now()
}

func (w *world) led() namespaces.Led { return namespaces.Led{w.namespace, w.system} }

// newManager makes a manager that reaches the cluster as a configuration says, with changes.
func (w *world) newManager(reach *rest.Config, deltas ...func(*ctrl.Options)) ctrl.Manager {
	w.t.Helper()
	has := func(label string) labels.Selector {
		r, err := labels.NewRequirement(label, selection.Exists, nil)
		w.must(err)
		return labels.NewSelector().Add(*r)
	}
	workflow := &unstructured.Unstructured{}
	workflow.SetGroupVersionKind(render.WorkflowKind)
	again := true
	options := ctrl.Options{
		Scheme: w.scheme, Metrics: metricsserver.Options{BindAddress: "0"},
		// A reconcile on a busy machine may need more than the default of 30 seconds to end.
		GracefulShutdownTimeout: new(testbed.Patience),
		Controller:              config.Controller{SkipNameValidation: &again},
		Client:                  client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}}, Unstructured: true}},
		Cache: cache.Options{
			DefaultNamespaces: w.led().Cache(),
			ByObject: map[client.Object]cache.ByObject{
				&corev1.Pod{}: {Label: has(v1alpha1.LabelTrial)},
				workflow:      {Label: has(v1alpha1.LabelRunUID), Namespaces: map[string]cache.Config{w.system: {}}},
			},
		},
	}
	for _, d := range deltas {
		d(&options)
	}
	m, err := ctrl.NewManager(reach, options)
	w.must(err)
	return m
}

// apply creates a run of a good implementation, one block and one short level, with changes.
func (w *world) apply(name string, deltas ...func(*v1alpha1.BenchmarkRunSpec)) *v1alpha1.BenchmarkRun {
	w.t.Helper()
	run := w.drafted(name, deltas...)
	w.must(w.c.Create(w.t.Context(), run))
	return run
}

func (w *world) drafted(name string, deltas ...func(*v1alpha1.BenchmarkRunSpec)) *v1alpha1.BenchmarkRun {
	run := &v1alpha1.BenchmarkRun{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: w.namespace},
		Spec: v1alpha1.BenchmarkRunSpec{
			Implementations: []v1alpha1.Implementation{{Name: "go", Image: "go:1", Port: 8080}},
			Loads: []v1alpha1.Load{{
				Name: "sweep", Tool: v1alpha1.ToolWrk, Levels: []v1alpha1.Level{{Connections: 10}}, WarmupSeconds: new(int32), DurationSeconds: 1,
			}},
			Blocks: 1,
		},
	}
	for _, d := range deltas {
		d(&run.Spec)
	}
	return run
}

func with(baseline string, list ...v1alpha1.Implementation) func(*v1alpha1.BenchmarkRunSpec) {
	return func(s *v1alpha1.BenchmarkRunSpec) {
		s.Baseline = baseline
		for i := range list {
			list[i].Port = 8080
		}
		s.Implementations = append(s.Implementations, list...)
	}
}

// await reads an object again and again until it is as wanted.
func await[T client.Object](w *world, o T, what string, wanted func(T) bool) T {
	w.t.Helper()
	w.within(o.GetName()+": "+what, func() bool {
		err := w.c.Get(w.t.Context(), client.ObjectKeyFromObject(o), o)
		if client.IgnoreNotFound(err) != nil {
			w.t.Fatal(err)
		}
		return err == nil && wanted(o)
	})
	return o
}

func (w *world) within(what string, done func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(testbed.Patience); !done(); time.Sleep(lookEvery) {
		w.keep()
		if time.Now().After(deadline) {
			w.t.Fatalf("waited in vain for %s; there is %s:\n%s", what, w.left(w.t.Context()), w.dump())
		}
	}
}

func (w *world) awaitEnd(run *v1alpha1.BenchmarkRun) *v1alpha1.BenchmarkRun {
	w.t.Helper()
	return await(w, run, "its end", func(r *v1alpha1.BenchmarkRun) bool { return r.Status.CompletionTime != nil })
}

// trial is a trial of a run by its name, which may not be there yet.
func (w *world) trial(name string) *v1alpha1.Trial {
	return &v1alpha1.Trial{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}}
}

func (w *world) awaitMeasuring(name string, attempt int32) *v1alpha1.Trial {
	w.t.Helper()
	return await(w, w.trial(name), "its start", func(t *v1alpha1.Trial) bool { return t.Status.Attempt >= attempt && w.measuring(t) })
}

// measuring reports whether a trial is, or was, under load. Tests that must observe the load make it long.
func (w *world) measuring(t *v1alpha1.Trial) bool {
	if t.Status.StartTime == nil || t.Status.CompletionTime != nil {
		return t.Status.StartTime != nil
	}
	return w.agents.told(t.Name, t.Status.Attempt) && w.begun(t)
}

// begun is true of a trial whose start has come.
func (w *world) begun(t *v1alpha1.Trial) bool {
	return t.Status.StartTime != nil && w.clock.Now().After(t.Status.StartTime.Add(200*time.Millisecond))
}

// long lets every level take an hour, so trials measure until they are ended.
func long(s *v1alpha1.BenchmarkRunSpec) { s.Loads[0].DurationSeconds = 3600 }

// ampleSeconds has room for some requests of a test to the API server, however slow the machine is. It is not more since the API server's clock is not
// put forward: all that it dates would be as much too old.
const ampleSeconds = 120

// ample lets every level take so long that what a test does to a trial that measures comes before its end. The end comes by hasten.
func ample(s *v1alpha1.BenchmarkRunSpec) { s.Loads[0].DurationSeconds = ampleSeconds }

// hasten puts the clock forward to the end of the work of a trial of a run, if one measures.
func (w *world) hasten(run *v1alpha1.BenchmarkRun) {
	w.t.Helper()
	for _, t := range w.trials(run) {
		if t.Status.CompletionTime == nil && w.measuring(&t) {
			w.finish(&t)
		}
	}
}

// finish puts the clock forward to the end of the work of a trial.
func (w *world) finish(t *v1alpha1.Trial) {
	w.t.Helper()
	var run v1alpha1.BenchmarkRun
	w.must(w.c.Get(w.t.Context(), client.ObjectKey{Namespace: t.Namespace, Name: t.Spec.RunName}, &run))
	p, err := facts.Plan(&run)
	w.must(err)
	if left := t.Status.StartTime.Add(timetable.End(facts.Trial(t, p).Work.Slots())).Sub(w.clock.Now()); left > 0 {
		w.clock.Forward(left)
		w.poke(t)
	}
}

// awaitHastened is awaitEnd of a run of ample trials.
func (w *world) awaitHastened(run *v1alpha1.BenchmarkRun) *v1alpha1.BenchmarkRun {
	w.t.Helper()
	return await(w, run, "its end", func(r *v1alpha1.BenchmarkRun) bool {
		w.hasten(r)
		return r.Status.CompletionTime != nil
	})
}

// awaitTrial waits for the end of a trial of such a run.
func (w *world) awaitTrial(run *v1alpha1.BenchmarkRun, trial *v1alpha1.Trial) *v1alpha1.Trial {
	w.t.Helper()
	return await(w, trial, "its end", func(t *v1alpha1.Trial) bool {
		w.hasten(run)
		return t.Status.CompletionTime != nil
	})
}

// awaitFirst waits until the first trial of a run, whichever implementation's it is, is under load.
func (w *world) awaitFirst(run string) *v1alpha1.Trial {
	w.t.Helper()
	var list v1alpha1.TrialList
	isFirst := func(t v1alpha1.Trial) bool { return *t.Spec.Index == 0 }
	w.within("the first trial of "+run, func() bool {
		w.must(w.c.List(w.t.Context(), &list, client.InNamespace(w.namespace), client.MatchingLabels{v1alpha1.LabelRun: run}))
		return slices.ContainsFunc(list.Items, isFirst)
	})
	return w.awaitMeasuring(list.Items[slices.IndexFunc(list.Items, isFirst)].Name, 1)
}

func (w *world) trials(run *v1alpha1.BenchmarkRun) []v1alpha1.Trial {
	w.t.Helper()
	var list v1alpha1.TrialList
	w.must(w.c.List(w.t.Context(), &list, client.InNamespace(w.namespace), client.MatchingLabels{v1alpha1.LabelRunUID: string(run.UID)}))
	return list.Items
}

// poke makes the operator look at an object now and not when its next deadline comes.
func (w *world) poke(o client.Object) {
	w.t.Helper()
	patch := fmt.Appendf(nil, `{"metadata": {"annotations": {"poke": %q}}}`, time.Now())
	w.must(w.c.Patch(w.t.Context(), o, client.RawPatch("application/merge-patch+json", patch)))
}

func (w *world) exists(o client.Object, name string) bool {
	w.t.Helper()
	err := w.c.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, o)
	if err != nil && !apierrors.IsNotFound(err) {
		w.t.Fatal(err)
	}
	return err == nil
}

// dump tells the statuses of all runs and trials of the test.
func (w *world) dump() string {
	var runs v1alpha1.BenchmarkRunList
	var trials v1alpha1.TrialList
	w.must(w.c.List(w.t.Context(), &runs, client.InNamespace(w.namespace)))
	w.must(w.c.List(w.t.Context(), &trials, client.InNamespace(w.namespace)))
	text := ""
	for _, o := range runs.Items {
		text += tell(o.Name, o.Status)
	}
	for _, o := range trials.Items {
		text += tell(o.Name, o.Status)
	}
	return text + "Argo was told:\n" + w.argo.said()
}

func tell(name string, status any) string {
	b, err := json.MarshalIndent(status, "", " ")
	if err != nil {
		return err.Error()
	}
	return name + ": " + string(b) + "\n"
}
