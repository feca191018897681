package main

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"runtime/debug"
	"strings"
	"time"
	_ "time/tzdata" // For schedules: the operator's image has no time zones.

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/selection"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers"
	"loadstone.dev/loadstone/controllers/agents"
	"loadstone.dev/loadstone/controllers/argo"
	"loadstone.dev/loadstone/controllers/index"
	"loadstone.dev/loadstone/controllers/leader"
	"loadstone.dev/loadstone/controllers/notifications"
	"loadstone.dev/loadstone/controllers/outbound"
	"loadstone.dev/loadstone/controllers/render"
	"loadstone.dev/loadstone/controllers/suites"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/cluster/namespaces"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/store/certs"
	"loadstone.dev/loadstone/internal/store/download"
)

// options are the operator's settings; the chart writes them.
type options struct {
	namespace      string
	agentImage     string
	toolboxImage   string
	service        string
	serviceAccount string
	instanceID     string
	listen         string
	handout        string
	probes         string
	metrics        string
	pullSecrets    string
	pods           v1alpha1.PodSettings
	storeSecret    string
	led            namespaces.Led
	network        *networkingv1.NetworkPolicySpec
	outbound       outbound.Allowed
	logs           logs
	store          artifact.Config
}

func parse(args []string) (options, error) {
	var o options
	f := flag.NewFlagSet("manager", flag.ContinueOnError)
	f.StringVar(&o.namespace, "namespace", os.Getenv("POD_NAMESPACE"), "the operator's own namespace, where workflows live")
	f.StringVar(&o.agentImage, "agent-image", "", "the image of the agent, with the load generators")
	f.StringVar(&o.toolboxImage, "toolbox-image", "", "the image of the agent with the profilers")
	f.StringVar(&o.service, "service", "", "the address of the trial endpoint as Argo's agent pod reaches it, such as http://loadstone.NAMESPACE.svc:8090")
	f.StringVar(&o.serviceAccount, "workflow-service-account", "loadstone-workflow", "the service account of Argo's agent pod")
	f.StringVar(&o.instanceID, "argo-instance-id", "", "the instanceID of the Argo controller that runs the workflows")
	f.StringVar(&o.listen, "listen", ":8090", "the address of the trial endpoint")
	f.StringVar(&o.handout, "handout", ":8443", "address for downloads of runs' files by users who may get the run")
	f.StringVar(&o.probes, "probes", ":8081", "the address of the health probes")
	f.StringVar(&o.metrics, "metrics", "0", "address of the metrics, such as :8082; 0 for none")
	f.StringVar(&o.pullSecrets, "pull-secrets", "", "Secrets for pulling measured images, separated by commas; each namespace of runs has them")
	f.Func("pods", "settings of all measured pods, as JSON with the fields of spec.placement.pods of a BenchmarkRun", o.readPods)
	f.StringVar(&o.storeSecret, "s3-generate-secret", "", "empty Secret of the operator's namespace for a generated key, if the environment has none")
	some := f.String("namespaces", "", "namespaces of the runs and suites to lead, in addition to the operator's own, separated by commas; empty for all")
	f.Func("outbound-allow", "the private networks and hosts that registries, receivers and forges of users may have, separated by commas: CIDRs, addresses, host names", func(text string) (err error) {
		o.outbound, err = outbound.Parse(text)
		return err
	})
	f.Func("network-policy", "peers that each run's NetworkPolicy allows in addition to the run's pods, as a NetworkPolicySpec in JSON; empty for no policy", o.readNetwork)
	o.logs.addFlags(f)
	o.store.AddFlags(f)
	if err := f.Parse(args); err != nil {
		return o, fmt.Errorf("parsing flags: %w", err)
	}
	var err error
	if o.led, err = namespaces.Parse(*some, o.namespace); err != nil {
		return o, fmt.Errorf("reading -namespaces (chart value runs.namespaces): %w", err)
	}
	if o.store.CA, err = certs.Read(o.store.CAFile); err != nil {
		return o, err
	}
	o.store.AccessKey, o.store.SecretKey = os.Getenv(artifact.AccessKeyVariable), os.Getenv(artifact.SecretKeyVariable)
	return o, o.check()
}

