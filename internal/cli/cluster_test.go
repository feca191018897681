package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/cli/screen"
	"loadstone.dev/loadstone/internal/client/kube"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/testbed"
)

// cluster is a real API server with a Loadstone, whose operator the test plays.
type cluster struct {
	t         *testing.T
	c         client.Client
	namespace string
	store     *artifact.Store
}

var clusters atomic.Int32

// newCluster is a namespace of a real API server, with a kubeconfig.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	config := testbed.Cluster(t, filepath.Join("..", ".."))
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	w := &cluster{t: t, c: c, namespace: "bench-" + string('a'+rune(clusters.Add(1)))}
	w.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}})
	t.Setenv("KUBECONFIG", kubeconfig(t, config, w.namespace))
	return w
}

func kubeconfig(t *testing.T, config *rest.Config, namespace string) string {
	t.Helper()
	k := clientcmdapi.NewConfig()
	k.Clusters["c"] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData}
	k.AuthInfos["u"] = &clientcmdapi.AuthInfo{ClientCertificateData: config.CertData, ClientKeyData: config.KeyData, Token: config.BearerToken}
	k.Contexts["here"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u", Namespace: namespace}
	k.Clusters["none"] = &clientcmdapi.Cluster{Server: "https://127.0.0.1:1"}
	k.Contexts["away"] = &clientcmdapi.Context{Cluster: "none", AuthInfo: "u"}
	k.CurrentContext = "here"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*k, path); err != nil {
		t.Fatal(err)
	}
	return path
}

func (w *cluster) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *cluster) create(objects ...client.Object) {
	w.t.Helper()
	for _, o := range objects {
		w.must(w.c.Create(w.t.Context(), o))
	}
}

// install gives the cluster an operator's Deployment with its store, in the namespace of the test.
func (w *cluster) install() {
	w.t.Helper()
	object := testbed.Store(w.t)
	config := artifact.Config{Endpoint: object.Endpoint, Bucket: object.NewBucket(w.t), Region: "us-east-1", AccessKey: object.AccessKey, SecretKey: object.SecretKey}
	var err error
	w.store, err = artifact.Open(config)
	w.must(err)
	labels := map[string]string{"app.kubernetes.io/name": "loadstone", "app.kubernetes.io/component": "operator"}
	key := func(name, key string) corev1.EnvVar {
		return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "s3"}, Key: key}}}
	}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "loadstone", Labels: labels}}
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	d.Spec.Template.Labels = labels
	d.Spec.Template.Spec.Containers = []corev1.Container{{
		Name: "operator", Image: "operator:dev", Args: []string{"--s3-endpoint=" + config.Endpoint, "--s3-bucket=" + config.Bucket},
		Env: []corev1.EnvVar{key(artifact.AccessKeyVariable, "a"), key(artifact.SecretKeyVariable, "b")},
	}}
	w.create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "s3"}, StringData: map[string]string{"a": config.AccessKey, "b": config.SecretKey}}, d)
}

func (w *cluster) update(name string, change func(*v1alpha1.BenchmarkRunStatus)) {
	var r v1alpha1.BenchmarkRun
	if err := w.c.Get(context.Background(), client.ObjectKey{Namespace: w.namespace, Name: name}, &r); err != nil {
		w.t.Error(err)
		return
	}
	change(&r.Status)
	if err := w.c.Status().Update(context.Background(), &r); err != nil {
		w.t.Error(err)
	}
}

func condition(kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message, LastTransitionTime: metav1.Now()}
}

// ofImages is the file of a run that a cluster takes.
func ofImages(t *testing.T) string {
	t.Helper()
	return written(t, "run.yaml", "command: [./plain], port: 8080}\n  - {name: costly, command: [./costly]", "image: a, port: 8080}\n  - {name: costly, image: b")
}

// begin runs a command line in the background, and returns its output and exit code.
func begin(ctx context.Context, args ...string) (*lockedBuffer, <-chan error) {
	out, end := &lockedBuffer{}, make(chan error, 1)
	root := New("loadstone")
	root.SetArgs(args)
	root.SetOut(out)
	go func() { end <- root.ExecuteContext(ctx) }()
	return out, end
}

