package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
	"loadstone.dev/loadstone/internal/report"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/store/download"
	"loadstone.dev/loadstone/internal/testbed"
	"loadstone.dev/loadstone/internal/ui"
)

func TestMain(m *testing.M) { os.Exit(testbed.Main(m)) }

type files struct {
	bodies map[string]string
	err    error
	opened atomic.Int32
}

func (f *files) Get(_ context.Context, _ *v1alpha1.BenchmarkRun, key, sha string) ([]byte, error) {
	body, ok := f.bodies[key+" "+sha]
	if f.err != nil {
		return nil, f.err
	}
	if !ok {
		return nil, artifact.ErrNotFound
	}
	return []byte(body), nil
}

// Open counts calls, and returns files by key with any digest.
func (f *files) Open(context.Context, []v1alpha1.BenchmarkRun) (artifact.Runs, func(), error) {
	f.opened.Add(1)
	return anyDigest{f}, func() {}, f.err
}

// anyDigest ignores digests, for histories and noise.
type anyDigest struct{ *files }

func (f anyDigest) Get(ctx context.Context, key, _ string) ([]byte, error) {
	return f.files.Get(ctx, nil, key, "")
}

func (f anyDigest) Load(ctx context.Context, prefix, _ string) (record.RunData, error) {
	_, err := f.Get(ctx, prefix, "")
	return record.RunData{}, err
}

func (anyDigest) List(context.Context, string) ([]artifact.Object, error) { return nil, nil }

func ended() *v1alpha1.BenchmarkRun {
	at := metav1.Time{Time: time.Unix(1_770_000_000, 0)}
	r := &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: "quick", UID: "0c9f3f11-0000-4000-8000-000000000001", CreationTimestamp: at}}
	r.Status.StartTime, r.Status.CompletionTime = &at, &at
	r.Status.Report = v1alpha1.ReportRef{URI: "s3://bucket/" + download.PrefixOf(r) + "/reports/0123/report.html", SHA256: "d1"}
	return r
}

func measuring() *v1alpha1.BenchmarkRun {
	r := ended()
	r.Name, r.UID, r.Status.CompletionTime, r.Status.Report = "now", "0c9f3f11-0000-4000-8000-000000000002", nil, v1alpha1.ReportRef{}
	r.Status.Progress = "1/4"
	return r
}

func checkout() *v1alpha1.BenchmarkSuite {
	return &v1alpha1.BenchmarkSuite{ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: "checkout", UID: "uid-of-checkout"}}
}

// newTested is a site with an ended run, a measuring run and a suite. funcs intercept its client.
func newTested(tb testing.TB, f *files, changes ...interceptor.Funcs) *site {
	tb.Helper()
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		tb.Fatal(err)
	}
	c := fake.NewClientBuilder().WithScheme(scheme).Build()
	for _, change := range changes {
		c = interceptor.NewClient(c, change)
	}
	s := newSite(tb.Context(), ui.Frame{Cluster: "https://10.0.0.1:6443"}, c, f)
	s.runs.replace([]runtime.Object{ended(), measuring()})
	s.suites.replace([]runtime.Object{checkout()})
	return s
}

func get(s *site, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.routes().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w
}

func TestThePagesOfASite(t *testing.T) {
	s := newTested(t, &files{})
	for path, tc := range map[string]struct {
		status int
		shows  string
	}{
		"/":                                {http.StatusOK, "Whose turn it is"},
		"/runs":                            {http.StatusOK, `<a href="/runs/bench/quick">quick</a>`},
		"/runs?namespace=other":            {http.StatusOK, "Namespace other has no run"},
		"/runs/bench/quick":                {http.StatusOK, `<iframe src="/runs/bench/quick/files/reports/0123/report.html"`},
		"/runs/bench/now":                  {http.StatusOK, "There is no report yet"},
		"/runs/bench/gone":                 {http.StatusNotFound, "There is no BenchmarkRun gone in namespace bench"},
		"/suites":                          {http.StatusOK, `<a href="/suites/bench/checkout">checkout</a>`},
		"/suites/bench/checkout":           {http.StatusOK, "No round has ended yet"},
		"/noise":                           {http.StatusOK, "There is no A/A run here yet."},
		"/suites/bench/gone":               {http.StatusNotFound, "There is no BenchmarkSuite gone in namespace bench"},
		"/style.css":                       {http.StatusOK, ".standing"},
		"/live.js":                         {http.StatusOK, "EventSource"},
		"/icon.svg":                        {http.StatusOK, "<svg"},
		"/nothing":                         {http.StatusNotFound, "There is no such page"},
		"/runs/bench/gone/files/a.txt":     {http.StatusNotFound, "There is no BenchmarkRun gone"},
		"/runs/bench/quick/files/":         {http.StatusNotFound, "the run has no such file"},
		"/runs/bench/quick/files/a/../../": {http.StatusTemporaryRedirect, ""},
	} {
		w := get(s, path)
		if redirected := w.Code/100 == 3 && tc.status/100 == 3; !redirected && w.Code != tc.status || !strings.Contains(w.Body.String(), tc.shows) {
			t.Errorf("%s: %d, want %d and %q in:\n%s", path, w.Code, tc.status, tc.shows, w.Body)
		}
	}
}