func (o *options) readNetwork(text string) error {
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&o.network); err != nil {
		return fmt.Errorf("reading a NetworkPolicySpec: %w", err)
	}
	return nil
}

func (o *options) readPods(text string) error {
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&o.pods); err != nil {
		return fmt.Errorf("reading pod settings (chart value runs.pods): %w", err)
	}
	if v := plan.CheckPods("runs.pods", o.pods); v != nil {
		return v
	}
	return nil
}

func (o *options) check() error {
	needed := map[string]string{
		"-namespace": o.namespace, "-agent-image": o.agentImage, "-toolbox-image": o.toolboxImage, "-service": o.service, "-s3-endpoint": o.store.Endpoint,
	}
	if o.storeSecret == "" && !o.store.ByRole {
		needed[artifact.AccessKeyVariable+" (environment)"], needed[artifact.SecretKeyVariable+" (environment)"] = o.store.AccessKey, o.store.SecretKey
	}
	for name, value := range needed {
		if value == "" {
			return fmt.Errorf("%s is empty: set it", name)
		}
	}
	return o.checkRole()
}

// checkRole requires exactly one way to open the store.
func (o *options) checkRole() error {
	switch {
	case o.store.ByRole && (o.storeSecret != "" || o.store.AccessKey != "" || o.store.SecretKey != ""):
		return errors.New("-s3-by-role is set, and so is a key of the object store: set one of them (chart values s3.byRole and s3.existingSecret)")
	case o.store.STS != "" && !o.store.ByRole:
		return errors.New("-s3-sts-endpoint is set without -s3-by-role: set that, too, or leave it empty (chart values s3.stsEndpoint and s3.byRole)")
	case o.store.STS != "" && os.Getenv(artifact.TokenFileVariable) == "":
		return fmt.Errorf("-s3-sts-endpoint is set, and the environment has no %s: mount a token of the service account, and name its file there "+
			"(chart values operator.extraVolumes, operator.extraVolumeMounts and operator.extraEnv)", artifact.TokenFileVariable)
	}
	return nil
}

func (o *options) pullSecretNames() []string {
	return strings.FieldsFunc(o.pullSecrets, func(r rune) bool { return r == ',' })
}

func run(ctx context.Context, args []string) error {
	if len(args) > 0 && errands[args[0]] != nil {
		return errands[args[0]](ctx, args[1:])
	}
	o, err := parse(args)
	if err != nil {
		return err
	}
	handler, err := o.logs.handler(os.Stderr)
	if err != nil {
		return err
	}
	ctrl.SetLogger(logr.FromSlogHandler(handler))
	access, err := newAccess(o)
	if err != nil {
		return err
	}
	fence := leader.NewFence(leaseDuration, time.Now)
	m, config, err := newManager(o, fence, access)
	if err != nil {
		return err
	}
	go access.Start(ctx, time.Now)
	// The manager's client reads from caches that start later, and writes only as leader; the keys are needed now.
	direct, err := client.New(config, client.Options{Scheme: m.GetScheme()})
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	if err := storeKey(ctx, direct, &o); err != nil {
		return err
	}
	key, err := argo.SigningKey(ctx, direct, o.namespace)
	if err != nil {
		return err
	}
	if err := index.Index(ctx, m.GetFieldIndexer()); err != nil {
		return err
	}
	endpoint := &argo.Endpoint{Client: m.GetClient(), Key: key, Addr: o.listen, Fence: fence}
	if err := endpoint.SetupWithManager(ctx, m); err != nil {
		return err
	}
	told, err := monitor(m, fence)
	if err != nil {
		return err
	}
	if err := register(m, o, key, fence, told, access); err != nil {
		return err
	}
	if err := handOut(m, key, o, told); err != nil {
		return err
	}
	if err := m.Start(ctx); err != nil {
		return fmt.Errorf("running: %w", err)
	}
	return nil
}

