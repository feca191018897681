package server

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/config/samples"
	"loadstone.dev/loadstone/internal/cluster/namespaces"
	"loadstone.dev/loadstone/internal/testbed"
	"loadstone.dev/loadstone/internal/ui"
)

func TestSharedPagesRefuseOtherHostNames(t *testing.T) {
	s := Shared{System: "system", Hosts: []string{"pages.example.com"}}
	for host, want := range map[string]bool{
		"localhost:8017": true, "localhost": true, "127.0.0.1:9": true, "[::1]:8017": true, "[::1]": true, "10.1.2.3:8080": true,
		"loadstone-ui.system": true, "loadstone-ui.system.svc:80": true, "loadstone-ui.system.svc.cluster.local": true, "Pages.Example.com": true, "pages.example.com.:443": true,
		"": false, "evil.example": false, "evil.example:8017": false, "localhost.evil.example": false, "127.0.0.1.evil.example": false,
		"loadstone-ui.other.svc": false, "loadstone-ui.system.svc.evil.example": false, "x.pages.example.com": false, "[evil.example]:80": false,
	} {
		q := httptest.NewRequest(http.MethodGet, "/", nil)
		q.Host = host
		w := httptest.NewRecorder()
		answering(s.isOurs, "not ours", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).ServeHTTP(w, q)
		if got := w.Code == http.StatusOK; got != want || !got && w.Code != http.StatusMisdirectedRequest {
			t.Errorf("%q is answered with %d", host, w.Code)
		}
	}
}

func TestSharedPageErrorsDoNotNameKubeconfig(t *testing.T) {
	runs := schema.GroupResource{Group: "loadstone.dev", Resource: "benchmarkruns"}
	for name, tc := range map[string]struct {
		err  error
		want string
	}{
		"nothing":                          {nil, ""},
		"an API server that is away":       {&url.Error{Op: "Get", URL: "https://10.0.0.1", Err: errors.New("connection refused")}, "the API server does not answer, and is asked again (connection refused)"},
		"one that hangs up":                {&net.OpError{Op: "read", Err: errors.New("connection reset")}, "the API server does not answer, and is asked again (read: connection reset)"},
		"an account that was deleted":      {apierrors.NewUnauthorized("no"), "restart the Deployment loadstone-ui"},
		"a right that is missing":          {apierrors.NewForbidden(runs, "", errors.New("no")), "is taken out of runs.namespaces: benchmarkruns.loadstone.dev is forbidden: no"},
		"what the API server says of else": {errors.New("etcd is full"), "etcd is full"},
	} {
		got := ""
		if err := explainShared(tc.err); err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, tc.want) || strings.Contains(got, "--context") || tc.want == "" && got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestUnreadableNamespaceHidesNoOther(t *testing.T) {
	lists := func() client.ObjectList { return &v1alpha1.BenchmarkRunList{} }
	m := newMirrors(nil, []string{"bench", "gone", "lost"}, "BenchmarkRuns", lists, func() {})
	refusal := apierrors.NewForbidden(schema.GroupResource{Group: "loadstone.dev", Resource: "benchmarkruns"}, "", errors.New("no"))
	for _, p := range m.parts[1:] {
		p.fail(refusal)
	}
	m.parts[0].fail(errors.New("connection refused"))
	if all, err := seen[v1alpha1.BenchmarkRun](t.Context(), m); err == nil {
		t.Errorf("where nothing can be read, there is %v", all)
	}
	m.parts[0].replace([]runtime.Object{ended()})
	if !objectsOf(t, m)[client.ObjectKeyFromObject(ended())] || !m.isPartial() {
		t.Error("what can be read is not shown, or it is taken for all")
	}
	for _, part := range []string{"BenchmarkRuns of namespace gone are not shown, since they cannot be read: ", "with such a problem: 1"} {
		if text := m.trouble(); !strings.Contains(text, part) {
			t.Errorf("it does not say %q: %s", part, text)
		}
	}
	for _, p := range m.parts[1:] {
		p.replace(nil)
	}
	if text := m.trouble(); text != "" || m.isPartial() {
		t.Errorf("when all can be read, it says %q", text)
	}
	m.parts[1].fail(refusal)
	if text := m.trouble(); !strings.HasPrefix(text, "BenchmarkRuns of namespace gone have not been read since ") || m.isPartial() {
		t.Errorf("when one has been lost, it says %q", text)
	}
}

// The operator does not know deleted runs, and shared pages have no store credentials.
func TestARoundWhoseRunWasDeletedIsAGapOfASharedHistory(t *testing.T) {
	s := checkout()
	s.Status.GoodRounds = []v1alpha1.GoodRound{
		{Round: 1, Runs: []v1alpha1.GoodRun{{Name: "small", Prefix: "bench/old-1", Report: "bench/old-1/reports/0/report.html"}}},
		{Round: 2, Runs: []v1alpha1.GoodRun{{Name: "small", Prefix: "bench/old-2"}}},
	}
	r := newReports(t.Context(), handed{}, make(chan struct{}, 1), func() {})
	var c ui.Course
	until(t, func() bool {
		c = r.history(t.Context(), s, nil)
		return !c.Reading
	})
	if c.Err != nil || len(c.History.Gaps) != 2 {
		t.Fatalf("it is %+v", c)
	}
	for _, g := range c.History.Gaps {
		if !strings.Contains(g.Reason, "was deleted, and only who has the key of the object store reads it") {
			t.Errorf("round %d is left out, since %s", g.Round, g.Reason)
		}
	}
}

func TestFilesWaitForTheirTurn(t *testing.T) {
	s := newTested(t, &files{})
	for range filesAtOnce {
		s.turns <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.turn(ctx); err == nil {
		t.Error("one file too many is read")
	}
	<-s.turns
	if w := get(s, "/runs/bench/quick/files/a.txt"); w.Code != http.StatusNotFound || len(s.turns) != filesAtOnce-1 {
		t.Errorf("with a turn left it is answered with %d, and %d turns are taken", w.Code, len(s.turns))
	}
}

func TestMissingRunOnSharedPagesIsNotPermissionError(t *testing.T) {
	s := newSite(t.Context(), ui.Frame{Shared: true}, nil, &files{})
	s.runs.replace(nil)
	if w := get(s, "/runs/bench/gone"); w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "There is no BenchmarkRun gone in namespace bench of those that are shown here: it may have been deleted.") {
		t.Errorf("%d: %s", w.Code, w.Body)
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return l.Addr().String()
}

func TestSharedPagesSurviveAPIServerOutage(t *testing.T) {
	s := Shared{Config: &rest.Config{Host: "http://" + freeAddress(t)}, System: "system", Addr: freeAddress(t), Probes: freeAddress(t)}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- s.Start(ctx) }()
	ask := func(address string) (status int, body string) {
		until(t, func() bool {
			answer, err := http.Get("http://" + address)
			if err != nil {
				return false
			}
			defer answer.Body.Close()
			text, err := io.ReadAll(answer.Body)
			status, body = answer.StatusCode, string(text)
			return err == nil
		})
		return status, body
	}
	if status, _ := ask(s.Probes + "/healthz"); status != http.StatusOK {
		t.Errorf("a probe is answered with %d", status)
	}
	if status, body := ask(s.Addr + "/runs"); status != http.StatusBadGateway || !strings.Contains(body, "the API server does not answer, and is asked again") {
		t.Errorf("the runs are %d: %s", status, body)
	}
	if status, _ := ask(s.Addr + "/healthz"); status != http.StatusNotFound {
		t.Errorf("the pages answer a probe with %d", status)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("it ends with %v", err)
	}
	s.Probes = s.Addr
	if err := s.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "listening for ") {
		t.Errorf("two at one address end with %v", err)
	}
}

