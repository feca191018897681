package server

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/config/samples"
	"loadstone.dev/loadstone/internal/client/kube"
	"loadstone.dev/loadstone/internal/testbed"
)

type world struct {
	t      *testing.T
	config *rest.Config
	c      client.WithWatch
	run    *v1alpha1.BenchmarkRun
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// create creates an object that an earlier test may have left.
func (w *world) create(o client.Object) {
	w.t.Helper()
	if err := w.c.Create(w.t.Context(), o); !apierrors.IsAlreadyExists(err) {
		w.must(err)
	}
}

func newWorld(t *testing.T, namespace string) *world {
	t.Helper()
	w := &world{t: t, config: testbed.Cluster(t, filepath.Join("..", "..", ".."))}
	var err error
	w.c, err = connect(t.Context(), w.config)
	w.must(err)
	w.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	w.run = &v1alpha1.BenchmarkRun{}
	w.must(yaml.Unmarshal(samples.AA, w.run))
	w.run.Namespace, w.run.Name = namespace, "quick"
	w.must(w.c.Create(t.Context(), w.run))
	t.Cleanup(func() { w.must(client.IgnoreNotFound(w.c.Delete(context.Background(), w.run))) })
	return w
}

func (w *world) flags(user, namespace string) *kube.Flags {
	w.t.Helper()
	k := clientcmdapi.NewConfig()
	k.Clusters["c"] = &clientcmdapi.Cluster{Server: w.config.Host, CertificateAuthorityData: w.config.CAData}
	k.AuthInfos["u"] = &clientcmdapi.AuthInfo{ClientCertificateData: w.config.CertData, ClientKeyData: w.config.KeyData, Token: w.config.BearerToken, Impersonate: user}
	k.Contexts["here"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u", Namespace: namespace}
	k.CurrentContext = "here"
	path := filepath.Join(w.t.TempDir(), "kubeconfig")
	w.must(clientcmd.WriteToFile(*k, path))
	w.t.Setenv("KUBECONFIG", path)
	return &kube.Flags{System: "loadstone-system", Note: func(string) {}}
}

type started struct {
	address string
	ended   chan error
	end     context.CancelFunc
}

func (w *world) start(k *kube.Flags, named bool) started {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	out, in := io.Pipe()
	s := started{ended: make(chan error, 1), end: cancel}
	go func() {
		err := run(ctx, k, named, 0, in)
		s.ended <- errors.Join(err, in.CloseWithError(err))
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	w.must(err)
	s.address, _, _ = strings.Cut(line, "/ shows Loadstone at ")
	w.t.Cleanup(cancel)
	return s
}

func (w *world) page(address string) (int, string) {
	w.t.Helper()
	answer, err := http.Get(address)
	w.must(err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	w.must(err)
	return answer.StatusCode, string(body)
}

func TestTheCommandServesUntilItIsEnded(t *testing.T) {
	w := newWorld(t, "ui-served")
	s := w.start(w.flags("", "ui-served"), false)
	if status, body := w.page(s.address + "/runs"); status != http.StatusOK || !strings.Contains(body, `<a href="/runs/ui-served/quick">quick</a>`) || strings.Contains(body, "You see namespace") {
		t.Errorf("the list is %d: %s", status, body)
	}
	stream := open(t, s.address+"/events")
	w.run.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionSucceeded, Status: metav1.ConditionUnknown, Reason: v1alpha1.ReasonQueued, Message: "another run measures", LastTransitionTime: metav1.Now()}}
	w.must(w.c.Status().Update(t.Context(), w.run))
	nextEvent(t, stream)
	until(t, func() bool {
		_, body := w.page(s.address + "/runs/ui-served/quick")
		return strings.Contains(body, "another run measures")
	})
	w.must(w.c.Delete(t.Context(), w.run))
	until(t, func() bool {
		status, _ := w.page(s.address + "/runs/ui-served/quick")
		return status == http.StatusNotFound
	})
	s.end()
	if err := <-s.ended; err != nil {
		t.Errorf("it ends with %v", err)
	}
	if _, err := io.ReadAll(stream); err != nil {
		t.Errorf("the stream ends with %v", err)
	}
}

func until(t *testing.T, so func() bool) {
	t.Helper()
	testbed.Await(t, "what the pages shall show", so)
}

func TestUserOfOneNamespaceSeesIt(t *testing.T) {
	w := newWorld(t, "ui-mine")
	other := &v1alpha1.BenchmarkRun{}
	w.must(yaml.Unmarshal(samples.AA, other))
	other.Namespace, other.Name = "default", "hidden"
	w.must(w.c.Create(t.Context(), other))
	t.Cleanup(func() { w.must(w.c.Delete(context.Background(), other)) })
	w.create(&rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: "ui-mine", Name: "viewer"}, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{"loadstone.dev"}, Resources: []string{"benchmarkruns", "trials"}, Verbs: []string{"get", "list", "watch"},
	}}})
	w.create(&rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ui-mine", Name: "viewer"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "viewer"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "jane"}},
	})
	s := w.start(w.flags("jane", "ui-mine"), false)
	if _, body := w.page(s.address + "/runs"); !strings.Contains(body, ">quick</a>") || strings.Contains(body, "hidden") || !strings.Contains(body, "You see namespace ui-mine alone: the cluster does not let you list all.") {
		t.Errorf("the list is %s", body)
	}
	if status, body := w.page(s.address + "/suites"); status != http.StatusForbidden || !strings.Contains(body, "cannot list resource &#34;benchmarksuites&#34;") {
		t.Errorf("the suites, which may not be listed, are %d: %s", status, body)
	}
	err := run(t.Context(), w.flags("jane", "default"), false, 0, io.Discard)
	if err == nil || !strings.Contains(err.Error(), `cannot list resource "benchmarkruns" in API group "loadstone.dev" in the namespace "default"`) {
		t.Errorf("who may list nothing gets %v", err)
	}
}

