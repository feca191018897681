package gitops

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/suites"
	"loadstone.dev/loadstone/internal/testbed"
)

const (
	root = "../.."
	// layout is the repository of a team, and layout/flux.yaml how Flux follows it.
	layout = root + "/config/gitops/flux"
	// fluxNamespace is where Flux' objects are, measured where the suite is, and served where the team deploys.
	fluxNamespace, measured, served = "flux-system", "checkout-performance", "shop"
	// patience bounds what is waited for on a machine that is busy.
	patience = 2 * time.Minute
)

var (
	sources        = schema.GroupVersionKind{Group: "source.toolkit.fluxcd.io", Version: "v1", Kind: "GitRepository"}
	kustomizations = schema.GroupVersionKind{Group: "kustomize.toolkit.fluxcd.io", Version: "v1", Kind: "Kustomization"}
)

// cluster is an API server with the reconciler of suites, with Flux, and beside it the Git repository that Flux follows. Nobody measures: the test
// ends the runs. Nobody collects what has lost its owner, either.
type cluster struct {
	t    *testing.T
	c    client.Client
	git  *repository
	flux []*controller
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	testbed.Programs(t, "git", "source-controller", "kustomize-controller")
	config := testbed.Cluster(t, root)
	w := &cluster{t: t, git: newRepository(t)}
	scheme := kruntime.NewScheme()
	w.must(errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)))
	var err error
	w.c, err = client.New(config, client.Options{Scheme: scheme})
	w.must(err)
	_, err = envtest.InstallCRDs(config, envtest.CRDInstallOptions{Paths: definitions(t), ErrorIfPathMissing: true, MaxTime: patience})
	w.must(err)
	w.must(w.c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: fluxNamespace}}))
	w.operator(config, scheme)
	free, err := testbed.FreeAddress()
	w.must(err)
	// It listens there again after a restart: on an address of its own, lest another test take its port meanwhile.
	address := strings.Replace(free, "127.0.0.1", "127.66.66.66", 1)
	access := kubeconfig(t, config)
	w.flux = []*controller{
		newController(t, "source-controller", access, "--storage-path="+t.TempDir(), "--storage-addr="+address, "--storage-adv-addr="+address),
		newController(t, "kustomize-controller", access, "--no-remote-bases", "--no-cross-namespace-refs"),
	}
	return w
}

func (w *cluster) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// operator leads suites, with the rights of the chart.
func (w *cluster) operator(config *rest.Config, scheme *kruntime.Scheme) {
	w.t.Helper()
	installation := testbed.Install(w.t, config, root, "loadstone-system")
	m, err := ctrl.NewManager(installation.Config, ctrl.Options{Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}})
	w.must(err)
	r := &suites.Reconciler{
		Client: m.GetClient(), Live: m.GetAPIReader(), Recorder: m.GetEventRecorderFor("loadstone"), Registry: suites.AskRegistry, Now: time.Now,
	}
	w.must(r.SetupWithManager(m))
	testbed.Beside(w.t, m.Start)
}

// kubeconfig is a file by which a process reaches an API server.
func kubeconfig(t *testing.T, config *rest.Config) string {
	t.Helper()
	k := clientcmdapi.NewConfig()
	k.Clusters["c"] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData}
	k.AuthInfos["u"] = &clientcmdapi.AuthInfo{ClientCertificateData: config.CertData, ClientKeyData: config.KeyData, Token: config.BearerToken}
	k.Contexts["c"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	k.CurrentContext = "c"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*k, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// follow applies how Flux follows the repository, which it asks every two seconds here.
func (w *cluster) follow() {
	w.t.Helper()
	text, err := os.ReadFile(filepath.Join(layout, "flux.yaml"))
	w.must(err)
	for documents := yaml.NewYAMLOrJSONDecoder(strings.NewReader(string(text)), 4096); ; {
		o := &unstructured.Unstructured{}
		if err := documents.Decode(o); errors.Is(err, io.EOF) {
			return
		} else {
			w.must(err)
		}
		if o.GetKind() == sources.Kind {
			w.must(unstructured.SetNestedField(o.Object, w.git.url, "spec", "url"))
			w.must(unstructured.SetNestedField(o.Object, "2s", "spec", "interval"))
		}
		w.must(w.c.Create(w.t.Context(), o))
	}
}

// get reads an object of Flux.
func (w *cluster) get(kind schema.GroupVersionKind, name string) *unstructured.Unstructured {
	w.t.Helper()
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(kind)
	w.must(w.c.Get(w.t.Context(), client.ObjectKey{Namespace: fluxNamespace, Name: name}, o))
	return o
}

// await asks until there is no answer left to what is missing.
func (w *cluster) await(what string, missing func() string) {
	w.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		text := missing()
		if text == "" {
			return
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("%s has not come about: %s", what, text)
		}
	}
}

