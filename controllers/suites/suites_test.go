package suites

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/yaml"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/testbed"
)

// world is a real API server with the reconciler of suites, and a real registry. No run is measured: the test ends them.
type world struct {
	t         *testing.T
	config    *rest.Config
	c         client.Client
	operator  *testbed.Installation
	namespace string
	scheme    *runtime.Scheme
	// address is the registry's.
	address     string
	concurrency v1alpha1.Concurrency
	history     v1alpha1.History
	gate        v1alpha1.Gate
	webhook     v1alpha1.WebhookTrigger
	sinks       []v1alpha1.Notification
	// parameters are in addition to the image.
	parameters []v1alpha1.Parameter
	// forge is the way to GitHub; nil where no suite tells it.
	forge http.RoundTripper
	// reports is the operator's object store; nil where no suite asks for it.
	reports artifact.Runs
	// ahead is how much the clock of those who tell sinks is ahead, and fails makes them fail to write down what they have told.
	ahead atomic.Int64
	fails atomic.Bool
	stop  func()
}

var worlds atomic.Int32

// newWorld runs the test in parallel with others: each mostly waits, in a separate namespace with its own operator.
func newWorld(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	w := &world{t: t, config: testbed.Cluster(t, "../.."), scheme: runtime.NewScheme(), namespace: fmt.Sprintf("suites-%d", worlds.Add(1))}
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		w.must(add(w.scheme))
	}
	var err error
	w.c, err = client.New(w.config, client.Options{Scheme: w.scheme})
	w.must(err)
	w.must(w.c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}))
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	w.address = strings.TrimPrefix(server.URL, "http://")
	w.operator = testbed.Install(t, w.config, "../..", "loadstone-system")
	w.start()
	t.Cleanup(func() { w.stop() })
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// start starts an operator. Its stop ends it as SIGTERM would.
func (w *world) start() {
	w.t.Helper()
	again := true
	m, err := ctrl.NewManager(w.operator.Config, ctrl.Options{
		Scheme: w.scheme, Metrics: metricsserver.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: &again},
		GracefulShutdownTimeout: new(testbed.Patience),
		Cache:                   cache.Options{DefaultNamespaces: map[string]cache.Config{w.namespace: {}}},
	})
	w.must(err)
	r := &Reconciler{Client: m.GetClient(), Live: m.GetAPIReader(), Recorder: m.GetEventRecorder("loadstone"), Registry: Registries(http.DefaultTransport), Reports: w.reports, Now: time.Now}
	w.must(r.SetupWithManager(m))
	w.must(w.teller(m).SetupWithManager(m))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- m.Start(ctx) }()
	w.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			w.t.Errorf("the operator ended: %v", err)
		}
	})
}

// push puts a new image behind a tag of the registry.
func (w *world) push(options ...remote.Option) {
	w.t.Helper()
	image, err := random.Image(16, 1)
	w.must(err)
	ref, err := name.ParseReference(w.address + "/shop/checkout:main")
	w.must(err)
	w.must(remote.Write(ref, image, options...))
}

const template = `{"implementations": [{"name": "a", "image": "$(image)", "port": 8080}], "loads": [{"name": "l", "tool": "wrk", "levels": [{"connections": %d}]}]}`

// apply creates or changes the suite of the test, as a GitOps tool does.
func (w *world) apply(images v1alpha1.Images, templates ...string) *v1alpha1.BenchmarkSuite {
	w.t.Helper()
	s := &v1alpha1.BenchmarkSuite{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "checkout"}}
	s.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("BenchmarkSuite"))
	s.Spec.Parameters = append([]v1alpha1.Parameter{{Name: "image", Default: w.address + "/shop/checkout:main"}}, w.parameters...)
	s.Spec.Triggers.Change = v1alpha1.ChangeTrigger{Images: images, IntervalSeconds: 10}
	s.Spec.Concurrency, s.Spec.History, s.Spec.Gate, s.Spec.Triggers.Webhook, s.Spec.Notifications = w.concurrency, w.history, w.gate, w.webhook, w.sinks
	for i, text := range templates {
		run := v1alpha1.SuiteRun{Name: fmt.Sprintf("r%d", i), Template: v1alpha1.RunTemplate{Spec: apiextensionsv1.JSON{Raw: []byte(text)}}}
		s.Spec.Runs = append(s.Spec.Runs, run)
	}
	text, err := json.Marshal(map[string]any{"apiVersion": s.APIVersion, "kind": s.Kind, "metadata": map[string]any{"name": s.Name, "namespace": s.Namespace}, "spec": s.Spec})
	w.must(err)
	w.must(w.c.Patch(w.t.Context(), s, client.RawPatch("application/apply-patch+yaml", text), client.FieldOwner("git"), client.ForceOwnership))
	return s
}

