package download

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/store/artifact"
)

func clientOf(t *testing.T, config *rest.Config) *Client {
	t.Helper()
	c, err := NewClient(config, system)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestThroughTheAPIServerATenantReadsTheirOwnRuns(t *testing.T) {
	w := newWorld(t)
	reader := w.reader()
	acting := rest.CopyConfig(reader)
	acting.Impersonate.UserName = "somebody"
	absent, keyless, another := w.runs["a"].DeepCopy(), w.runs["a"].DeepCopy(), w.runs["b"].DeepCopy()
	absent.Name, keyless.Status.DownloadKey, another.Status.DownloadKey = "absent", "", w.runs["a"].Status.DownloadKey
	for name, tc := range map[string]struct {
		config   *rest.Config
		run      *v1alpha1.BenchmarkRun
		key, sha string
		want     error
		says     string
	}{
		"their own page":               {reader, w.runs["a"], w.pages["a"].key, w.pages["a"].sha, nil, ""},
		"a page that was changed":      {reader, w.runs["a"], w.pages["a"].key, w.pages["b"].sha, artifact.ErrCorrupt, "has SHA-256"},
		"a file that is not there":     {reader, w.runs["a"], PrefixOf(w.runs["a"]) + "/manifest.json", "", artifact.ErrNotFound, "BenchmarkRun a/quick has no such file"},
		"a run that is not there":      {reader, absent, PrefixOf(absent) + "/manifest.json", "", ErrRefused, "BenchmarkRun a/absent does not exist"},
		"what no run owns":             {reader, w.runs["a"], "calibrations/a.json", "", ErrRefused, "is no file of BenchmarkRun a/quick"},
		"a client certificate":         {w.config, w.runs["a"], w.pages["a"].key, w.pages["a"].sha, nil, ""},
		"the key of another run":       {reader, another, w.pages["b"].key, "", ErrRefused, "BenchmarkRun b/quick does not exist, or its download key has changed"},
		"a run without a key":          {reader, keyless, w.pages["a"].key, "", ErrRefused, "BenchmarkRun a/quick has no download key yet"},
		"who acts as somebody else":    {acting, w.runs["a"], w.pages["a"].key, "", ErrRefused, "the API server answers 403 Forbidden"},
		"whom the cluster knows not":   {&rest.Config{Host: reader.Host, TLSClientConfig: reader.TLSClientConfig, BearerToken: "nonsense"}, w.runs["a"], w.pages["a"].key, "", ErrRefused, "the API server answers 401 Unauthorized"},
		"who shows nothing whatsoever": {rest.AnonymousClientConfig(w.config), w.runs["a"], w.pages["a"].key, "", ErrRefused, "the API server answers 403 Forbidden"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := clientOf(t, tc.config).Of(tc.run).Get(t.Context(), tc.key, tc.sha)
			if tc.want == nil {
				if err != nil || string(got) != string(body(tc.run.Namespace)) {
					t.Errorf("they get %q, %v", got, err)
				}
				return
			}
			if !errors.Is(err, tc.want) || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("it ends with %v, want %v that says %q", err, tc.want, tc.says)
			}
		})
	}
}

// The operator must not learn anything that the API server accepts.
func TestTheOperatorLearnsNoCredentialOfTheUser(t *testing.T) {
	w := newWorld(t)
	var heard http.Header
	l, err := net.Listen("tcp", net.JoinHostPort(w.behind.Subsets[0].Addresses[0].IP, "0"))
	w.must(err)
	spy := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		heard = q.Header.Clone()
		w.Header().Set("Server", answers)
	}))
	w.must(spy.Listener.Close())
	spy.Listener = l
	spy.StartTLS()
	defer spy.Close()
	w.behind.Subsets[0].Ports[0].Port = int32(l.Addr().(*net.TCPAddr).Port)
	w.must(w.c.Update(t.Context(), w.behind))

	reader := w.reader()
	for name, config := range map[string]*rest.Config{"a token": reader, "a client certificate": w.config} {
		t.Run(name, func(t *testing.T) {
			heard = nil
			if _, err := clientOf(t, config).Of(w.runs["a"]).Get(t.Context(), w.pages["a"].key, ""); err != nil {
				t.Fatal(err)
			}
			if heard.Get(AuthorizationHeader) == "" {
				t.Fatalf("the operator hears %v", heard)
			}
			for header, values := range heard {
				for _, value := range values {
					if may := w.may(t, value); may || reader.BearerToken != "" && strings.Contains(value, reader.BearerToken) {
						t.Errorf("%s: %s opens the API server", header, value)
					}
				}
			}
		})
	}
	if !w.may(t, "Bearer "+reader.BearerToken) {
		t.Error("the user's own token is refused")
	}
}