func monitor(m ctrl.Manager, fence *leader.Fence) (*Store, error) {
	if err := metrics.Registry.Register(NewRuns(m.GetClient(), func() bool { return fence.Check() == nil })); err != nil {
		return nil, fmt.Errorf("registering the metrics of runs: %w", err)
	}
	told, err := NewStore(metrics.Registry, time.Now)
	if err != nil {
		return nil, fmt.Errorf("registering the metrics of the store: %w", err)
	}
	return told, nil
}

// handOut adds the download server to a manager. It only reads, so its store bypasses the fence.
func handOut(m ctrl.Manager, key ed25519.PrivateKey, o options, told *Store) error {
	shelf, err := artifact.OpenBehind(o.store, told.Count)
	if err != nil {
		return err
	}
	if err := m.Add(&download.Server{Runs: m.GetClient(), Key: key, Leads: o.led.Has, Shelf: shelf, Addr: o.handout}); err != nil {
		return fmt.Errorf("registering the handout: %w", err)
	}
	return nil
}

func register(m ctrl.Manager, o options, key ed25519.PrivateKey, fence *leader.Fence, told *Store, access *namespaces.Access) error {
	store, err := artifact.OpenBehind(o.store, func(way http.RoundTripper) http.RoundTripper { return fence.Guard(told.Count(way)) })
	if err != nil {
		return err
	}
	if err := m.Add(manager.RunnableFunc(prove(store))); err != nil {
		return fmt.Errorf("registering the check of the store: %w", err)
	}
	live := access.Reader(m.GetAPIReader(), m.GetClient())
	trials := &controllers.TrialReconciler{
		Client: m.GetClient(), Live: live, Store: store, StoreCA: o.store.CA, Key: key, AgentImage: o.agentImage, ToolboxImage: o.toolboxImage, PullSecrets: o.pullSecretNames(), Pods: o.pods, Version: util.Version, Now: time.Now,
		Agents: agents.New(key, fence.Guard(&http.Transport{IdleConnTimeout: 10 * time.Second})),
	}
	if err := trials.SetupWithManager(m); err != nil {
		return fmt.Errorf("registering trials: %w", err)
	}
	analyst, err := newWorker(o.store)
	if err != nil {
		return err
	}
	runs := &controllers.BenchmarkRunReconciler{
		Client: m.GetClient(), Live: live, Store: store, Recorder: m.GetEventRecorder("loadstone"), Key: key,
		Namespace: o.namespace, Service: o.service, WorkflowServiceAccount: o.serviceAccount, InstanceID: o.instanceID,
		Network: o.network, Pods: o.pods, Analyses: controllers.NewAnalyses(analyst.do), Absence: fence.Absence, Memory: debug.SetMemoryLimit(-1), Version: util.Version, Now: time.Now,
	}
	if err := runs.SetupWithManager(m); err != nil {
		return fmt.Errorf("registering runs: %w", err)
	}
	way := fence.Guard(outbound.Way(o.outbound))
	rounds := &suites.Reconciler{
		Client: m.GetClient(), Live: live, Recorder: m.GetEventRecorder("loadstone"), Registry: suites.Registries(way), Reports: store, Now: time.Now,
	}
	if err := rounds.SetupWithManager(m); err != nil {
		return fmt.Errorf("registering suites: %w", err)
	}
	sinks := &notifications.Reconciler{
		Client: m.GetClient(), Live: live, Recorder: m.GetEventRecorder("loadstone"),
		Post:   notifications.Poster(way),
		Forges: &notifications.Forges{Live: live, Reports: store, Way: way, Now: time.Now}, Now: time.Now,
	}
	if err := sinks.SetupWithManager(m); err != nil {
		return fmt.Errorf("registering notifications: %w", err)
	}
	return nil
}

const (
	leaseName     = "loadstone"
	leaseDuration = 15 * time.Second
	leaseRenew    = 10 * time.Second
	leaseRetry    = 3 * time.Second
)

// newAccess checks the led namespaces for all kinds that memory keeps of them.
func newAccess(o options) (*namespaces.Access, error) {
	ask, err := errandClient()
	if err != nil {
		return nil, err
	}
	return namespaces.NewAccess(o.led, ask, ctrl.Log.WithName("namespaces"),
		&v1alpha1.BenchmarkRunList{}, &v1alpha1.TrialList{}, &v1alpha1.BenchmarkSuiteList{}, &corev1.PodList{}), nil
}

