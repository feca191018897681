package gitops

import (
	"errors"
	"fmt"
	"io"
	"net/http"
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
	"k8s.io/apimachinery/pkg/util/yaml"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/suites"
	"loadstone.dev/loadstone/internal/testbed"
	"loadstone.dev/loadstone/test/flux"
)

const (
	root = "../.."
	// layout is a team's repository; layout/flux.yaml says how Flux follows it.
	layout = root + "/config/gitops/flux"
	// Flux' objects are in fluxNamespace, the suite in measured, and the team's deployment in served.
	fluxNamespace, measured, served = "flux-system", "checkout-performance", "shop"
)

// cluster is an API server with the reconciler of suites. With Flux it also has a Git repository. Nothing measures: the test ends the runs. There is
// no garbage collector.
type cluster struct {
	*flux.Objects
	// The suite is in measured, the team's deployment in served.
	measured, served string
	config           *rest.Config
	git              *flux.Repository
	controllers      []*flux.Controller
}

func newCluster(t *testing.T, measured, served string) *cluster {
	t.Helper()
	config := testbed.Cluster(t, root)
	scheme := kruntime.NewScheme()
	w := &cluster{Objects: &flux.Objects{T: t, Namespace: fluxNamespace}, config: config, measured: measured, served: served}
	w.Must(errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)))
	var err error
	w.Client, err = client.New(config, client.Options{Scheme: scheme})
	w.Must(err)
	w.operator(config, scheme)
	return w
}

func newFlux(t *testing.T) *cluster {
	t.Helper()
	testbed.Programs(t, "git", "source-controller", "kustomize-controller")
	w := newCluster(t, measured, served)
	w.git = flux.NewRepository(t)
	w.git.Copy(layout)
	_, err := envtest.InstallCRDs(w.config, envtest.CRDInstallOptions{Paths: flux.Definitions(t, root), ErrorIfPathMissing: true, MaxTime: flux.Patience})
	w.Must(err)
	w.Must(w.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: fluxNamespace}}))
	w.controllers = flux.Place{Kubeconfig: kubeconfig(t, w.config), Namespace: fluxNamespace}.Start(t)
	return w
}

func (w *cluster) operator(config *rest.Config, scheme *kruntime.Scheme) {
	w.T.Helper()
	installation := testbed.Install(w.T, config, root, "loadstone-system")
	again := true // Each test of the package has an operator.
	m, err := ctrl.NewManager(installation.Config, ctrl.Options{
		Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}, Controller: ctrlconfig.Controller{SkipNameValidation: &again},
		GracefulShutdownTimeout: new(testbed.Patience),
	})
	w.Must(err)
	r := &suites.Reconciler{
		Client: m.GetClient(), Live: m.GetAPIReader(), Recorder: m.GetEventRecorder("loadstone"), Registry: suites.Registries(http.DefaultTransport), Now: time.Now,
	}
	w.Must(r.SetupWithManager(m))
	testbed.Beside(w.T, m.Start)
}

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

// follow makes Flux follow the repository and poll it every two seconds.
func (w *cluster) follow() {
	w.T.Helper()
	text, err := os.ReadFile(filepath.Join(layout, "flux.yaml"))
	w.Must(err)
	for documents := yaml.NewYAMLOrJSONDecoder(strings.NewReader(string(text)), 4096); ; {
		o := &unstructured.Unstructured{}
		if err := documents.Decode(o); errors.Is(err, io.EOF) {
			return
		} else {
			w.Must(err)
		}
		if o.GetKind() == flux.Sources.Kind {
			w.Must(unstructured.SetNestedField(o.Object, w.git.URL, "spec", "url"))
			w.Must(unstructured.SetNestedField(o.Object, "2s", "spec", "interval"))
		}
		w.Must(w.Client.Create(w.T.Context(), o))
	}
}

// push commits and notifies Flux, like a webhook.
func (w *cluster) push(message string) string {
	w.T.Helper()
	revision := w.git.Push(message)
	w.Change(flux.Sources, source, flux.Request(revision))
	return revision
}