// may reports whether the API server accepts a value as credential for the run in namespace a.
func (w *world) may(t *testing.T, value string) bool {
	t.Helper()
	for _, authorization := range []string{value, "Bearer " + value} {
		way, err := rest.TransportFor(rest.AnonymousClientConfig(w.config))
		w.must(err)
		address, err := url.JoinPath(w.config.Host, "apis/loadstone.dev/v1alpha1/namespaces/a/benchmarkruns/quick")
		w.must(err)
		q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		w.must(err)
		q.Header.Set("Authorization", authorization)
		answer, err := way.RoundTrip(q)
		w.must(err)
		w.must(answer.Body.Close())
		if answer.StatusCode == http.StatusOK {
			return true
		}
	}
	return false
}

func ask(t *testing.T, address, path, signature string) (*http.Response, string) {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+address+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if signature != "" {
		q.Header.Set(AuthorizationHeader, signature)
	}
	way := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}
	answer, err := way.RoundTrip(q)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(text)
}

func TestARequestNeedsTheSignatureOfItsRunAndFile(t *testing.T) {
	w := newWorld(t)
	own := func(file string) string { return "/v1/namespaces/a/benchmarkruns/quick/" + file }
	page := strings.TrimPrefix(w.pages["a"].key, PrefixOf(w.runs["a"])+"/")
	others := strings.TrimPrefix(w.pages["b"].key, "b/")
	now, key := time.Now(), w.runs["a"].Status.DownloadKey
	of := func(namespace, name, file string) string { return authorization(key, namespace, name, file, now) }
	valid := of("a", "quick", page)
	for name, tc := range map[string]struct {
		path, signature string
		want            int
	}{
		"their own page":                             {own(page), valid, http.StatusOK},
		"a clock that is four minutes late":          {own(page), authorization(key, "a", "quick", page, now.Add(-4*time.Minute)), http.StatusOK},
		"an old signature":                           {own(page), authorization(key, "a", "quick", page, now.Add(-6*time.Minute)), http.StatusUnauthorized},
		"a signature of the future":                  {own(page), authorization(key, "a", "quick", page, now.Add(6*time.Minute)), http.StatusUnauthorized},
		"an old signature with a new time":           {own(page), strings.Replace(valid, strconv.FormatInt(now.Unix(), 10), strconv.FormatInt(now.Unix()+1, 10), 1), http.StatusForbidden},
		"no signature":                               {own(page), "", http.StatusUnauthorized},
		"an empty signature":                         {own(page), fmt.Sprintf("%s%d ", scheme, now.Unix()), http.StatusUnauthorized},
		"a signature with an empty key":              {own(page), authorization("", "a", "quick", page, now), http.StatusForbidden},
		"the token that older programs send":         {own(page), "Bearer " + w.reader().BearerToken, http.StatusUnauthorized},
		"a signature of another file":                {own(page), of("a", "quick", "manifest.json"), http.StatusForbidden},
		"a run of others":                            {"/v1/namespaces/b/benchmarkruns/quick/" + page, of("b", "quick", page), http.StatusForbidden},
		"a run of others with the own signature":     {"/v1/namespaces/b/benchmarkruns/quick/" + page, valid, http.StatusForbidden},
		"a run of others that is not there":          {"/v1/namespaces/b/benchmarkruns/none/" + page, of("b", "none", page), http.StatusForbidden},
		"a run that is not there":                    {"/v1/namespaces/a/benchmarkruns/none/" + page, of("a", "none", page), http.StatusForbidden},
		"others' page from their own run":            {own("%2e%2e/%2e%2e/b/" + others), of("a", "quick", "../../b/"+others), http.StatusNotFound},
		"others' page with escaped slashes":          {own("..%2f..%2fb%2f" + others), of("a", "quick", "../../b/"+others), http.StatusNotFound},
		"others' run in the place of a file's run":   {"/v1/namespaces/a/benchmarkruns/..%2f..%2fb%2fquick/" + page, of("a", "../../b/quick", page), http.StatusForbidden},
		"their namespace, and others' behind it":     {"/v1/namespaces/a%2f..%2fb/benchmarkruns/quick/" + page, of("a/../b", "quick", page), http.StatusForbidden},
		"what no run owns, from their own run":       {own("%2e%2e/%2e%2e/calibrations/a.json"), of("a", "quick", "../../calibrations/a.json"), http.StatusNotFound},
		"a list of files":                            {own("reports/"), of("a", "quick", "reports/"), http.StatusNotFound},
		"a list of runs":                             {"/v1/namespaces/a/benchmarkruns", valid, http.StatusNotFound},
		"others' page by dots that an address loses": {"/v1/namespaces/a/benchmarkruns/quick/../../../b/benchmarkruns/quick/" + others, valid, http.StatusTemporaryRedirect},
	} {
		t.Run(name, func(t *testing.T) {
			answer, text := ask(t, w.address, tc.path, tc.signature)
			if answer.StatusCode != tc.want || answer.Header.Get("Server") != answers {
				t.Errorf("it is answered %s by %q: %s, want %d", answer.Status, answer.Header.Get("Server"), text, tc.want)
			}
			if (text == string(body("a"))) != (tc.want == http.StatusOK) || text == string(body("b")) {
				t.Errorf("it is answered %q", text)
			}
			if tc.want == http.StatusOK && answer.Header.Get("Content-Type") != "application/octet-stream" {
				t.Errorf("it calls itself %q", answer.Header.Get("Content-Type"))
			}
		})
	}
	for _, method := range []string{http.MethodPut, http.MethodDelete, http.MethodPost} {
		q, err := http.NewRequestWithContext(t.Context(), method, "https://"+w.address+own(page), strings.NewReader("mine"))
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set(AuthorizationHeader, valid)
		answer, err := (&http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}).RoundTrip(q)
		if err != nil {
			t.Fatal(err)
		}
		if err := answer.Body.Close(); err != nil || answer.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("%s is answered %s, %v", method, answer.Status, err)
		}
	}
}