// newManager makes the operator's manager. Its writes pass the fence; the returned configuration bypasses it.
func newManager(o options, fence *leader.Fence, access *namespaces.Access) (ctrl.Manager, *rest.Config, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, nil, fmt.Errorf("registering types: %w", err)
		}
	}
	kept, err := memory(o)
	if err != nil {
		return nil, nil, err
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return nil, nil, fmt.Errorf("finding the cluster: %w", err)
	}
	config.QPS, config.Burst = 100, 200
	lock, err := lock(config, o.namespace, fence)
	if err != nil {
		return nil, nil, err
	}
	fenced := rest.CopyConfig(config)
	fenced.Wrap(fence.Guard)
	fenced.Wrap(access.Wrap)
	kept.NewInformer = access.Informer
	m, err := ctrl.NewManager(fenced, ctrl.Options{
		Scheme:                 scheme,
		Metrics:                metricsserver.Options{BindAddress: o.metrics},
		HealthProbeBindAddress: o.probes,
		LeaderElection:         true, LeaderElectionResourceLockInterface: lock,
		LeaderElectionReleaseOnCancel: true, LeaseDuration: new(leaseDuration), RenewDeadline: new(leaseRenew), RetryPeriod: new(leaseRetry),
		Client: client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}}, Unstructured: true}},
		Cache:  kept,
	})
	if err != nil {
		return nil, nil, fmt.Errorf("making the manager: %w", err)
	}
	if err := m.AddHealthzCheck("alive", healthz.Ping); err != nil {
		return nil, nil, fmt.Errorf("adding the health probe: %w", err)
	}
	if err := m.AddReadyzCheck("alive", healthz.Ping); err != nil {
		return nil, nil, fmt.Errorf("adding the health probe: %w", err)
	}
	return m, config, nil
}

func memory(o options) (cache.Options, error) {
	measured, err := labels.NewRequirement(v1alpha1.LabelTrial, selection.Exists, nil)
	if err != nil {
		return cache.Options{}, fmt.Errorf("selecting measured pods: %w", err)
	}
	ours, err := labels.NewRequirement(v1alpha1.LabelRunUID, selection.Exists, nil)
	if err != nil {
		return cache.Options{}, fmt.Errorf("selecting workflows: %w", err)
	}
	workflow := &unstructured.Unstructured{}
	workflow.SetGroupVersionKind(render.WorkflowKind)
	return cache.Options{
		DefaultNamespaces: o.led.Cache(),
		DefaultTransform:  cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			&corev1.Pod{}:  {Label: labels.NewSelector().Add(*measured)},
			&corev1.Node{}: {Transform: trimNode},
			workflow: {
				Label: labels.NewSelector().Add(*ours), Namespaces: map[string]cache.Config{o.namespace: {}}, Transform: index.TrimWorkflow,
			},
		},
	}, nil
}

func lock(config *rest.Config, namespace string, fence *leader.Fence) (resourcelock.Interface, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("finding a name for this operator: %w", err)
	}
	return fence.Lock(config, namespace, leaseName, leader.Identity(host, os.Getenv("POD_IP")), leaseRenew)
}

// trimNode keeps only what plans need: heartbeats and image lists are large and change often.
func trimNode(o any) (any, error) {
	n, ok := o.(*corev1.Node)
	if !ok {
		return o, nil
	}
	var ready []corev1.NodeCondition
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			ready = append(ready, corev1.NodeCondition{Type: c.Type, Status: c.Status})
		}
	}
	return &corev1.Node{
		TypeMeta:   n.TypeMeta,
		ObjectMeta: metav1.ObjectMeta{Name: n.Name, UID: n.UID, Labels: n.Labels, ResourceVersion: n.ResourceVersion},
		Spec:       corev1.NodeSpec{Unschedulable: n.Spec.Unschedulable},
		Status:     corev1.NodeStatus{Allocatable: n.Status.Allocatable, Conditions: ready},
	}, nil
}