func until(t *testing.T, out *lockedBuffer, line string) {
	t.Helper()
	for deadline := time.Now().Add(patience); !strings.Contains(out.String(), line); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it does not print %q: %s", line, out.String())
		}
	}
}

func TestClusterRunIsFollowedToReport(t *testing.T) {
	w := newCluster(t)
	w.install()
	page, err := w.store.Put(t.Context(), "r/reports/abc/report.html", "text/html", []byte("<p>done"))
	w.must(err)
	dir := t.TempDir()
	out, end := begin(t.Context(), "run", ofImages(t), "--context", "here", "--system-namespace", w.namespace, "--out", dir)
	until(t, out, "benchmarkrun "+w.namespace+"/quick created\nwaiting for the operator\n")
	w.update("quick", func(s *v1alpha1.BenchmarkRunStatus) {
		s.Conditions = []metav1.Condition{condition(v1alpha1.ConditionSucceeded, metav1.ConditionUnknown, v1alpha1.ReasonQueued, "BenchmarkRun a/b is measuring")}
	})
	until(t, out, "BenchmarkRun a/b is measuring\n")
	now := metav1.Now()
	w.update("quick", func(s *v1alpha1.BenchmarkRunStatus) {
		s.StartTime, s.CompletionTime, s.Progress, s.Verdict = &now, &now, "14/14", "costly is slower"
		s.Report = v1alpha1.ReportRef{URI: w.store.URI(page.Key), SHA256: page.SHA256}
		s.Conditions = []metav1.Condition{
			condition(v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone, "costly is slower"),
			condition(v1alpha1.ConditionConclusive, metav1.ConditionFalse, v1alpha1.ReasonNoiseTooHigh, "x"),
		}
	})
	if err := <-end; err == nil || status(err) != statusInconclusive {
		t.Errorf("it ends with %v", err)
	}
	path := filepath.Join(dir, w.namespace, "quick", "report.html")
	if text, err := os.ReadFile(path); err != nil || string(text) != "<p>done" || !strings.HasSuffix(out.String(), "costly is slower\nreport: "+path+"\n") {
		t.Errorf("it fetches %q, %v, and prints %s", text, err, out.String())
	}
	if printed, err := execute(t, "compare", "quick", w.namespace+"/quick", "--system-namespace", w.namespace); err == nil || !strings.Contains(err.Error(), "manifest.json") {
		t.Errorf("comparing a run without records prints %s and ends with %v", printed, err)
	}
	// An ended run is not silently measured again.
	if _, err := execute(t, "run", ofImages(t), "--cluster"); err == nil || status(err) != statusBadInput || !strings.Contains(err.Error(), "has already ended: use --replace") {
		t.Errorf("the same again ends with %v", err)
	}
	if printed, err := execute(t, "wait", "quick"); err == nil || status(err) != statusInconclusive || printed != "costly is slower\n" {
		t.Errorf("waiting prints %q and ends with %v", printed, err)
	}
	w.endsForPrograms(t)
	if printed, err := execute(t, "list"); err != nil || !strings.Contains(printed, "quick  Succeeded  14/14     -     ") {
		t.Errorf("list prints %q, %v", printed, err)
	}
}

// endsForPrograms checks how an ended run is printed for programs.
func (w *cluster) endsForPrograms(t *testing.T) {
	t.Helper()
	var end screen.End
	printed, err := execute(t, "wait", "quick", "--output", "yaml")
	if status(err) != statusInconclusive || yaml.UnmarshalStrict([]byte(printed), &end) != nil || end.Verdict != "costly is slower" || end.Conclusive {
		t.Errorf("waiting prints %q and ends with %v", printed, err)
	}
	printed, err = execute(t, "watch", "quick", "--output", "json", "--system-namespace", w.namespace, "--out", t.TempDir())
	lines := strings.Split(strings.TrimSpace(printed), "\n")
	end = screen.End{}
	if status(err) != statusInconclusive || json.Unmarshal([]byte(lines[len(lines)-1]), &end) != nil || end.Event != "end" || !strings.HasSuffix(end.Report, "report.html") {
		t.Errorf("watching prints %q and ends with %v", printed, err)
	}
}