// await reads the suite until it is as wanted.
func (w *world) await(what string, wanted func(*v1alpha1.BenchmarkSuite) bool) *v1alpha1.BenchmarkSuite {
	w.t.Helper()
	s := &v1alpha1.BenchmarkSuite{}
	for deadline := time.Now().Add(testbed.Patience); ; time.Sleep(testbed.LookEvery) {
		w.must(w.c.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: "checkout"}, s))
		if wanted(s) {
			return s
		}
		if time.Now().After(deadline) {
			text, err := json.MarshalIndent(s.Status, "", " ")
			w.must(err)
			w.t.Fatalf("%s has not come about:\n%s", what, text)
		}
	}
}

// is reports whether a condition of the current spec has a status and a reason.
func is(kind string, status metav1.ConditionStatus, reason string) func(*v1alpha1.BenchmarkSuite) bool {
	return func(s *v1alpha1.BenchmarkSuite) bool {
		c := meta.FindStatusCondition(s.Status.Conditions, kind)
		return c != nil && c.ObservedGeneration == s.Generation && c.Status == status && c.Reason == reason
	}
}

func measures(round int32) func(*v1alpha1.BenchmarkSuite) bool {
	return func(s *v1alpha1.BenchmarkSuite) bool { return s.Status.Current.Round == round }
}

// runs are the runs of the suite, by name.
func (w *world) runs() []v1alpha1.BenchmarkRun {
	w.t.Helper()
	var list v1alpha1.BenchmarkRunList
	w.must(w.c.List(w.t.Context(), &list, client.InNamespace(w.namespace)))
	return list.Items
}

// end ends all runs, each with a reason.
func (w *world) end(status metav1.ConditionStatus, reason, message string) {
	w.t.Helper()
	for _, run := range w.runs() {
		if run.Status.CompletionTime != nil {
			continue
		}
		over(&run, status, reason, message)
		w.must(w.c.Status().Update(w.t.Context(), &run))
	}
}

func over(run *v1alpha1.BenchmarkRun, status metav1.ConditionStatus, reason, message string) {
	now := metav1.Now()
	run.Status = v1alpha1.BenchmarkRunStatus{CompletionTime: &now, Verdict: message}
	run.Status.Report.URI = fmt.Sprintf("s3://bench/%s/reports/0123456789ab/report.html", lies(run))
	run.Status.Report.ManifestSHA256 = manifestOf(run)
	meta.SetStatusCondition(&run.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionSucceeded, Status: status, Reason: reason, Message: message})
	meta.SetStatusCondition(&run.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionConclusive, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonDone})
}

// lies is where a run lies in the object store.
func lies(r *v1alpha1.BenchmarkRun) string {
	return fmt.Sprintf("%s/%s-%.8s", r.Namespace, r.Name, r.UID)
}

func manifestOf(r *v1alpha1.BenchmarkRun) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(r.UID)))
}

// poke makes the operator look at the suite again, and waits until it has: the annotation is answered by no round.
func (w *world) poke() {
	w.t.Helper()
	for i := range 5 {
		s := &v1alpha1.BenchmarkSuite{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "checkout"}}
		patch := fmt.Appendf(nil, `{"metadata": {"labels": {"poke": "%d-%d"}}}`, i, time.Now().UnixNano())
		w.must(w.c.Patch(w.t.Context(), s, client.RawPatch("application/merge-patch+json", patch)))
	}
}

