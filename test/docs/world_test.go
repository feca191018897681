package docs_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/minio/minio-go/v7"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/yaml"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
	"loadstone.dev/loadstone/internal/report"
	"loadstone.dev/loadstone/internal/run/publish"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/store/artifact/artifacttest"
	"loadstone.dev/loadstone/internal/store/download"
	"loadstone.dev/loadstone/internal/testbed"
)

const (
	system                   = "loadstone-system"
	storeUser, storePassword = "testbed", "testbed-secret-key"
	// The suite has measured this many rounds. The second server costs more from round becameWorse on.
	rounds, becameWorse = 16, 12
	// said is what the operator's pod has printed.
	said = "a line of the operator's"
)

var operatorKey = ed25519.NewKeyFromSeed([]byte("0123456789abcdef0123456789abcdef"))

// world is a real API server and object store. The test simulates the operator, Kubernetes' controllers and a kubelet.
type world struct {
	config *rest.Config
	c      client.Client
	scheme *runtime.Scheme
	object testbed.ObjectStore
	store  *artifact.Store
	made   atomic.Int32
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newWorld(t *testing.T) *world {
	t.Helper()
	log.SetLogger(logr.Discard()) // Users without a token are refused and read the store with its key.
	w := &world{config: testbed.Cluster(t, root), scheme: runtime.NewScheme(), object: testbed.SecureStore(t)}
	must(t, errors.Join(clientgoscheme.AddToScheme(w.scheme), v1alpha1.AddToScheme(w.scheme), apiextensionsv1.AddToScheme(w.scheme)))
	w.config.QPS, w.config.Burst = 500, 500 // There are no other clients.
	var err error
	w.c, err = client.New(w.config, client.Options{Scheme: w.scheme})
	must(t, err)
	const bucket = "loadstone" // The chart's default.
	must(t, w.object.Client(t).MakeBucket(t.Context(), bucket, minio.MakeBucketOptions{}))
	w.store, err = artifact.Open(artifact.Config{
		Endpoint: w.object.Endpoint, Bucket: bucket, Region: "us-east-1", Secure: true, CA: w.object.CA, AccessKey: storeUser, SecretKey: storePassword,
	})
	must(t, err)
	for _, name := range []string{"perf", "bench", "argocd"} {
		must(t, w.c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}))
	}
	must(t, w.c.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "argocd", Name: "argocd-cm"}}))
	w.adopt(t)
	w.startNode(t)
	testbed.Beside(t, w.play)
	return w
}

// adopt labels existing definitions as if the chart had installed them.
func (w *world) adopt(t *testing.T) {
	t.Helper()
	var all apiextensionsv1.CustomResourceDefinitionList
	must(t, w.c.List(t.Context(), &all))
	for _, d := range all.Items {
		patch := fmt.Appendf(nil, `{"metadata": {"labels": {"app.kubernetes.io/managed-by": "Helm"}, "annotations": {"meta.helm.sh/release-name": "loadstone", "meta.helm.sh/release-namespace": %q}}}`, system)
		must(t, w.c.Patch(t.Context(), &d, client.RawPatch("application/merge-patch+json", patch)))
	}
}

// startNode creates a node with a kubelet that has the logs of the operator and helm test.
func (w *world) startNode(t *testing.T) {
	t.Helper()
	kubelet := httptest.NewTLSServer(http.HandlerFunc(func(answer http.ResponseWriter, q *http.Request) {
		if strings.HasPrefix(q.URL.Path, "/containerLogs/"+system+"/loadstone") {
			fmt.Fprintln(answer, said)
			return
		}
		http.NotFound(answer, q)
	}))
	t.Cleanup(kubelet.Close)
	at := kubelet.Listener.Addr().(*net.TCPAddr)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}}
	must(t, w.c.Create(t.Context(), node))
	node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: at.IP.String()}}
	node.Status.DaemonEndpoints.KubeletEndpoint.Port = int32(at.Port)
	must(t, w.c.Status().Update(t.Context(), node))
}