func TestClusterRunPrintsJSONEvents(t *testing.T) {
	w := newCluster(t)
	ctx, cancel := context.WithCancel(t.Context())
	out, end := begin(ctx, "run", ofImages(t), "--cluster", "--output", "json")
	until(t, out, `"message":"waiting for the operator"`)
	cancel()
	if err := <-end; err == nil || status(err) != statusInterrupted {
		t.Errorf("interrupted, it ends with %v", err)
	}
	again, end := begin(t.Context(), "run", ofImages(t), "--cluster", "--output", "json")
	until(t, again, `"message":"waiting for the operator"`)
	w.update("quick", func(s *v1alpha1.BenchmarkRunStatus) {
		now := metav1.Now()
		s.CompletionTime, s.Verdict = &now, "costly is slower"
		s.Conditions = []metav1.Condition{
			condition(v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone, "costly is slower"),
			condition(v1alpha1.ConditionConclusive, metav1.ConditionTrue, v1alpha1.ReasonDone, "x"),
		}
	})
	if err := <-end; err != nil {
		t.Errorf("it ends with %v", err)
	}
	for text, want := range map[string]string{
		out.String(): "benchmarkrun " + w.namespace + "/quick created", again.String(): "benchmarkrun " + w.namespace + "/quick already exists and is in progress: following it",
	} {
		var last struct {
			Event, Message, Verdict string
			Interrupted             bool
		}
		for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
			last.Message = ""
			if err := json.Unmarshal([]byte(line), &last); err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			if i == 0 && (last.Event != "note" || last.Message != want) {
				t.Errorf("it begins with %s", line)
			}
		}
		if last.Event != "end" || last.Interrupted == (last.Verdict == "costly is slower") {
			t.Errorf("it ends with %+v", last)
		}
	}
}

// A later run with the name of a deleted one is not its result.
func TestRecreatedRunIsNotFollowed(t *testing.T) {
	w := newCluster(t)
	out, end := begin(t.Context(), "run", ofImages(t), "--cluster")
	until(t, out, "waiting for the operator")
	key := client.ObjectKey{Namespace: w.namespace, Name: "quick"}
	var first v1alpha1.BenchmarkRun
	w.must(w.c.Get(t.Context(), key, &first))
	w.must(w.c.Delete(t.Context(), &first))
	second := first.DeepCopy()
	second.ObjectMeta = metav1.ObjectMeta{Namespace: w.namespace, Name: "quick"}
	w.create(second)
	select {
	case err := <-end:
		if err == nil || status(err) != statusFailed || !strings.Contains(err.Error(), "was deleted while the command followed it") {
			t.Errorf("it ends with %v", err)
		}
	case <-time.After(patience):
		t.Errorf("it follows the other run: %s", out.String())
	}
}

func TestReplaceFailsIfOperatorDoesNotDelete(t *testing.T) {
	w := newCluster(t)
	var held v1alpha1.BenchmarkRun
	out, _ := begin(t.Context(), "run", ofImages(t), "--cluster")
	until(t, out, "waiting for the operator")
	w.must(w.c.Get(t.Context(), client.ObjectKey{Namespace: w.namespace, Name: "quick"}, &held))
	held.Finalizers = []string{"loadstone.dev/test"}
	w.must(w.c.Update(t.Context(), &held))
	var said []string
	again := held.DeepCopy()
	again.ObjectMeta = metav1.ObjectMeta{Namespace: w.namespace, Name: "quick"}
	applies := func(within time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), within)
		defer cancel()
		said = nil
		_, err := kube.Applier{Client: w.c, Replace: true, Note: func(text string) { said = append(said, text) }}.Apply(ctx, again)
		return err
	}
	// On a busy machine the time may be over before the run is deleted.
	within := 3 * time.Second
	err := applies(within)
	for ; within < patience && err != nil && !strings.Contains(err.Error(), "waiting for the deletion"); within *= 4 {
		err = applies(within)
	}
	if err == nil || !strings.HasSuffix(err.Error(), "the operator does not remove it: check with loadstone doctor that the operator is running") {
		t.Errorf("it ends with %v", err)
	}
	if len(said) != 1 || !strings.HasPrefix(said[0], "deleting benchmarkrun ") || !strings.HasSuffix(said[0], "/quick first: waiting until its load stops") {
		t.Errorf("it says %q", said)
	}
	w.must(w.c.Get(t.Context(), client.ObjectKeyFromObject(&held), &held))
	held.Finalizers = nil
	w.must(w.c.Update(t.Context(), &held))
}