func TestReportIsShownInSeparateOrigin(t *testing.T) {
	prefix := download.PrefixOf(ended())
	page := "<!DOCTYPE html><style>p { color: red }</style>"
	f := &files{bodies: map[string]string{
		prefix + "/reports/0123/report.html d1": page, prefix + "/trials/a/wrk.txt ": "<script>alert(1)</script>", prefix + "/trials/a/profile ": "\xff\x00", prefix + "/reports/old/report.html ": page,
	}}
	s := newTested(t, f)
	for path, kind := range map[string]string{
		"reports/0123/report.html": "text/html; charset=utf-8", "trials/a/wrk.txt": "text/plain; charset=utf-8", "trials/a/profile": "application/octet-stream", "reports/old/report.html": "text/plain; charset=utf-8",
	} {
		w := get(s, "/runs/bench/quick/files/"+path)
		policy := w.Header().Get("Content-Security-Policy")
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != kind || !strings.Contains(policy, "sandbox") || !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "allow-scripts") {
			t.Errorf("%s: %d, %s, %s", path, w.Code, w.Header().Get("Content-Type"), policy)
		}
	}
	for name, tc := range map[string]struct {
		err  error
		want int
	}{
		"it is not there":             {artifact.ErrNotFound, http.StatusNotFound},
		"the operator refuses":        {fmt.Errorf("%w: you may not", download.ErrRefused), http.StatusForbidden},
		"the store is away":           {artifact.ErrUnreachable, http.StatusBadGateway},
		"its digest is another one's": {artifact.ErrCorrupt, http.StatusBadGateway},
	} {
		f.err = tc.err
		if w := get(s, "/runs/bench/quick/files/reports/0123/report.html"); w.Code != tc.want || !strings.Contains(w.Body.String(), tc.err.Error()) || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
			t.Errorf("%s: %d, %s", name, w.Code, w.Body)
		}
	}
}

func TestReportOfOtherRunIsRefused(t *testing.T) {
	r := ended()
	r.Status.Report.URI = "s3://bucket/bench/other-0c9f3f11/reports/0123/report.html"
	if got := reportOf(r); got != "" {
		t.Errorf("its report is %s", got)
	}
}

func TestUnreachableClusterIsShown(t *testing.T) {
	s := newTested(t, &files{})
	s.runs.fail(errors.New("connection refused"))
	if w := get(s, "/runs"); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "What is shown may be old.") || !strings.Contains(w.Body.String(), "connection refused") || !strings.Contains(w.Body.String(), ">quick</a>") {
		t.Errorf("%d: %s", w.Code, w.Body)
	}
	s.runs.replace([]runtime.Object{ended()})
	if w := get(s, "/runs"); strings.Contains(w.Body.String(), "may be old") {
		t.Errorf("after it has answered: %s", w.Body)
	}
}

