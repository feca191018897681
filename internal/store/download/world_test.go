package download

import (
	"context"
	"crypto/ed25519"
	"net"
	"os"
	"strconv"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/yaml"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/config/samples"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/testbed"
)

// The commands have no manager, so this check is in a test.
var _ manager.LeaderElectionRunnable = (*Server)(nil)

func TestMain(m *testing.M) { os.Exit(testbed.Main(m)) }

const system = "loadstone-system"

var operatorKey = ed25519.NewKeyFromSeed([]byte("0123456789abcdef0123456789abcdef"))

// world is an API server with an installation's rights, an object store, runs in namespaces a and b, and an operator with its account's
// rights.
type world struct {
	t      *testing.T
	config *rest.Config
	c      client.Client
	store  *artifact.Store
	// operator is the chart's installation for the operator and its clients.
	operator *testbed.Installation
	// address is the operator's on a real interface: the API server's proxy refuses loopback.
	address string
	// behind are the Service's endpoints.
	//nolint:staticcheck // The proxy of this API server reads Endpoints, however deprecated they are.
	behind *corev1.Endpoints
	runs   map[string]*v1alpha1.BenchmarkRun
	pages  map[string]stored
}

type stored struct{ key, sha string }

// body is a page that an HTML-rewriting proxy would change.
func body(namespace string) []byte {
	return []byte(`<!doctype html><html><head><title>` + namespace + `</title></head><body><a href="/other/page.html">x</a></body></html>`)
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, config: testbed.Cluster(t, "../../.."), runs: map[string]*v1alpha1.BenchmarkRun{}, pages: map[string]stored{}}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		w.must(add(scheme))
	}
	var err error
	w.c, err = client.New(w.config, client.Options{Scheme: scheme})
	w.must(err)
	s := testbed.Store(t)
	w.store, err = artifact.Open(artifact.Config{Endpoint: s.Endpoint, Bucket: s.NewBucket(t), Region: "us-east-1", AccessKey: s.AccessKey, SecretKey: s.SecretKey})
	w.must(err)
	for _, name := range []string{"a", "b", "unled"} {
		w.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	for _, name := range []string{"a", "b"} {
		w.run(name)
	}
	w.operator = testbed.Install(t, w.config, "../../..", system)
	w.start(scheme)
	return w
}

func (w *world) create(o client.Object) {
	w.t.Helper()
	if err := w.c.Create(w.t.Context(), o); !apierrors.IsAlreadyExists(err) {
		w.must(err)
	}
}

// run makes a run with one page in its folder and one outside.
func (w *world) run(namespace string) {
	w.t.Helper()
	r := &v1alpha1.BenchmarkRun{}
	w.must(yaml.Unmarshal(samples.AA, r))
	r.Namespace, r.Name = namespace, "quick"
	w.must(w.c.Create(w.t.Context(), r))
	w.t.Cleanup(func() { w.must(w.c.Delete(context.Background(), r)) })
	r.Status.DownloadKey = RunKey(operatorKey, r.UID)
	w.must(w.c.Status().Update(w.t.Context(), r))
	page, err := w.store.Put(w.t.Context(), artifact.ReportKey(PrefixOf(r), "0123456789abcdef", "report.html"), "text/html; charset=utf-8", body(namespace))
	w.must(err)
	_, err = w.store.Put(w.t.Context(), "calibrations/"+namespace+".json", "application/json", []byte("{}"))
	w.must(err)
	w.runs[namespace], w.pages[namespace] = r, stored{page.Key, page.SHA256}
}

func (w *world) start(scheme *runtime.Scheme) {
	w.t.Helper()
	host := w.host()
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	w.must(err)
	w.address = l.Addr().String()
	w.must(l.Close())
	m, err := ctrl.NewManager(w.operator.Config, ctrl.Options{
		Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}, GracefulShutdownTimeout: new(testbed.Patience),
	})
	w.must(err)
	w.must(m.Add(&Server{Runs: m.GetClient(), Key: operatorKey, Leads: func(n string) bool { return n != "unled" }, Shelf: w.store, Addr: w.address}))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- m.Start(ctx) }()
	w.t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			w.t.Errorf("the operator ended: %v", err)
		}
	})
	w.must(wait.PollUntilContextTimeout(w.t.Context(), 10*time.Millisecond, 2*time.Minute, true, func(context.Context) (bool, error) {
		c, err := net.Dial("tcp", w.address)
		if err != nil {
			return false, nil //nolint:nilerr // Nobody listens yet: it is asked again.
		}
		return true, c.Close()
	}))
	w.expose(host)
}