// wantRuns wants the runs of so many rounds of two, each owned by the suite.
func (w *world) wantRuns(n int) []string {
	w.t.Helper()
	var names []string
	for _, run := range w.runs() {
		if owner := metav1.GetControllerOf(&run); owner == nil || owner.Kind != "BenchmarkSuite" {
			w.t.Errorf("%s is not the suite's: %+v", run.Name, run.OwnerReferences)
		}
		names = append(names, run.Name)
	}
	if len(names) != n {
		w.t.Errorf("there are the runs %q, want %d", names, n)
	}
	return names
}

func TestARoundIsMadeOnce(t *testing.T) {
	w := newWorld(t)
	w.push()
	small, large := fmt.Sprintf(template, 10), fmt.Sprintf(template, 100)
	w.apply(v1alpha1.ImagesResolve, small, large)
	w.await("the first round", measures(1))
	first := w.wantRuns(2)
	for _, run := range w.runs() {
		if image := run.Spec.Implementations[0].Image; !strings.HasPrefix(image, w.address+"/shop/checkout:main@sha256:") {
			t.Errorf("the image %s has no digest", image)
		}
	}
	w.poke()
	w.apply(v1alpha1.ImagesResolve, small, large)
	w.stop()
	w.start()
	w.poke()
	w.end(metav1.ConditionTrue, v1alpha1.ReasonDone, "all objectives met")
	s := w.await("readiness", is(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonDone))
	if s.Status.LastGood.Round != 1 || s.Status.LastRound.Outcome != v1alpha1.RoundPassed {
		t.Errorf("the status is %+v", s.Status)
	}
	if diff := slices.Compare(first, w.wantRuns(2)); diff != 0 {
		t.Errorf("there are other runs than %q", first)
	}

	w.push()
	w.await("the round of another image", measures(2))
	w.wantRuns(4)
	w.stop()
	w.start()
	w.poke()
	w.end(metav1.ConditionFalse, v1alpha1.ReasonObjectivesMissed, "p99 +23 %, at most +10 % wanted")
	s = w.await("a stall", is(v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonObjectivesMissed))
	if c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionReady); c.Status != metav1.ConditionFalse || !strings.Contains(c.Message, "+23 %") {
		t.Errorf("Ready is %+v", c)
	}
	w.wantRuns(4)
	w.await("an event", func(*v1alpha1.BenchmarkSuite) bool {
		var events corev1.EventList
		w.must(w.c.List(t.Context(), &events, client.InNamespace(w.namespace)))
		return slices.ContainsFunc(events.Items, func(e corev1.Event) bool {
			return e.InvolvedObject.Kind == "BenchmarkSuite" && e.Type == corev1.EventTypeWarning && e.Reason == v1alpha1.ReasonObjectivesMissed && strings.Contains(e.Message, "+23 %")
		})
	})

	w.ask(v1alpha1.AnnotationReconcileAt, "now")
	s = w.await("a round by request", measures(3))
	if s.Status.LastHandledReconcileAt != "now" || s.Status.Current.Trigger != v1alpha1.TriggerRequest {
		t.Errorf("the status is %+v", s.Status)
	}
	w.wantRuns(6)
}

const compared = `{"implementations": [{"name": "a", "image": "$(image)", "port": 8080}, {"name": "anchor", "image": "anchor:1", "port": 8080}],
	"baseline": "anchor", "loads": [{"name": "l", "tool": "wrk", "levels": [{"connections": %d}]}],
	"objectives": [{"metric": "Regression", "of": "Throughput", "min": "0.95", "against": {"lastGood": 3, "anchor": "anchor"}}]}`