func TestInterruptLeavesOrDeletesClusterRun(t *testing.T) {
	w := newCluster(t)
	key := client.ObjectKey{Namespace: w.namespace, Name: "quick"}
	ctx, cancel := context.WithCancel(t.Context())
	out, end := begin(ctx, "run", ofImages(t), "--cluster")
	until(t, out, "waiting for the operator")
	cancel()
	if err := <-end; err == nil || status(err) != statusInterrupted || !strings.Contains(err.Error(), "follow it with loadstone watch quick --namespace "+w.namespace) {
		t.Errorf("it ends with %v", err)
	}
	w.must(w.c.Get(t.Context(), key, &v1alpha1.BenchmarkRun{}))
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	out, end = begin(ctx, "run", ofImages(t), "--cluster", "--delete-on-interrupt")
	until(t, out, "quick already exists and is in progress: following it\nwaiting for the operator")
	cancel()
	if err := <-end; err == nil || status(err) != statusInterrupted || !strings.Contains(err.Error(), "interrupted: deleted BenchmarkRun") {
		t.Errorf("it ends with %v", err)
	}
	if err := w.c.Get(t.Context(), key, &v1alpha1.BenchmarkRun{}); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("the run is still there: %v", err)
	}
}

func TestExistingDifferentRunIsRefused(t *testing.T) {
	w := newCluster(t)
	out, end := begin(t.Context(), "run", ofImages(t), "--cluster")
	until(t, out, "waiting for the operator")
	other := written(t, "run.yaml", "command: [./plain], port: 8080}\n  - {name: costly, command: [./costly]", "image: c, port: 8080}\n  - {name: costly, image: d")
	if _, err := execute(t, "run", other, "--cluster"); err == nil || status(err) != statusBadInput || !strings.Contains(err.Error(), "already exists with a different spec") {
		t.Errorf("another run of its name ends with %v", err)
	}
	w.must(w.c.Delete(t.Context(), &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "quick"}}))
	if err := <-end; err == nil || status(err) != statusFailed || !strings.Contains(err.Error(), "was deleted while the command followed it") {
		t.Errorf("a run that is deleted ends with %v", err)
	}
	if _, err := execute(t, "wait", "quick"); err == nil || status(err) != statusBadInput || !strings.Contains(err.Error(), "there is no BenchmarkRun quick in namespace "+w.namespace) {
		t.Errorf("waiting for none ends with %v", err)
	}
	replaced, end := begin(t.Context(), "run", other, "--cluster", "--replace")
	until(t, replaced, "created\nwaiting for the operator")
	w.update("quick", func(s *v1alpha1.BenchmarkRunStatus) {
		now := metav1.Now()
		s.CompletionTime = &now
		s.Conditions = []metav1.Condition{condition(v1alpha1.ConditionSucceeded, metav1.ConditionFalse, v1alpha1.ReasonNotEnoughCPUs, "no node has 9 CPUs")}
	})
	if err := <-end; err == nil || status(err) != statusBadInput || err.Error() != "NotEnoughCPUs: no node has 9 CPUs" {
		t.Errorf("a run that no node can hold ends with %v", err)
	}
}

func TestWaitTimesOut(t *testing.T) {
	w := newCluster(t)
	out, _ := begin(t.Context(), "run", ofImages(t), "--cluster")
	until(t, out, "waiting for the operator")
	if _, err := execute(t, "wait", "quick", "--timeout", "100ms"); err == nil || status(err) != statusFailed || !strings.Contains(err.Error(), "is still running after 100ms") {
		t.Errorf("it ends with %v", err)
	}
	if printed, err := execute(t, "__complete", "watch", ""); err != nil || !strings.HasPrefix(printed, "quick\tNew\n:4\n") {
		t.Errorf("a shell completes %q, %v", printed, err)
	}
	if printed, err := execute(t, "__complete", "watch", "--context", "away", ""); err != nil || !strings.HasPrefix(printed, ":4\n") {
		t.Errorf("a shell without a cluster completes %q, %v", printed, err)
	}
	if printed, err := execute(t, "list", "--namespace", w.namespace, "-o", "json"); err != nil || !strings.Contains(printed, `"state": "New"`) {
		t.Errorf("list prints %s, %v", printed, err)
	}
}

