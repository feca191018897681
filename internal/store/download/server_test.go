package download

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
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
	another := rest.CopyConfig(reader)
	another.Impersonate.UserName = "somebody"
	absent := w.runs["a"].DeepCopy()
	absent.Name = "absent"
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
		"a run that is not there":      {reader, absent, PrefixOf(absent) + "/manifest.json", "", artifact.ErrNotFound, "there is no BenchmarkRun absent in namespace a"},
		"a page of others":             {reader, w.runs["b"], w.pages["b"].key, "", ErrRefused, "system:serviceaccount:a:reader may not get benchmarkruns.loadstone.dev quick in namespace b"},
		"what no run owns":             {reader, w.runs["a"], "calibrations/a.json", "", ErrRefused, "is no file of BenchmarkRun a/quick"},
		"who shows a certificate":      {w.config, w.runs["a"], w.pages["a"].key, "", ErrRefused, "your kubeconfig has no token"},
		"who acts as somebody else":    {another, w.runs["a"], w.pages["a"].key, "", ErrRefused, "the API server answers 403 Forbidden"},
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

func ask(t *testing.T, address, path, token string) (*http.Response, string) {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+address+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		q.Header.Set(TokenHeader, token)
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

func TestWhoComesByAnotherWayIsReviewedLikewise(t *testing.T) {
	w := newWorld(t)
	token := bearer + w.reader().BearerToken
	own := func(file string) string { return "/v1/namespaces/a/benchmarkruns/quick/" + file }
	page := strings.TrimPrefix(w.pages["a"].key, PrefixOf(w.runs["a"])+"/")
	others := strings.TrimPrefix(w.pages["b"].key, "b/")
	for name, tc := range map[string]struct {
		path, token string
		want        int
	}{
		"their own page":                             {own(page), token, http.StatusOK},
		"no token":                                   {own(page), "", http.StatusUnauthorized},
		"a token without its scheme":                 {own(page), strings.TrimPrefix(token, bearer), http.StatusUnauthorized},
		"a token of nobody":                          {own(page), bearer + "nonsense", http.StatusUnauthorized},
		"a run of others":                            {"/v1/namespaces/b/benchmarkruns/quick/" + page, token, http.StatusForbidden},
		"a run of others that is not there":          {"/v1/namespaces/b/benchmarkruns/none/" + page, token, http.StatusForbidden},
		"a run that is not there":                    {"/v1/namespaces/a/benchmarkruns/none/" + page, token, http.StatusNotFound},
		"others' page from their own run":            {own("%2e%2e/%2e%2e/b/" + others), token, http.StatusNotFound},
		"others' page with escaped slashes":          {own("..%2f..%2fb%2f" + others), token, http.StatusNotFound},
		"others' run in the place of a file's run":   {"/v1/namespaces/a/benchmarkruns/..%2f..%2fb%2fquick/" + page, token, http.StatusNotFound},
		"their namespace, and others' behind it":     {"/v1/namespaces/a%2f..%2fb/benchmarkruns/quick/" + page, token, http.StatusForbidden},
		"what no run owns, from their own run":       {own("%2e%2e/%2e%2e/calibrations/a.json"), token, http.StatusNotFound},
		"a list of files":                            {own("reports/"), token, http.StatusNotFound},
		"a list of runs":                             {"/v1/namespaces/a/benchmarkruns", token, http.StatusNotFound},
		"others' page by dots that an address loses": {"/v1/namespaces/a/benchmarkruns/quick/../../../b/benchmarkruns/quick/" + others, token, http.StatusTemporaryRedirect},
	} {
		t.Run(name, func(t *testing.T) {
			answer, text := ask(t, w.address, tc.path, tc.token)
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
		q.Header.Set(TokenHeader, token)
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
	reader := w.reader()
	for name, tc := range map[string]struct {
		shelf   Shelf
		reviews client.Client
		want    int
		retry   string
	}{
		"nobody answers at the store":      {nobody, w.c, http.StatusServiceUnavailable, retryAfter},
		"the store refuses the key":        {shelf{err: artifact.ErrDenied}, w.c, http.StatusServiceUnavailable, retryAfter},
		"a file beyond all bounds":         {shelf{size: artifact.MaxObject + 1}, w.c, http.StatusBadGateway, ""},
		"nobody answers at the API server": {shelf{text: "x", size: 1}, lost{w.c}, http.StatusServiceUnavailable, retryAfter},
		"all is well":                      {shelf{text: "x", size: 1}, w.c, http.StatusOK, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := &Server{Runs: w.c, Reviews: tc.reviews, Shelf: tc.shelf}
			server := httptest.NewTLSServer(s.handler())
			defer server.Close()
			answer, text := ask(t, server.Listener.Addr().String(), "/v1/namespaces/a/benchmarkruns/quick/manifest.json", bearer+reader.BearerToken)
			if answer.StatusCode != tc.want || answer.Header.Get("Retry-After") != tc.retry {
				t.Errorf("it is answered %s (Retry-After %q): %s, want %d", answer.Status, answer.Header.Get("Retry-After"), text, tc.want)
			}
			if strings.Contains(text, "127.0.0.1") {
				t.Errorf("whoever asks learns where the operator's store is: %s", text)
			}
		})
	}
}

// A user with rights to a run elsewhere learns that this operator does not lead it.
func TestARunOfANamespaceThatIsNotLedIsSaid(t *testing.T) {
	w := newWorld(t)
	s := &Server{Runs: w.c, Reviews: w.c, Shelf: shelf{text: "x", size: 1}, Leads: func(namespace string) bool { return namespace == "b" }}
	server := httptest.NewTLSServer(s.handler())
	defer server.Close()
	answer, text := ask(t, server.Listener.Addr().String(), "/v1/namespaces/a/benchmarkruns/quick/manifest.json", bearer+w.reader().BearerToken)
	if want := "this installation leads no runs in namespace a (chart value runs.namespaces)"; answer.StatusCode != http.StatusNotFound || !strings.Contains(text, want) {
		t.Errorf("it is answered %s: %s, want 404: %s", answer.Status, text, want)
	}
}

type lost struct{ client.Client }

func (lost) Create(context.Context, client.Object, ...client.CreateOption) error {
	return &url.Error{Op: "Post", URL: "https://127.0.0.1:1", Err: fmt.Errorf("connection refused")}
}

func TestAFileThatEndsEarlyIsNotTakenForWhole(t *testing.T) {
	w := newWorld(t)
	server := httptest.NewTLSServer((&Server{Runs: w.c, Reviews: w.c, Shelf: shelf{text: strings.Repeat("half", 4<<10), size: 32 << 10}}).handler())
	defer server.Close()
	c := clientOf(t, &rest.Config{Host: server.URL, BearerToken: w.reader().BearerToken, TLSClientConfig: rest.TLSClientConfig{Insecure: true}})
	c.base = c.base.ResolveReference(&url.URL{Path: "/"})
	got, err := c.Of(w.runs["a"]).Get(t.Context(), PrefixOf(w.runs["a"])+"/manifest.json", "")
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("it is read as %q, %v", got, err)
	}
}

// trusting is an API server whose tokens are the names of their users. All may get each run.
type trusting struct{ client.Client }

func (trusting) Create(_ context.Context, o client.Object, _ ...client.CreateOption) error {
	switch o := o.(type) {
	case *authenticationv1.TokenReview:
		o.Status = authenticationv1.TokenReviewStatus{Authenticated: true, User: authenticationv1.UserInfo{Username: o.Spec.Token}}
	case *authorizationv1.SubjectAccessReview:
		o.Status.Allowed = true
	}
	return nil
}

// stalled is a store whose files do not come until they are released.
type stalled struct{ begun, released chan struct{} }

func (s stalled) Stream(context.Context, string) (io.ReadCloser, int64, error) {
	s.begun <- struct{}{}
	<-s.released
	return io.NopCloser(strings.NewReader("x")), 1, nil
}

func TestOneNamespaceCannotTakeAllDownloads(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	run := &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "quick", UID: "1"}}
	store := stalled{make(chan struct{}, atOnce), make(chan struct{})}
	h := (&Server{Runs: fake.NewClientBuilder().WithScheme(scheme).WithObjects(run).Build(), Reviews: trusting{}, Shelf: store}).handler()
	ask := func(ctx context.Context, token string) *httptest.ResponseRecorder {
		answer := httptest.NewRecorder()
		q := httptest.NewRequestWithContext(ctx, http.MethodGet, "/v1/namespaces/a/benchmarkruns/quick/manifest.json", nil)
		q.Header.Set(TokenHeader, bearer+token)
		h.ServeHTTP(answer, q)
		return answer
	}
	var all sync.WaitGroup
	get := func(token string) {
		all.Go(func() {
			if answer := ask(t.Context(), token); answer.Code != http.StatusOK {
				t.Errorf("%s is answered %d", token, answer.Code)
			}
		})
	}
	for i := range eachAtOnce {
		get(fmt.Sprintf("system:serviceaccount:greedy:account-%d", i))
		<-store.begun
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if answer := ask(ended, "system:serviceaccount:greedy:another"); answer.Code != http.StatusServiceUnavailable || answer.Header().Get("Retry-After") != retryAfter {
		t.Errorf("a namespace with its share of downloads is answered %d, Retry-After %q", answer.Code, answer.Header().Get("Retry-After"))
	}
	for _, token := range []string{"system:serviceaccount:modest:account", "jane"} {
		get(token)
		<-store.begun
	}
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
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	run := &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "quick", UID: "1"}}
	h := (&Server{Runs: fake.NewClientBuilder().WithScheme(scheme).WithObjects(run).Build(), Reviews: trusting{}, Shelf: shelf{text: "x", size: 1}}).handler()
	q := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/namespaces/a/benchmarkruns/quick/manifest.json", nil)
	q.Header.Set(TokenHeader, bearer+"jane")
	answer := &deadlines{ResponseRecorder: httptest.NewRecorder()}
	before := time.Now()
	h.ServeHTTP(answer, q)
	if answer.set.Before(before.Add(slowStart)) || answer.set.After(time.Now().Add(slowStart)) {
		t.Errorf("the deadline of a small file is %s after the request, want %s", answer.set.Sub(before), slowStart)
	}
	for size, want := range map[int64]time.Duration{2 << 20: 18 * time.Second, artifact.MaxObject: answerDeadline} {
		if got := timeFor(size); got != want {
			t.Errorf("%d bytes may take %s, want %s", size, got, want)
		}
	}
}

func TestTheTokenIsShownByWhoHasOneOfTheirOwn(t *testing.T) {
	for name, tc := range map[string]struct{ authorization, impersonated, want string }{
		"a token":                    {"Bearer abc", "", "Bearer abc"},
		"a password":                 {"Basic abc", "", ""},
		"a certificate":              {"", "", ""},
		"who acts as somebody else":  {"Bearer abc", "jane", ""},
		"somebody else, by password": {"Basic abc", "jane", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var got string
			way := carry(roundTripper(func(q *http.Request) (*http.Response, error) {
				got = q.Header.Get(TokenHeader)
				return &http.Response{Body: http.NoBody}, nil
			}))
			q := httptest.NewRequest(http.MethodGet, "/", nil)
			q.Header.Set("Authorization", tc.authorization)
			q.Header.Set("Impersonate-User", tc.impersonated)
			answer, err := way.RoundTrip(q)
			if err != nil || answer.Body.Close() != nil || got != tc.want {
				t.Errorf("the operator is shown %q, %v, want %q", got, err, tc.want)
			}
		})
	}
}