// host is an address of this machine that the API server's proxy calls.
func (w *world) host() string {
	w.t.Helper()
	addresses, err := net.InterfaceAddrs()
	w.must(err)
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() && n.IP.To4() != nil {
			return n.IP.String()
		}
	}
	w.t.Skip("this machine has no address but the loopback interface's, which the API server's proxy refuses")
	return ""
}

// expose makes config/manager's Service, and what kubelet and controllers would add.
func (w *world) expose(host string) {
	w.t.Helper()
	_, portText, err := net.SplitHostPort(w.address)
	w.must(err)
	port, err := strconv.ParseInt(portText, 10, 32)
	w.must(err)
	text, err := os.ReadFile("../../../config/manager/service.yaml")
	w.must(err)
	service := &corev1.Service{}
	w.must(yaml.Unmarshal(text, service))
	service.Namespace = system
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: "default"}}
	w.create(account)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: "loadstone", Labels: service.Spec.Selector}}
	pod.Spec = corev1.PodSpec{NodeName: "node", Containers: []corev1.Container{{Name: "manager", Image: "manager"}}}
	w.must(w.c.Create(w.t.Context(), pod))
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, PodIP: host, PodIPs: []corev1.PodIP{{IP: host}}}
	w.must(w.c.Status().Update(w.t.Context(), pod))
	w.must(w.c.Create(w.t.Context(), service))
	//nolint:staticcheck // The API server's proxy reads Endpoints.
	w.behind = &corev1.Endpoints{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: service.Name}, Subsets: []corev1.EndpointSubset{{
		Addresses: []corev1.EndpointAddress{{IP: host, TargetRef: &corev1.ObjectReference{Kind: "Pod", Namespace: system, Name: pod.Name, UID: pod.UID}}},
		Ports:     []corev1.EndpointPort{{Name: "handout", Port: int32(port)}},
	}}}
	w.must(w.c.Create(w.t.Context(), w.behind))
	w.t.Cleanup(func() {
		for _, o := range []client.Object{w.behind, service, pod} {
			w.must(w.c.Delete(context.Background(), o, client.GracePeriodSeconds(0)))
		}
	})
}

// Tenant returns a reader's kubeconfig in a world whose run in namespace a has a report, and its page.
func Tenant(t *testing.T) (config *rest.Config, page string) {
	t.Helper()
	w := reported(t)
	return w.reader(), string(body("a"))
}

// Reported returns the administrator's kubeconfig in such a world, and the report's page.
func Reported(t *testing.T) (config *rest.Config, page string) {
	t.Helper()
	return reported(t).config, string(body("a"))
}

func reported(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	now, r := metav1.Now(), w.runs["a"]
	r.Status.StartTime, r.Status.CompletionTime = &now, &now
	r.Status.Report = v1alpha1.ReportRef{URI: w.store.URI(w.pages["a"].key), SHA256: w.pages["a"].sha}
	w.must(w.c.Status().Update(t.Context(), r))
	return w
}

func (w *world) reader() *rest.Config {
	w.t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "reader"}}
	w.create(account)
	w.create(&rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "reader"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{"loadstone.dev"}, Resources: []string{"benchmarkruns"}, Verbs: []string{"get"}}},
	})
	w.create(&rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "reader"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "reader"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "a", Name: "reader"}},
	})
	asked := &authenticationv1.TokenRequest{}
	w.must(w.c.SubResource("token").Create(w.t.Context(), account, asked))
	config := rest.AnonymousClientConfig(w.config)
	config.BearerToken = asked.Status.Token
	return config
}