func TestMissingClusterPartsAreReported(t *testing.T) {
	w := newCluster(t)
	there := &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "there"}}
	there.Spec.Implementations = []v1alpha1.Implementation{{Name: "go", Image: "go:dev", Port: 8080}}
	there.Spec.Loads = []v1alpha1.Load{{Name: "sweep", Tool: v1alpha1.ToolWrk, Levels: []v1alpha1.Level{{Connections: 100}}}}
	w.create(there)
	images := ofImages(t)
	for name, tc := range map[string]struct {
		args []string
		want string
		code int
	}{
		"it does not answer":             {[]string{"run", images, "--context", "away"}, "cannot reach the cluster at https://127.0.0.1:1: start it, or choose another one with --context", statusFailed},
		"no such namespace":              {[]string{"run", images, "--namespace", "nowhere"}, "the cluster has no namespace nowhere: create it with kubectl create namespace nowhere", statusBadInput},
		"no such run":                    {[]string{"report", "quick"}, "there is no BenchmarkRun quick in namespace " + w.namespace, statusBadInput},
		"no operator":                    {[]string{"compare", "there", "there"}, "found 0 operators in namespace loadstone-system: choose one with --system-namespace", statusFailed},
		"no image, which a cluster asks": {[]string{"run", written(t, "run.yaml", "", ""), "--cluster"}, "spec.implementations[0].image is missing", statusBadInput},
		"another namespace in the file":  {[]string{"run", written(t, "run.yaml", "name: quick", "name: quick, namespace: a"), "-n", "b"}, "spec.implementations[0].image is missing", statusBadInput},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := execute(t, tc.args...); err == nil || !strings.Contains(err.Error(), tc.want) || status(err) != tc.code || strings.Contains(err.Error(), "\n") {
				t.Errorf("it ends with %v\nwant %d and %q", err, tc.code, tc.want)
			}
		})
	}
}

func TestEveryCommandReportsMissingInstallation(t *testing.T) {
	images, kubeconfig := ofImages(t), emptyKubeconfig(t)
	for name, tc := range map[string]struct{ groups, want string }{
		"none at all":  {`[{"name": "apps", "versions": [{"version": "v1"}]}]`, "found no Loadstone in the cluster at http://"},
		"an older one": {`[{"name": "loadstone.dev", "versions": [{"version": "v1alpha0"}]}]`, "the cluster has a different version of Loadstone: it does not serve loadstone.dev/v1alpha1: upgrade the older one"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprintf(w, `{"kind": "APIGroupList", "apiVersion": "v1", "groups": %s}`, tc.groups)
			}))
			defer server.Close()
			for _, command := range [][]string{{"run", images}, {"list"}, {"watch", "quick"}, {"wait", "quick"}, {"report", "quick"}, {"suite", "list"}} {
				out, err := execute(t, append(command, "--server", server.URL, "--kubeconfig", kubeconfig)...)
				if err == nil || out != "" || status(err) != statusFailed || !strings.HasPrefix(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
					t.Errorf("%s prints %q and ends with %v, want %q", command[0], out, err, tc.want)
				}
			}
		})
	}
}

func TestListLocalResults(t *testing.T) {
	dir := t.TempDir()
	if out, err := execute(t, "list", "--here", "--folder", filepath.Join(dir, "none")); err != nil || out != "no runs found\n" {
		t.Errorf("it prints %q, %v", out, err)
	}
	for name, text := range map[string]string{
		"a/plan.json": "{}", "a/manifest.json": `{"run": {"name": "quick"}, "trials": [{}, {}]}`, "b/plan.json": "{}", "c/other.txt": "",
		"a/reports/1/report.json": `{"verdict": "costly is slower"}`,
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	out, err := execute(t, "list", "--here", "--folder", dir)
	if err != nil || !strings.Contains(out, "  quick  Ended        2 trials  -     ") || !strings.Contains(out, "  costly is slower\n") || !strings.Contains(out, "  b      Interrupted  -") || strings.Contains(out, "other") {
		t.Errorf("it prints %s, %v", out, err)
	}
}