// kubeconfig writes a kubeconfig with contexts for a namespace.
func (w *world) kubeconfig(t *testing.T, namespace string) string {
	t.Helper()
	k := api.NewConfig()
	k.Clusters["test"] = &api.Cluster{Server: w.config.Host, CertificateAuthorityData: w.config.CAData}
	k.AuthInfos["test"] = &api.AuthInfo{ClientCertificateData: w.config.CertData, ClientKeyData: w.config.KeyData}
	for _, name := range []string{"test", "kind-bench"} {
		k.Contexts[name] = &api.Context{Cluster: "test", AuthInfo: "test", Namespace: namespace}
	}
	k.CurrentContext = "test"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	must(t, clientcmd.WriteToFile(*k, path))
	return path
}

func (w *world) namespace(t *testing.T) string {
	t.Helper()
	n := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("reader-%d", w.made.Add(1))}}
	must(t, w.c.Create(t.Context(), n))
	return n.Name
}

// bundle creates the installation page's ConfigMap with the store's certificate authorities.
func (w *world) bundle(t *testing.T) {
	t.Helper()
	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: "authorities"}, Data: map[string]string{"ca.crt": w.object.CA}}
	must(t, w.c.Create(t.Context(), m))
}

// install starts the operator's pod and its download server.
func (w *world) install(t *testing.T) {
	t.Helper()
	host, address := listenAt(t)
	// The operator's cache may list runs but need not get one.
	testbed.Beside(t, (&download.Server{Runs: w.c, Key: operatorKey, Shelf: w.store, Addr: address}).Start)

	var d appsv1.Deployment
	must(t, w.c.Get(t.Context(), client.ObjectKey{Namespace: system, Name: "loadstone"}, &d))
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: "loadstone", Labels: d.Spec.Template.Labels}}
	pod.Spec = corev1.PodSpec{NodeName: "node-1", ServiceAccountName: "loadstone", Containers: []corev1.Container{{Name: "manager", Image: "manager"}}}
	must(t, w.c.Create(t.Context(), pod))
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, PodIP: host, PodIPs: []corev1.PodIP{{IP: host}}}
	must(t, w.c.Status().Update(t.Context(), pod))
	_, portText, err := net.SplitHostPort(address)
	must(t, err)
	port, err := strconv.ParseInt(portText, 10, 32)
	must(t, err)
	//nolint:staticcheck // The proxy of this API server reads Endpoints, however deprecated they are.
	must(t, w.c.Create(t.Context(), &corev1.Endpoints{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: "loadstone"}, Subsets: []corev1.EndpointSubset{{
		Addresses: []corev1.EndpointAddress{{IP: host, TargetRef: &corev1.ObjectReference{Kind: "Pod", Namespace: system, Name: pod.Name, UID: pod.UID}}},
		Ports:     []corev1.EndpointPort{{Name: "handout", Port: int32(port)}},
	}}}))
	// What the controller of aggregated roles does.
	var own, view rbacv1.ClusterRole
	must(t, w.c.Get(t.Context(), client.ObjectKey{Name: "loadstone-view"}, &own))
	must(t, w.c.Get(t.Context(), client.ObjectKey{Name: "view"}, &view))
	view.Rules = append(view.Rules, own.Rules...)
	must(t, w.c.Update(t.Context(), &view))
}

// listenAt returns a free address outside loopback, which the API server's proxy refuses.
func listenAt(t *testing.T) (host, address string) {
	t.Helper()
	addresses, err := net.InterfaceAddrs()
	must(t, err)
	for _, a := range addresses {
		n, ok := a.(*net.IPNet)
		if !ok || !n.IP.IsGlobalUnicast() || n.IP.To4() == nil {
			continue
		}
		l, err := net.Listen("tcp", net.JoinHostPort(n.IP.String(), "0"))
		must(t, err)
		must(t, l.Close())
		return n.IP.String(), l.Addr().String()
	}
	t.Skip("this machine has no address but the loopback interface's, which the API server's proxy refuses")
	return "", ""
}