func (w *world) another(namespace, name string) {
	w.t.Helper()
	r := &v1alpha1.BenchmarkRun{}
	w.must(yaml.Unmarshal(samples.AA, r))
	r.Namespace, r.Name = namespace, name
	w.must(w.c.Create(w.t.Context(), r))
	w.t.Cleanup(func() { w.must(w.c.Delete(context.Background(), r)) })
}

// The chart's permissions must suffice, and none may be superfluous.
func TestTheAccountOfSharedPagesSuffices(t *testing.T) {
	w := newWorld(t, "ui-led-a")
	for namespace, name := range map[string]string{"ui-led-b": "other", "ui-led-c": "unseen"} {
		w.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
		w.another(namespace, name)
	}
	suite := &v1alpha1.BenchmarkSuite{}
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "config", "gitops", "suite.yaml"))
	w.must(err)
	w.must(yaml.Unmarshal(text, suite))
	suite.Namespace, suite.Name = "ui-led-b", "checkout"
	w.must(w.c.Create(t.Context(), suite))
	t.Cleanup(func() { w.must(client.IgnoreNotFound(w.c.Delete(context.Background(), suite))) })

	account := testbed.InstallPages(t, w.config, filepath.Join("..", "..", ".."), "ui-led-system", "runs.namespaces={ui-led-a,ui-led-b}")
	led, err := namespaces.Parse("ui-led-a,ui-led-b", "ui-led-system")
	w.must(err)
	handler, err := Shared{Config: account.Config, System: "ui-led-system", Led: led}.Handler(t.Context())
	w.must(err)
	served := httptest.NewServer(handler)
	t.Cleanup(served.Close)
	for path, shows := range map[string]string{
		"/": "the namespaces ui-led-a, ui-led-b and ui-led-system", "/runs": ">other</a>", "/runs?namespace=ui-led-a": ">quick</a>", "/runs/ui-led-a/quick": "There is no report yet",
		"/suites": ">checkout</a>", "/suites/ui-led-b/checkout": "No round has ended yet",
	} {
		if status, body := w.page(served.URL + path); status != http.StatusOK || !strings.Contains(body, shows) || strings.Contains(body, "unseen") || strings.Contains(body, `role="alert"`) {
			t.Errorf("%s is %d: %s", path, status, body)
		}
	}
	if status, _ := w.page(served.URL + "/runs/ui-led-c/unseen"); status != http.StatusNotFound {
		t.Errorf("a run of another namespace is %d", status)
	}
	_, page := w.page(served.URL + "/runs/ui-led-a/quick")
	_, heardAt, _ := strings.Cut(page, `data-stream="`)
	heardAt, _, _ = strings.Cut(heardAt, `"`)
	stream := open(t, served.URL+heardAt)
	w.must(w.c.Delete(t.Context(), suite))
	nextEvent(t, stream)
	// The operator checks the right to get a run before serving files, as internal/store/download tests.
	until(t, func() bool { return slices.Equal(account.Unused(), []string{"get benchmarkruns.loadstone.dev"}) })
}