func (w *cluster) suite() *v1alpha1.BenchmarkSuite {
	w.T.Helper()
	s := &v1alpha1.BenchmarkSuite{}
	if err := w.Client.Get(w.T.Context(), client.ObjectKey{Namespace: w.measured, Name: "checkout"}, s); apierrors.IsNotFound(err) {
		return nil
	} else {
		w.Must(err)
	}
	return s
}

func (w *cluster) runs() []v1alpha1.BenchmarkRun {
	w.T.Helper()
	var list v1alpha1.BenchmarkRunList
	w.Must(w.Client.List(w.T.Context(), &list, client.InNamespace(w.measured), client.MatchingLabels{v1alpha1.LabelSuite: "checkout"}))
	return list.Items
}

// begins waits for the next round's run, which measures a version. all is the number of runs so far, including this one.
func (w *cluster) begins(all int, version string) {
	w.T.Helper()
	w.Await(fmt.Sprintf("run %d, of version %s", all, version), func() string {
		runs := w.runs()
		if len(runs) == all && slices.ContainsFunc(runs, func(r v1alpha1.BenchmarkRun) bool {
			return r.Status.CompletionTime == nil && r.Spec.Implementations[0].Image == "registry.example/checkout:"+version
		}) {
			return ""
		}
		return fmt.Sprintf("there are %d runs", len(runs))
	})
}

func (w *cluster) ends(status metav1.ConditionStatus, reason, message string) {
	w.T.Helper()
	for _, run := range w.runs() {
		if run.Status.CompletionTime != nil {
			continue
		}
		now := metav1.Now()
		run.Status = v1alpha1.BenchmarkRunStatus{CompletionTime: &now, Verdict: message}
		run.Status.Report.URI = fmt.Sprintf("s3://bench/%s/%s-%.8s/reports/0123456789ab/report.html", run.Namespace, run.Name, run.UID)
		meta.SetStatusCondition(&run.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionSucceeded, Status: status, Reason: reason, Message: message})
		meta.SetStatusCondition(&run.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionConclusive, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonDone})
		w.Must(w.Client.Status().Update(w.T.Context(), &run))
	}
}

// deployed is the image of the team's deployment; empty without one.
func (w *cluster) deployed() string {
	w.T.Helper()
	d := &appsv1.Deployment{}
	if err := w.Client.Get(w.T.Context(), client.ObjectKey{Namespace: w.served, Name: "checkout"}, d); apierrors.IsNotFound(err) {
		return ""
	} else {
		w.Must(err)
	}
	return d.Spec.Template.Spec.Containers[0].Image
}

// wantDeployed expects a deployed version; empty for none.
func (w *cluster) wantDeployed(version string) {
	w.T.Helper()
	want := ""
	if version != "" {
		want = "registry.example/checkout:" + version
	}
	if got := w.deployed(); got != want {
		w.T.Errorf("deployed is %q, want %q", got, want)
	}
}

func (w *cluster) restart() {
	w.T.Helper()
	var stops sync.WaitGroup
	for _, c := range w.controllers {
		stops.Go(c.Stop)
	}
	stops.Wait()
	for _, c := range w.controllers {
		c.Start()
	}
}

// kept expects the same suite and runs as before.
func (w *cluster) kept(what string, suite *v1alpha1.BenchmarkSuite, runs []v1alpha1.BenchmarkRun) {
	w.T.Helper()
	now := w.suite()
	if now == nil || now.UID != suite.UID || now.DeletionTimestamp != nil {
		w.T.Fatalf("%s: the suite is not what it was", what)
	}
	if now.Status.LastRound.Round != suite.Status.LastRound.Round || now.Status.LastGood.Round != suite.Status.LastGood.Round {
		w.T.Errorf("%s: the suite has forgotten its rounds: %+v", what, now.Status)
	}
	same := func(a, b v1alpha1.BenchmarkRun) bool { return a.UID == b.UID }
	if !slices.EqualFunc(runs, w.runs(), same) {
		w.T.Errorf("%s: there are other runs than before", what)
	}
}