// stands wants the condition Ready of a Kustomization to be as wanted, of a revision that was applied or tried, with a text in its message.
func (w *cluster) stands(name string, status metav1.ConditionStatus, revision, text string) {
	w.t.Helper()
	tried := map[metav1.ConditionStatus]string{metav1.ConditionTrue: "lastAppliedRevision"}[status]
	if tried == "" {
		tried = "lastAttemptedRevision"
	}
	w.await(fmt.Sprintf("that Flux says %s of %s at %s", status, name, revision), func() string {
		o := w.get(kustomizations, name)
		at, _, err := unstructured.NestedString(o.Object, "status", tried)
		w.must(err)
		ready, err := condition(o, "Ready")
		w.must(err)
		if at == revision && ready.Status == status && ready.ObservedGeneration == o.GetGeneration() && strings.Contains(ready.Message, text) {
			return ""
		}
		return fmt.Sprintf("%s is %s, %s", tried, at, ready.Message)
	})
}

// condition is one of an object's conditions; empty if it has none of that type.
func condition(o *unstructured.Unstructured, kind string) (metav1.Condition, error) {
	var read struct {
		Status struct {
			Conditions []metav1.Condition `json:"conditions"`
		} `json:"status"`
	}
	err := kruntime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &read)
	if c := meta.FindStatusCondition(read.Status.Conditions, kind); c != nil {
		return *c, err
	}
	return metav1.Condition{}, err
}

// change merges a text into an object of Flux.
func (w *cluster) change(kind schema.GroupVersionKind, name, text string) {
	w.t.Helper()
	w.must(w.c.Patch(w.t.Context(), w.get(kind, name), client.RawPatch("application/merge-patch+json", []byte(text))))
}

// push commits, and has Flux look at once, as a webhook of the forge does.
func (w *cluster) push(message string) string {
	w.t.Helper()
	revision := w.git.commit(message)
	w.change(sources, "checkout", request(revision))
	return revision
}

// request is what flux reconcile writes.
func request(token string) string {
	return fmt.Sprintf(`{"metadata": {"annotations": {%q: %q}}}`, v1alpha1.AnnotationReconcileAt, token)
}

// again has Flux fetch and apply everything again, and waits until it has.
func (w *cluster) again(token string) {
	w.t.Helper()
	for _, o := range []struct {
		kind schema.GroupVersionKind
		name string
	}{{sources, "checkout"}, {kustomizations, "checkout-performance"}, {kustomizations, "checkout"}} {
		w.change(o.kind, o.name, request(token))
		w.await("that Flux looks at "+o.name+" again", func() string {
			said, _, err := unstructured.NestedString(w.get(o.kind, o.name).Object, "status", "lastHandledReconcileAt")
			w.must(err)
			if said == token {
				return ""
			}
			return "it has looked at " + said
		})
	}
}

// suite is the suite of the layout; nil if it is not there.
func (w *cluster) suite() *v1alpha1.BenchmarkSuite {
	w.t.Helper()
	s := &v1alpha1.BenchmarkSuite{}
	if err := w.c.Get(w.t.Context(), client.ObjectKey{Namespace: measured, Name: "checkout"}, s); apierrors.IsNotFound(err) {
		return nil
	} else {
		w.must(err)
	}
	return s
}