// shelf is a fake store: real ones cannot easily hold 256 MiB, or fail in the middle.
type shelf struct {
	text string
	size int64
	err  error
}

func (s shelf) Stream(context.Context, string) (io.ReadCloser, int64, error) {
	return io.NopCloser(strings.NewReader(s.text)), s.size, s.err
}

func TestAStoreThatCannotBeReadIsSaid(t *testing.T) {
	w := newWorld(t)
	nobody, err := artifact.Open(artifact.Config{Endpoint: "127.0.0.1:1", Bucket: "b", Region: "us-east-1", AccessKey: "a", SecretKey: "s"})
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		shelf Shelf
		runs  client.Reader
		want  int
		retry string
	}{
		"nobody answers at the store":      {nobody, w.c, http.StatusServiceUnavailable, retryAfter},
		"the store refuses the key":        {shelf{err: artifact.ErrDenied}, w.c, http.StatusServiceUnavailable, retryAfter},
		"a file beyond all bounds":         {shelf{size: artifact.MaxObject + 1}, w.c, http.StatusBadGateway, ""},
		"nobody answers at the API server": {shelf{text: "x", size: 1}, lost{w.c}, http.StatusServiceUnavailable, retryAfter},
		"all is well":                      {shelf{text: "x", size: 1}, w.c, http.StatusOK, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := &Server{Runs: tc.runs, Key: operatorKey, Shelf: tc.shelf}
			server := httptest.NewTLSServer(s.handler())
			defer server.Close()
			answer, text := ask(t, server.Listener.Addr().String(), "/v1/namespaces/a/benchmarkruns/quick/manifest.json", w.manifest())
			if answer.StatusCode != tc.want || answer.Header.Get("Retry-After") != tc.retry {
				t.Errorf("it is answered %s (Retry-After %q): %s, want %d", answer.Status, answer.Header.Get("Retry-After"), text, tc.want)
			}
			if strings.Contains(text, "127.0.0.1") {
				t.Errorf("whoever asks learns where the operator's store is: %s", text)
			}
		})
	}
}

// manifest signs a request for the manifest of the run in namespace a.
func (w *world) manifest() string {
	return authorization(w.runs["a"].Status.DownloadKey, "a", "quick", "manifest.json", time.Now())
}

// Users of other namespaces learn why their runs have no status.
func TestANamespaceThatIsNotLedIsSaid(t *testing.T) {
	w := newWorld(t)
	s := &Server{Runs: w.c, Key: operatorKey, Shelf: shelf{text: "x", size: 1}, Leads: func(namespace string) bool { return namespace == "b" }}
	server := httptest.NewTLSServer(s.handler())
	defer server.Close()
	c := clientOf(t, &rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}})
	c.base = c.base.ResolveReference(&url.URL{Path: "/"})
	const want = "the operator ignores runs in namespace a: add it to the chart value runs.namespaces"
	if _, err := c.Of(w.runs["a"]).Get(t.Context(), w.pages["a"].key, ""); !errors.Is(err, ErrNotLed) || !strings.Contains(err.Error(), want) {
		t.Errorf("a download is answered %v, want %s", err, want)
	}
	if err := c.Led(t.Context(), "a"); !errors.Is(err, ErrNotLed) || !strings.Contains(err.Error(), want) {
		t.Errorf("of namespace a it says %v, want %s", err, want)
	}
	if err := c.Led(t.Context(), "b"); err != nil {
		t.Errorf("of namespace b it says %v", err)
	}
	server.Config.Handler = http.NotFoundHandler() // An older operator, which has no such answer.
	if err := c.Led(t.Context(), "a"); err == nil || errors.Is(err, ErrNotLed) {
		t.Errorf("of an operator that does not say, it says %v", err)
	}
}