func TestMissingPermissionIsNamed(t *testing.T) {
	s := newTested(t, &files{})
	s.suites = newMirror(nil, "", "BenchmarkSuites", nil, func() {})
	s.suites.fail(apierrors.NewForbidden(schema.GroupResource{Group: "loadstone.dev", Resource: "benchmarksuites"}, "", errors.New(`User "jane" cannot list resource "benchmarksuites"`)))
	for _, path := range []string{"/suites", "/suites/bench/checkout"} {
		if w := get(s, path); w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "cannot list resource &#34;benchmarksuites&#34;") {
			t.Errorf("%s: %d: %s", path, w.Code, w.Body)
		}
	}
	if w := get(s, "/runs"); w.Code != http.StatusOK {
		t.Errorf("the runs, which may be listed, are answered with %d", w.Code)
	}
}

func TestAHistoryIsReadOnceForTheSameRounds(t *testing.T) {
	f := &files{}
	s := newTested(t, f)
	for range 3 {
		if w := get(s, "/suites/bench/checkout"); w.Code != http.StatusOK {
			t.Fatalf("%d: %s", w.Code, w.Body)
		}
	}
	if n := f.opened.Load(); n != 1 {
		t.Errorf("it is read %d times", n)
	}
	r := ended()
	r.Labels = map[string]string{v1alpha1.LabelSuiteUID: "uid-of-checkout", v1alpha1.LabelRound: "1"}
	r.Annotations = map[string]string{v1alpha1.AnnotationRound: `{"id": "1", "run": "small", "runs": 1}`}
	s.runs.replace([]runtime.Object{r})
	get(s, "/suites/bench/checkout")
	if n := f.opened.Load(); n != 2 {
		t.Errorf("after another round has ended it was read %d times", n)
	}
}

func TestSlowHistoryIsShownWhenRead(t *testing.T) {
	read, told := make(chan struct{}), make(chan struct{})
	r := readings[string]{ctx: t.Context(), told: func() { close(told) }}
	of := func() (string, bool, error) {
		return r.of(t.Context(), "somebody", "reports", func(context.Context) (string, error) {
			<-read
			return "values", nil
		})
	}
	if v, there, err := of(); v != "" || there || err != nil {
		t.Errorf("meanwhile it is %q, %v, %v", v, there, err)
	}
	close(read)
	<-told
	if v, there, err := of(); v != "values" || !there || err != nil {
		t.Errorf("then it is %q, %v, %v", v, there, err)
	}
}

func TestIncompleteHistoryExpires(t *testing.T) {
	for name, tc := range map[string]struct {
		value string
		err   error
		age   time.Duration
		old   bool
	}{
		"it is whole":                          {"whole", nil, time.Hour, false},
		"it could not be read a moment ago":    {"", artifact.ErrUnreachable, 0, false},
		"it could not be read some time ago":   {"", artifact.ErrUnreachable, failedFor + time.Second, true},
		"reports were missing a moment ago":    {"gaps", nil, failedFor + time.Second, false},
		"reports were missing minutes ago":     {"gaps", nil, gapsFor + time.Second, true},
		"what could not be read lacks nothing": {"gaps", artifact.ErrUnreachable, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := readings[string]{ctx: t.Context(), told: func() {}, gaps: func(v string) bool { return v == "gaps" }}
			one := &reading[string]{of: "reports", done: make(chan struct{}), value: tc.value, err: tc.err, at: time.Now().Add(-tc.age)}
			close(one.done)
			r.known = map[types.UID]*reading[string]{"somebody": one}
			again := make(chan struct{})
			defer close(again)
			newer := r.begun("somebody", "reports", func(context.Context) (string, error) {
				<-again
				return "", nil
			})
			if (newer != one) != tc.old {
				t.Errorf("it is read again: %v", newer != one)
			}
			if shown := newer.before != nil && *newer.before == "gaps"; shown != (tc.old && tc.err == nil) {
				t.Errorf("meanwhile it is shown: %v", shown)
			}
		})
	}
}

func TestTheHistoryOfASuiteThatIsGoneIsForgotten(t *testing.T) {
	s := newTested(t, &files{})
	get(s, "/suites/bench/checkout")
	if n := len(s.reports.histories.known); n != 1 {
		t.Fatalf("%d histories are known", n)
	}
	s.suites.replace(nil)
	get(s, "/suites/bench/checkout")
	if n := len(s.reports.histories.known); n != 0 {
		t.Errorf("%d histories are known of no suite", n)
	}
}