func TestNamespaceFlagShowsOneNamespace(t *testing.T) {
	w := newWorld(t, "ui-named")
	s := w.start(w.flags("", "default"), true)
	if _, body := w.page(s.address + "/runs"); strings.Contains(body, ">quick</a>") || !strings.Contains(body, "You see namespace default alone, as <code>--namespace</code> asks.") {
		t.Errorf("the list is %s", body)
	}
}

func TestUsedPortIsReported(t *testing.T) {
	w := newWorld(t, "ui-port")
	s := w.start(w.flags("", "ui-port"), false)
	_, port, _ := strings.Cut(strings.TrimPrefix(s.address, "http://"), ":")
	taken, err := strconv.ParseUint(port, 10, 16)
	w.must(err)
	if err := run(t.Context(), w.flags("", "ui-port"), false, uint16(taken), io.Discard); err == nil || !strings.Contains(err.Error(), "--port names another port") {
		t.Errorf("it ends with %v", err)
	}
}

func TestMirrorSurvivesEndedWatches(t *testing.T) {
	w := newWorld(t, "ui-mirror")
	var told sync.WaitGroup
	told.Add(1)
	first := sync.OnceFunc(told.Done)
	m := newMirror(w.c, "ui-mirror", "BenchmarkRuns", func() client.ObjectList { return &v1alpha1.BenchmarkRunList{} }, first)
	key := client.ObjectKeyFromObject(w.run)
	for range 2 { // The second begins after the first has ended.
		ctx, cancel := context.WithCancel(t.Context())
		over := make(chan struct{})
		go func() {
			defer close(over)
			m.follow(ctx)
		}()
		told.Wait()
		until(t, func() bool { return objectsOf(t, m)[key] })
		another := &v1alpha1.BenchmarkRun{}
		w.must(yaml.Unmarshal(samples.AA, another))
		another.Namespace, another.Name = "ui-mirror", "another"
		w.must(w.c.Create(t.Context(), another))
		until(t, func() bool { return len(objectsOf(t, m)) == 2 })
		w.must(w.c.Delete(t.Context(), another))
		until(t, func() bool { return len(objectsOf(t, m)) == 1 })
		cancel()
		<-over
	}
}