// prepare creates runs and a measured suite, in the namespaces that the commands use.
func (w *world) prepare(t *testing.T) {
	t.Helper()
	for key, implementations := range map[string][]string{
		"default/quick": {"gohttp", "epoll"}, "default/shortest": {"go", "zco"}, "bench/quick": {"gohttp", "epoll"},
		"default/monday": {"reference", "server"}, "default/tuesday": {"reference", "server"}, "default/wednesday": {"reference", "server"}, "default/thursday": {"reference", "server"},
	} {
		namespace, name, _ := strings.Cut(key, "/")
		must(t, w.c.Create(t.Context(), run(namespace, name, implementations...)))
	}
	for _, namespace := range []string{"default", "perf"} {
		s := &v1alpha1.BenchmarkSuite{}
		must(t, yaml.Unmarshal([]byte(fenced(pages(t)["docs/reference/benchmarksuite.md"], "yaml")[0]), s))
		s.Namespace = namespace
		must(t, w.c.Create(t.Context(), s))
		s.Status.ObservedGeneration = &s.Generation
		s.Status.Conditions = []metav1.Condition{condition(v1alpha1.ConditionReady)}
		for round := rounds; round >= 1 && namespace == "default"; round-- {
			s.Status.History = append(s.Status.History, v1alpha1.SuiteRound{Round: int32(round), Outcome: v1alpha1.RoundPassed})
		}
		must(t, w.c.Status().Update(t.Context(), s))
		for round := 1; round <= rounds && namespace == "default"; round++ {
			r := run(namespace, fmt.Sprintf("%s-%d", s.Name, round), "anchor", "candidate")
			r.Labels = map[string]string{v1alpha1.LabelSuite: s.Name, v1alpha1.LabelSuiteUID: string(s.UID), v1alpha1.LabelRound: strconv.Itoa(round)}
			r.Annotations = map[string]string{v1alpha1.AnnotationRound: fmt.Sprintf(`{"id": "%d", "run": "small", "runs": 1}`, round)}
			must(t, w.c.Create(t.Context(), r))
		}
	}
	w.awaitEnds(t)
}

func run(namespace, name string, implementations ...string) *v1alpha1.BenchmarkRun {
	r := &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	for _, i := range implementations {
		r.Spec.Implementations = append(r.Spec.Implementations, v1alpha1.Implementation{Name: i, Image: i + ":1", Port: 8080})
	}
	r.Spec.Baseline = implementations[0]
	r.Spec.Loads = []v1alpha1.Load{{Name: "sweep", Tool: v1alpha1.ToolWrk, Levels: []v1alpha1.Level{{Connections: 100}}}}
	return r
}

func condition(kind string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonDone, LastTransitionTime: metav1.Now()}
}

func (w *world) awaitEnds(t *testing.T) {
	t.Helper()
	testbed.Await(t, "the end of all runs", func() bool {
		var all v1alpha1.BenchmarkRunList
		must(t, w.c.List(t.Context(), &all))
		return !slices.ContainsFunc(all.Items, func(r v1alpha1.BenchmarkRun) bool { return r.Status.CompletionTime == nil })
	})
}

func (w *world) play(ctx context.Context) error {
	for {
		err := errors.Join(w.endRuns(ctx), w.endHooks(ctx))
		if err != nil && ctx.Err() == nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(250 * time.Millisecond): // Three lists cost milliseconds of the CPUs.
		}
	}
}

// endRuns ends every run with a report of simulated records.
func (w *world) endRuns(ctx context.Context) error {
	var all v1alpha1.BenchmarkRunList
	if err := w.c.List(ctx, &all); err != nil {
		return err
	}
	for i := range all.Items {
		r := &all.Items[i]
		if r.Status.CompletionTime != nil {
			continue
		}
		made, err := w.report(ctx, r)
		if err != nil {
			return err
		}
		now := metav1.Now()
		r.Status.StartTime, r.Status.CompletionTime, r.Status.Verdict = &now, &now, made.Verdict.Text
		r.Status.DownloadKey = download.RunKey(operatorKey, r.UID)
		r.Status.Report = v1alpha1.ReportRef{URI: w.store.URI(made.Page.Key), SHA256: made.Page.SHA256}
		r.Status.Conditions = []metav1.Condition{condition(v1alpha1.ConditionSucceeded), condition(v1alpha1.ConditionConclusive)}
		if err := w.c.Status().Update(ctx, r); client.IgnoreNotFound(err) != nil && !apierrors.IsConflict(err) {
			return err
		}
	}
	return nil
}