func TestTheNoiseOfAARunsIsShown(t *testing.T) {
	f := &files{bodies: map[string]string{}}
	s := newTested(t, f)
	if w := get(s, "/noise"); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "There is no A/A run here yet.") {
		t.Errorf("without one it is %d: %s", w.Code, w.Body)
	}
	objects := []runtime.Object{ended(), measuring()}
	for i, image := range []string{"registry.example/go:v1", "registry.example/go:v1", ""} {
		r := aaRun(i)
		objects = append(objects, r)
		if image != "" {
			f.bodies[download.PrefixOf(r)+"/reports/0123/report.json "] = string(aaReport(t, uint64(i), image, 1))
		}
	}
	s.runs.replace(objects)
	shows := func(part string) bool { return strings.Contains(get(s, "/noise").Body.String(), part) }
	for range 2 {
		for _, part := range []string{"0 of 8 intervals leave out 0 %", `<a href="/runs/bench/aa-0">`, `<a href="/runs/bench/aa-1">`, "bench/aa-2 is left out: ", "registry.example/go:v1"} {
			until(t, func() bool { return shows(part) })
		}
	}
	if n := f.opened.Load(); n != 1 {
		t.Errorf("the same reports are read %d times", n)
	}
	f.err = artifact.ErrUnreachable
	s.runs.replace(objects[:3])
	until(t, func() bool { return shows(artifact.ErrUnreachable.Error()) })
}

func aaRun(i int) *v1alpha1.BenchmarkRun {
	r := ended()
	r.Name, r.UID = fmt.Sprintf("aa-%d", i), types.UID(fmt.Sprintf("0c9f3f11-0000-4000-8000-1%011d", i))
	r.Spec.Implementations = []v1alpha1.Implementation{{Name: "a", Image: "registry.example/go:v1"}, {Name: "again", Image: "registry.example/go:v1"}}
	at := metav1.Time{Time: ended().Status.CompletionTime.Add(time.Duration(i) * time.Hour)}
	r.Status.CompletionTime = &at
	r.Status.Report.URI = "s3://bucket/" + download.PrefixOf(r) + "/reports/0123/report.html"
	return r
}

// aaReport is a report of an A/A run of an image, whose second name costs more by a factor.
func aaReport(tb testing.TB, seed uint64, image string, cost float64) []byte {
	tb.Helper()
	o := recordtest.Duel(10)
	o.Levels, o.Seconds, o.Noise, o.Seed, o.Servers = []int32{100}, 1, 0.01, seed, o.Servers[:2]
	o.Servers[1].CPUMicros = o.Servers[0].CPUMicros * cost
	data := recordtest.Run(o)
	for i := range data.Manifest.Plan.Implementations {
		data.Manifest.Plan.Implementations[i].Image = image
	}
	for _, trial := range data.Trials {
		for i := range trial.Manifest.Pods {
			trial.Manifest.Pods[i].ImageID = "sha256:1"
		}
	}
	table, err := analysis.Analyse(data)
	if err != nil {
		tb.Fatal(err)
	}
	body, err := report.JSON(table)
	if err != nil {
		tb.Fatal(err)
	}
	return body
}

func nextEvent(t *testing.T, stream io.Reader) {
	t.Helper()
	heard := make(chan error, 1)
	go func() {
		var text strings.Builder
		one := make([]byte, 1)
		for !strings.HasSuffix(text.String(), "event: changed\ndata: changed\n\n") {
			if _, err := stream.Read(one); err != nil {
				heard <- err
				return
			}
			text.Write(one)
		}
		heard <- nil
	}()
	select {
	case err := <-heard:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(testbed.Patience):
		t.Fatal("nothing is told")
	}
}

func open(t *testing.T, address string) io.ReadCloser {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	if kind := answer.Header.Get("Content-Type"); kind != "text/event-stream" {
		t.Fatalf("it is %s", kind)
	}
	first := make([]byte, len("retry: 2000\n\n"))
	if _, err := io.ReadFull(answer.Body, first); err != nil || string(first) != "retry: 2000\n\n" {
		t.Fatalf("it begins with %q, %v", first, err)
	}
	return answer.Body
}