// A round names the runs of the last good ones, also of those that the history has deleted; and what they are is no input of the suite.
func TestRoundsAreComparedWithTheLastGoodOnes(t *testing.T) {
	w := newWorld(t)
	none := int32(0)
	w.history = v1alpha1.History{Passed: &none, Failed: &none}
	var good []v1alpha1.PastRun
	for round := int32(1); round <= 5; round++ {
		w.apply(v1alpha1.ImagesAsWritten, fmt.Sprintf(compared, 10*round))
		s := w.await("the round", measures(round))
		i := slices.IndexFunc(w.runs(), func(r v1alpha1.BenchmarkRun) bool { return r.Status.CompletionTime == nil })
		run := w.runs()[i]
		against := run.Spec.Objectives[0].Against
		want := good
		if len(good) < 3 {
			want = nil
		}
		if !slices.Equal(against.Runs, want) || (against.LastGood == 3) != (len(want) == 0) || len(s.Status.Current.Against) != len(want) {
			t.Errorf("round %d is compared with %+v, want %+v; it says %d", round, against, want, s.Status.Current.Against)
		}
		if round == 3 { // The others are good.
			w.end(metav1.ConditionFalse, v1alpha1.ReasonObjectivesMissed, "throughput -12 %, at least -5 % wanted")
			w.await("a stall", is(v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonObjectivesMissed))
			continue
		}
		w.end(metav1.ConditionTrue, v1alpha1.ReasonDone, "all objectives met")
		s = w.await("a good round", func(s *v1alpha1.BenchmarkSuite) bool { return s.Status.LastGood.Round == round })
		good = append([]v1alpha1.PastRun{{Name: run.Name, UID: string(run.UID), ManifestSHA256: manifestOf(&run)}}, good...)
		if few := strings.Contains(s.Status.LastGood.Message, "r0: too few good rounds to compare with yet"); few != (len(want) == 0) {
			t.Errorf("round %d says %q", round, s.Status.LastGood.Message)
		}
	}
	w.await("the memory of all good rounds, of which one has runs", func(s *v1alpha1.BenchmarkSuite) bool {
		return len(s.Status.GoodRounds) == 4 && len(w.runs()) == 1
	})
}

func TestNothingStartsWithoutTheRegistry(t *testing.T) {
	w := newWorld(t)
	w.apply(v1alpha1.ImagesResolve, fmt.Sprintf(template, 10))
	w.await("that the tag is missed", is(v1alpha1.ConditionImagesResolved, metav1.ConditionFalse, v1alpha1.ReasonImageNotFound))
	address := w.address
	w.address = "127.0.0.1:1"
	w.apply(v1alpha1.ImagesResolve, fmt.Sprintf(template, 10))
	w.await("that the registry is away", is(v1alpha1.ConditionReady, metav1.ConditionUnknown, v1alpha1.ReasonRegistryUnavailable))
	w.poke()
	w.wantRuns(0)
	w.address = address
	w.apply(v1alpha1.ImagesAsWritten, fmt.Sprintf(template, 10))
	w.await("a round without the registry", measures(1))
	w.wantRuns(1)
}

func TestARegistryIsAskedWithThePasswordsThatANamespaceLetsTheOperatorRead(t *testing.T) {
	const user, password = "puller", "open sesame"
	images := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if u, p, _ := r.BasicAuth(); u != user || p != password {
			rw.Header().Set("WWW-Authenticate", `Basic realm="images"`)
			rw.WriteHeader(http.StatusUnauthorized)
			return
		}
		images.ServeHTTP(rw, r)
	}))
	t.Cleanup(server.Close)
	w := newWorld(t)
	w.operator.Expect("get secrets") // Before the namespace permits it.
	w.address = strings.TrimPrefix(server.URL, "http://")
	w.push(remote.WithAuth(&authn.Basic{Username: user, Password: password}))
	config := fmt.Sprintf(`{"auths": {%q: {"username": %q, "password": %q}}}`, w.address, user, password)
	for name, text := range map[string]string{"images": config, "others": `{"auths": {"elsewhere.example": {"username": "a", "password": "b"}}}`, "wrong": strings.Replace(config, password, "wrong", 1)} {
		w.must(w.c.Create(t.Context(), &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name},
			Type:       corev1.SecretTypeDockerConfigJson, Data: map[string][]byte{corev1.DockerConfigJsonKey: []byte(text)},
		}))
	}
	says := func(text string) func(*v1alpha1.BenchmarkSuite) bool {
		return func(s *v1alpha1.BenchmarkSuite) bool {
			c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionImagesResolved)
			return is(v1alpha1.ConditionImagesResolved, metav1.ConditionFalse, v1alpha1.ReasonRegistryUnavailable)(s) && strings.Contains(c.Message, text)
		}
	}
	secret := func(name string) string {
		return strings.Replace(fmt.Sprintf(template, 10), `"port": 8080`, `"port": 8080, "imagePullSecrets": [{"name": "`+name+`"}]`, 1)
	}

	w.apply(v1alpha1.ImagesResolve, fmt.Sprintf(template, 10))
	w.await("that the registry tells nobody", says("add the pull Secret to imagePullSecrets"))
	w.apply(v1alpha1.ImagesResolve, secret("images"))
	w.await("that the Secret may not be read", says("the operator may not read the Secret images"))
	// No look at the suite that comes between these lines finds a password.
	w.apply(v1alpha1.ImagesResolve, secret("others"))
	w.await("that the other may not be read", says("the operator may not read the Secret others"))
	w.permit("pull-secret.yaml", "registry", "images", "others", "wrong", "absent")
	w.apply(v1alpha1.ImagesResolve, secret("absent"))
	w.await("that there is no such Secret", says(`"absent" not found`))
	w.apply(v1alpha1.ImagesResolve, secret("others"))
	w.await("that the registry gets the password of no other", says("denies the operator access to"))
	w.wantRuns(0)
	w.apply(v1alpha1.ImagesResolve, secret(`wrong"}, {"name": "images`))
	w.await("a round of what the tag names", measures(1))
	if image := w.runs()[0].Spec.Implementations[0].Image; !strings.HasPrefix(image, w.address+"/shop/checkout:main@sha256:") {
		t.Errorf("the run measures %s", image)
	}
}