// runs are the runs of the suite, by name.
func (w *cluster) runs() []v1alpha1.BenchmarkRun {
	w.t.Helper()
	var list v1alpha1.BenchmarkRunList
	w.must(w.c.List(w.t.Context(), &list, client.InNamespace(measured), client.MatchingLabels{v1alpha1.LabelSuite: "checkout"}))
	return list.Items
}

// begins waits for the run of another round, which measures a version: all that there ever were are so many then.
func (w *cluster) begins(all int, version string) {
	w.t.Helper()
	w.await(fmt.Sprintf("run %d, of version %s", all, version), func() string {
		runs := w.runs()
		if len(runs) == all && slices.ContainsFunc(runs, func(r v1alpha1.BenchmarkRun) bool {
			return r.Status.CompletionTime == nil && r.Spec.Implementations[0].Image == "registry.example/checkout:"+version
		}) {
			return ""
		}
		return fmt.Sprintf("there are %d runs", len(runs))
	})
}

// ends ends the run that goes on.
func (w *cluster) ends(status metav1.ConditionStatus, reason, message string) {
	w.t.Helper()
	for _, run := range w.runs() {
		if run.Status.CompletionTime != nil {
			continue
		}
		now := metav1.Now()
		run.Status = v1alpha1.BenchmarkRunStatus{CompletionTime: &now, Verdict: message}
		run.Status.Report.URI = fmt.Sprintf("s3://bench/%s/%s-%.8s/reports/0123456789ab/report.html", run.Namespace, run.Name, run.UID)
		meta.SetStatusCondition(&run.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionSucceeded, Status: status, Reason: reason, Message: message})
		meta.SetStatusCondition(&run.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionConclusive, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonDone})
		w.must(w.c.Status().Update(w.t.Context(), &run))
	}
}

// deployed is the image that the team serves with; empty if it serves with none.
func (w *cluster) deployed() string {
	w.t.Helper()
	d := &appsv1.Deployment{}
	if err := w.c.Get(w.t.Context(), client.ObjectKey{Namespace: served, Name: "checkout"}, d); apierrors.IsNotFound(err) {
		return ""
	} else {
		w.must(err)
	}
	return d.Spec.Template.Spec.Containers[0].Image
}

// wantDeployed wants the team to serve with a version; empty for none.
func (w *cluster) wantDeployed(version string) {
	w.t.Helper()
	want := ""
	if version != "" {
		want = "registry.example/checkout:" + version
	}
	if got := w.deployed(); got != want {
		w.t.Errorf("deployed is %q, want %q", got, want)
	}
}

// restart ends both of Flux' controllers, and starts them again.
func (w *cluster) restart() {
	w.t.Helper()
	var stops sync.WaitGroup
	for _, p := range w.flux {
		stops.Go(p.stop)
	}
	stops.Wait()
	for _, p := range w.flux {
		p.start()
	}
}

// kept wants the suite and its runs to be those that were there before.
func (w *cluster) kept(what string, suite *v1alpha1.BenchmarkSuite, runs []v1alpha1.BenchmarkRun) {
	w.t.Helper()
	now := w.suite()
	if now == nil || now.UID != suite.UID || now.DeletionTimestamp != nil {
		w.t.Fatalf("%s: the suite is not what it was", what)
	}
	if now.Status.LastRound.Round != suite.Status.LastRound.Round || now.Status.LastGood.Round != suite.Status.LastGood.Round {
		w.t.Errorf("%s: the suite has forgotten its rounds: %+v", what, now.Status)
	}
	same := func(a, b v1alpha1.BenchmarkRun) bool { return a.UID == b.UID }
	if !slices.EqualFunc(runs, w.runs(), same) {
		w.t.Errorf("%s: there are other runs than before", what)
	}
}