// report stores a run's records and report. Rounds only need the report.
func (w *world) report(ctx context.Context, r *v1alpha1.BenchmarkRun) (publish.Reported, error) {
	d, prefix := records(r), download.PrefixOf(r)
	if r.Labels[v1alpha1.LabelRound] == "" {
		if err := artifacttest.Keep(ctx, w.store, prefix, d); err != nil && !errors.Is(err, artifact.ErrExists) {
			return publish.Reported{}, err
		}
		return publish.Report(ctx, w.store, prefix, "")
	}
	table, err := publish.Analyse(d)
	if err != nil {
		return publish.Reported{}, err
	}
	files, err := report.Files(table)
	if err != nil {
		return publish.Reported{}, err
	}
	page, err := publish.Put(ctx, w.store, prefix, files)
	return publish.Reported{Page: page}, err
}

// records are simulated: later implementations cost more than the first, and even more from a certain round on. A/A runs stay equal.
func records(r *v1alpha1.BenchmarkRun) record.RunData {
	round, _ := strconv.Atoi(r.Labels[v1alpha1.LabelRound]) // A run of no suite is of round 0.
	o := recordtest.Duel(verdict.MinBlocks)
	o.Levels, o.Seconds, o.Noise, o.Seed, o.Servers = []int32{100}, 1, 0.01, uint64(round), nil
	for _, letter := range []byte(r.Name) {
		o.Seed = o.Seed*31 + uint64(letter)
	}
	for i, implementation := range r.Spec.Implementations {
		cost := 10 + float64(2*i)
		if i > 0 && round >= becameWorse {
			cost *= 1.2
		}
		o.Servers = append(o.Servers, recordtest.Server{Name: implementation.Name, CPUMicros: cost, RSSBytes: 9 << 20})
	}
	d := recordtest.Run(o)
	if own := slices.Clone(r.Spec.Implementations); len(own) == 2 {
		own[1].Name = own[0].Name
		if reflect.DeepEqual(own[0], own[1]) {
			d.Manifest.Plan.Implementations[1].Image = d.Manifest.Plan.Implementations[0].Image
		}
	}
	if len(o.Servers) > 1 && round > 0 {
		recordtest.NewImage(d, o.Servers[1].Name, round)
	}
	d.Manifest.Run.Namespace, d.Manifest.Run.Name, d.Manifest.Run.UID = r.Namespace, r.Name, string(r.UID)
	for i := range d.Trials {
		d.Trials[i].Manifest.Run = d.Manifest.Run
	}
	return d
}

// endHooks ends the pods and Jobs that Helm waits for.
func (w *world) endHooks(ctx context.Context) error {
	var pods corev1.PodList
	var jobs batchv1.JobList
	if err := errors.Join(w.c.List(ctx, &pods, client.InNamespace(system)), w.c.List(ctx, &jobs, client.InNamespace(system))); err != nil {
		return err
	}
	now := metav1.Now()
	for _, p := range pods.Items {
		if p.Annotations["helm.sh/hook"] == "" || p.Status.Phase == corev1.PodSucceeded {
			continue
		}
		if p.Spec.NodeName == "" {
			to := &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: "node-1"}}
			if err := w.c.SubResource("binding").Create(ctx, &p, to); client.IgnoreNotFound(err) != nil && !apierrors.IsConflict(err) {
				return err
			}
			continue // It is bound and has another version.
		}
		p.Status.Phase = corev1.PodSucceeded
		if err := w.c.Status().Update(ctx, &p); client.IgnoreNotFound(err) != nil && !apierrors.IsConflict(err) {
			return err
		}
	}
	for _, j := range jobs.Items {
		if j.Status.Succeeded > 0 {
			continue
		}
		j.Status.StartTime, j.Status.CompletionTime, j.Status.Succeeded = &now, &now, 1
		for _, kind := range []batchv1.JobConditionType{batchv1.JobSuccessCriteriaMet, batchv1.JobComplete} {
			j.Status.Conditions = append(j.Status.Conditions, batchv1.JobCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: now})
		}
		if err := w.c.Status().Update(ctx, &j); client.IgnoreNotFound(err) != nil && !apierrors.IsConflict(err) {
			return err
		}
	}
	return nil
}

func results(t *testing.T, folder, name string) {
	t.Helper()
	shelf, err := artifact.OpenFolder(folder)
	must(t, err)
	d := records(run(record.LocalNamespace, name, "old", "new"))
	must(t, artifacttest.Keep(t.Context(), shelf, name, d))
}