// permit lets the operator read some Secrets of the suite's namespace by a sample, which names another, and waits until the API server has learned of it.
func (w *world) permit(sample, other string, secrets ...string) {
	w.t.Helper()
	text, err := os.ReadFile("../../config/gitops/" + sample)
	w.must(err)
	documents := strings.Split(strings.Replace(string(text), "["+other+"]", "["+strings.Join(secrets, ", ")+"]", 1), "\n---\n")
	for i, o := range []client.Object{&rbacv1.Role{}, &rbacv1.RoleBinding{}} {
		w.must(yaml.Unmarshal([]byte(documents[i]), o))
		o.SetNamespace(w.namespace)
		w.must(w.c.Create(w.t.Context(), o))
	}
	c, err := client.New(w.operator.Config, client.Options{Scheme: w.scheme})
	w.must(err)
	testbed.Await(w.t, "the right to read "+secrets[0], func() bool {
		return c.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: secrets[0]}, &corev1.Secret{}) == nil
	})
}

func TestAChangeReplacesARound(t *testing.T) {
	w := newWorld(t)
	w.concurrency = v1alpha1.ConcurrencyReplace
	w.apply(v1alpha1.ImagesAsWritten, fmt.Sprintf(template, 10))
	w.await("the first round", measures(1))
	first := w.wantRuns(1)
	w.apply(v1alpha1.ImagesAsWritten, fmt.Sprintf(template, 20))
	s := w.await("the second round", measures(2))
	if len(s.Status.History) != 1 || s.Status.History[0].Outcome != v1alpha1.RoundReplaced {
		t.Errorf("the history is %+v", s.Status.History)
	}
	if second := w.wantRuns(1); slices.Equal(first, second) {
		t.Errorf("the run %q was not replaced", first)
	}
	w.must(w.c.Delete(t.Context(), &w.runs()[0]))
	w.await("that the run which somebody has deleted is made again", func(*v1alpha1.BenchmarkSuite) bool { return len(w.runs()) == 1 })
}