func TestChangesReachListeners(t *testing.T) {
	s := newTested(t, &files{})
	server := httptest.NewServer(s.routes())
	defer server.Close()
	get(s, "/runs/bench/now") // This starts the watch.
	for name, change := range map[string]func(){
		"of a run":                   func() { s.runs.replace([]runtime.Object{measuring()}) },
		"of a run's trials":          func() { s.trials.mirror(measuring()).take(watch.Event{Type: watch.Added, Object: trialOfMeasuring()}) },
		"of a history that was read": s.news.tell,
	} {
		t.Run(name, func(t *testing.T) {
			stream := open(t, server.URL+ui.EventsPath)
			change()
			nextEvent(t, stream)
			stream.Close()
		})
	}
}

func trialOfMeasuring() *v1alpha1.Trial {
	r := measuring()
	return &v1alpha1.Trial{ObjectMeta: metav1.ObjectMeta{Namespace: r.Namespace, Name: "now-000-a", Labels: map[string]string{v1alpha1.LabelRunUID: string(r.UID)}}}
}

// Fifty browsers must not multiply requests to a busy API server.
func TestTrialsAreWatchedOncePerRun(t *testing.T) {
	var lists, watches atomic.Int32
	s := newTested(t, &files{}, interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, o ...client.ListOption) error {
			lists.Add(1)
			return c.List(ctx, list, o...)
		},
		Watch: func(ctx context.Context, c client.WithWatch, list client.ObjectList, o ...client.ListOption) (watch.Interface, error) {
			watches.Add(1)
			return c.Watch(ctx, list, o...)
		},
	})
	var viewers sync.WaitGroup
	for i := range 50 {
		viewers.Go(func() {
			if w := get(s, []string{"/", "/runs/bench/now"}[i%2]); w.Code != http.StatusOK {
				t.Errorf("one of them gets %d: %s", w.Code, w.Body)
			}
		})
	}
	viewers.Wait()
	if l, w := lists.Load(), watches.Load(); l != 1 || w > 1 {
		t.Errorf("they are listed %d times, and watched %d times", l, w)
	}
}

func TestUnwatchedTrialsAreForgotten(t *testing.T) {
	s, r := newTested(t, &files{}), measuring()
	m := s.trials.mirror(r)
	if again := s.trials.mirror(r); again != m {
		t.Error("who looks again has another copy")
	}
	s.trials.mu.Lock()
	s.trials.lookedAt[r.UID].unseen.Reset(0)
	s.trials.mu.Unlock()
	until(t, func() bool {
		s.trials.mu.Lock()
		defer s.trials.mu.Unlock()
		return len(s.trials.lookedAt) == 0
	})
	if again := s.trials.mirror(r); again == m {
		t.Error("who looks later has the copy that nobody follows")
	}
}

func TestForbiddenTrialsAreNamed(t *testing.T) {
	s := newTested(t, &files{}, interceptor.Funcs{List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
		return apierrors.NewForbidden(schema.GroupResource{Group: "loadstone.dev", Resource: "trials"}, "", errors.New(`User "jane" cannot list resource "trials"`))
	}})
	if w := get(s, "/runs/bench/now"); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "The trials cannot be read") || !strings.Contains(w.Body.String(), "cannot list resource &#34;trials&#34;") {
		t.Errorf("%d: %s", w.Code, w.Body)
	}
}

func TestTheHeadOfAStreamEnds(t *testing.T) {
	s := newTested(t, &files{})
	w := httptest.NewRecorder()
	s.routes().ServeHTTP(w, httptest.NewRequest(http.MethodHead, "/events", nil))
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "text/event-stream" || w.Body.Len() > 0 {
		t.Errorf("%d, %v, %s", w.Code, w.Header(), w.Body)
	}
}

func TestSlowListenersDoNotBlock(t *testing.T) {
	var n news
	heard, leave := n.listen()
	for range 3 {
		n.tell()
	}
	<-heard
	select {
	case <-heard:
		t.Error("three changes are told more than once")
	default:
	}
	leave()
	n.tell()
	if len(n.listeners) != 0 {
		t.Errorf("%d still listen", len(n.listeners))
	}
}

func objectsOf(t *testing.T, m *mirror) map[types.NamespacedName]bool {
	t.Helper()
	runs, err := seen[v1alpha1.BenchmarkRun](t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	all := map[types.NamespacedName]bool{}
	for i := range runs {
		all[client.ObjectKeyFromObject(&runs[i])] = true
	}
	return all
}