type lost struct{ client.Reader }

func (lost) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return &url.Error{Op: "Get", URL: "https://127.0.0.1:1", Err: fmt.Errorf("connection refused")}
}

func TestAFileThatEndsEarlyIsNotTakenForWhole(t *testing.T) {
	w := newWorld(t)
	server := httptest.NewTLSServer((&Server{Runs: w.c, Key: operatorKey, Shelf: shelf{text: strings.Repeat("half", 4<<10), size: 32 << 10}}).handler())
	defer server.Close()
	c := clientOf(t, &rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}})
	c.base = c.base.ResolveReference(&url.URL{Path: "/"})
	got, err := c.Of(w.runs["a"]).Get(t.Context(), PrefixOf(w.runs["a"])+"/manifest.json", "")
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("it is read as %q, %v", got, err)
	}
}

// stalled is a store whose files do not come until they are released.
type stalled struct{ begun, released chan struct{} }

func (s stalled) Stream(context.Context, string) (io.ReadCloser, int64, error) {
	s.begun <- struct{}{}
	<-s.released
	return io.NopCloser(strings.NewReader("x")), 1, nil
}

// fakeServer serves the run quick of each namespace.
func fakeServer(t *testing.T, store Shelf, namespaces ...string) http.Handler {
	t.Helper()
	types := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(types); err != nil {
		t.Fatal(err)
	}
	runs := fake.NewClientBuilder().WithScheme(types)
	for _, n := range namespaces {
		runs.WithObjects(&v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: n, Name: "quick", UID: "1"}})
	}
	return (&Server{Runs: runs.Build(), Key: operatorKey, Shelf: store}).handler()
}

func signed(ctx context.Context, namespace string) *http.Request {
	q := httptest.NewRequestWithContext(ctx, http.MethodGet, "/v1/namespaces/"+namespace+"/benchmarkruns/quick/manifest.json", nil)
	q.Header.Set(AuthorizationHeader, authorization(RunKey(operatorKey, "1"), namespace, "quick", "manifest.json", time.Now()))
	return q
}

func TestOneNamespaceCannotTakeAllDownloads(t *testing.T) {
	store := stalled{make(chan struct{}, atOnce), make(chan struct{})}
	h := fakeServer(t, store, "greedy", "modest", "jane")
	ask := func(ctx context.Context, namespace string) *httptest.ResponseRecorder {
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, signed(ctx, namespace))
		return answer
	}
	var all sync.WaitGroup
	get := func(namespace string) {
		all.Go(func() {
			if answer := ask(t.Context(), namespace); answer.Code != http.StatusOK {
				t.Errorf("%s is answered %d", namespace, answer.Code)
			}
		})
		<-store.begun
	}
	for range eachAtOnce {
		get("greedy")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if answer := ask(ended, "greedy"); answer.Code != http.StatusServiceUnavailable || answer.Header().Get("Retry-After") != retryAfter {
		t.Errorf("a namespace with its share of downloads is answered %d, Retry-After %q", answer.Code, answer.Header().Get("Retry-After"))
	}
	get("modest")
	get("jane")
	close(store.released)
	all.Wait()
}

// deadlines records the deadline of an answer.
type deadlines struct {
	*httptest.ResponseRecorder
	set time.Time
}

func (d *deadlines) SetWriteDeadline(to time.Time) error {
	d.set = to
	return nil
}

func TestSlowReaderLosesItsTurn(t *testing.T) {
	h := fakeServer(t, shelf{text: "x", size: 1}, "a")
	answer := &deadlines{ResponseRecorder: httptest.NewRecorder()}
	before := time.Now()
	h.ServeHTTP(answer, signed(t.Context(), "a"))
	if answer.set.Before(before.Add(slowStart)) || answer.set.After(time.Now().Add(slowStart)) {
		t.Errorf("the deadline of a small file is %s after the request, want %s", answer.set.Sub(before), slowStart)
	}
	for size, want := range map[int64]time.Duration{2 << 20: 18 * time.Second, artifact.MaxObject: answerDeadline} {
		if got := timeFor(size); got != want {
			t.Errorf("%d bytes may take %s, want %s", size, got, want)
		}
	}
}