func TestATypoHurtsNoRound(t *testing.T) {
	w := newWorld(t)
	good := fmt.Sprintf(template, 10)
	w.apply(v1alpha1.ImagesAsWritten, good)
	w.await("the first round", measures(1))
	for what, bad := range map[string]struct{ text, said string }{
		"a field that there is not":        {strings.Replace(good, "levels", "level", 1), `unknown field "loads[0].level"`},
		"a value of another type":          {strings.Replace(good, "8080", `"8080"`, 1), "runs[r0]"},
		"what the schema refuses":          {fmt.Sprintf(template, 0), "connections"},
		"what a rule refuses":              {strings.Replace(good, `"loads"`, `"baseline": "b", "loads"`, 1), "baseline must be the name of one of the implementations"},
		"no implementation":                {`{"loads": [{"name": "l", "tool": "wrk", "levels": [{"connections": 10}]}]}`, "implementations"},
		"a parameter that there is not":    {strings.Replace(good, "$(image)", "$(imgae)", 1), "imgae"},
		"what the plan finds out too late": {strings.Replace(good, `"port": 8080`, `"port": 8080, "cpus": 1, "memory": "1Mi"`, 1), "memory"},
	} {
		w.apply(v1alpha1.ImagesAsWritten, bad.text)
		s := w.await(what, is(v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonInvalidSpec))
		if c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionReady); !strings.Contains(c.Message, bad.said) {
			t.Errorf("%s: the message is %q, want %q", what, c.Message, bad.said)
		}
		if s.Status.Current.Round != 1 {
			t.Errorf("%s: the round in progress is %+v", what, s.Status.Current)
		}
		w.wantRuns(1)
	}
	w.apply(v1alpha1.ImagesAsWritten, good)
	w.end(metav1.ConditionTrue, v1alpha1.ReasonDone, "all objectives met")
	w.await("readiness", is(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonDone))
	w.wantRuns(1)
}

// A quota denies with another code than a schema. It can be raised, which no event reports.
func TestRunsThatAQuotaDeniesStallTheirSuiteUntilItIsRaised(t *testing.T) {
	w := newWorld(t)
	denied := func(what string) {
		t.Helper()
		s := w.await(what, is(v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonRunDenied))
		if c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionReady); c.Status != metav1.ConditionFalse || !strings.Contains(c.Message, "quota") {
			t.Errorf("%s: Ready is %+v", what, c)
		}
	}
	raised := func(round int32) {
		t.Helper()
		w.must(w.c.DeleteAllOf(t.Context(), &corev1.ResourceQuota{}, client.InNamespace(w.namespace)))
		w.await("the round", func(s *v1alpha1.BenchmarkSuite) bool {
			w.poke() // The operator asks again after a minute, or when the suite changes.
			return measures(round)(s)
		})
	}
	w.quota()
	w.apply(v1alpha1.ImagesAsWritten, fmt.Sprintf(template, 10))
	denied("that new inputs are denied")
	w.wantRuns(0)
	raised(1)
	w.end(metav1.ConditionTrue, v1alpha1.ReasonDone, "all objectives met")
	w.await("readiness", is(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonDone))
	w.quota()
	w.ask(v1alpha1.AnnotationRequestedAt, "again")
	denied("that a round of known inputs is denied")
	w.wantRuns(1)
	raised(2)
}

// quota prevents new runs, and waits until the API server enforces that.
func (w *world) quota() {
	w.t.Helper()
	const runs = "count/benchmarkruns.loadstone.dev"
	now := resource.MustParse(fmt.Sprint(len(w.runs())))
	limits := corev1.ResourceList{runs: now}
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "runs"}, Spec: corev1.ResourceQuotaSpec{Hard: limits}}
	w.must(w.c.Create(w.t.Context(), quota))
	quota.Status = corev1.ResourceQuotaStatus{Hard: limits, Used: limits} // No controller counts here.
	w.must(w.c.Status().Update(w.t.Context(), quota))
	testbed.Await(w.t, "the quota to deny a run", func() bool {
		probe := &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "probe"}}
		w.must(json.Unmarshal(fmt.Appendf(nil, template, 10), &probe.Spec))
		return apierrors.IsForbidden(w.c.Create(w.t.Context(), probe, client.DryRunAll))
	})
}

// ask asks for a round by an annotation.
func (w *world) ask(annotation, token string) {
	w.t.Helper()
	s := &v1alpha1.BenchmarkSuite{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "checkout"}}
	patch := fmt.Appendf(nil, `{"metadata": {"annotations": {%q: %q}}}`, annotation, token)
	w.must(w.c.Patch(w.t.Context(), s, client.RawPatch("application/merge-patch+json", patch)))
}
