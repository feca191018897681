package webhooks

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/suite/webhook"
)

// Clients without a key can send a slow body. Others are refused for now, and take no memory.
func TestWhoFindsNoPlaceToWaitIsToldToAskAgain(t *testing.T) {
	s := &Server{Now: time.Now, Client: suitesIn("a")}
	h := s.Handler()
	const most = eachAtOnce + eachWaiting
	var taken []func()
	take := func(namespace string) {
		if done, ok := s.places.Try(namespace); ok {
			taken = append(taken, done)
		}
	}
	for i := range atOnce + waiting {
		take(fmt.Sprintf("other-%d", i/most))
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/namespaces/a/benchmarksuites/b/trigger", nil))
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("got %d with %v", w.Code, w.Header())
	}
	if len(taken) != atOnce+waiting {
		t.Fatalf("%d places are taken", len(taken))
	}
	taken[0]()
	w = httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/namespaces/a/benchmarksuites/b/trigger", nil))
	if w.Code != http.StatusUnauthorized || s.places.Taken() != atOnce+waiting-1 || s.turns.Taken() != 0 {
		t.Errorf("with a place it got %d; %d places and %d turns are taken", w.Code, s.places.Taken(), s.turns.Taken())
	}
}

func TestRequestsToOneNamespaceDoNotDelayOthers(t *testing.T) {
	s := &Server{Now: time.Now, Client: suitesIn("greedy", "modest")}
	h := s.Handler()
	for range eachAtOnce + eachWaiting {
		if _, ok := s.places.Try("greedy"); !ok {
			t.Fatal("a namespace has no share of the places")
		}
	}
	for range eachAtOnce {
		if _, err := s.turns.Take(t.Context(), "greedy"); err != nil {
			t.Fatal(err)
		}
	}
	for namespace, want := range map[string]int{"greedy": http.StatusServiceUnavailable, "modest": http.StatusUnauthorized} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/namespaces/"+namespace+"/benchmarksuites/b/trigger", nil))
		if w.Code != want {
			t.Errorf("a request to namespace %s is answered %d, want %d", namespace, w.Code, want)
		}
	}
}

// suitesIn is an API server with a suite named b, with a webhook and its key, in each namespace.
func suitesIn(namespaces ...string) client.Client {
	scheme := runtime.NewScheme()
	if err := errors.Join(corev1.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		panic(err)
	}
	var held []client.Object
	for _, n := range namespaces {
		suite := &v1alpha1.BenchmarkSuite{ObjectMeta: metav1.ObjectMeta{Namespace: n, Name: "b"}}
		suite.Spec.Triggers.Webhook.SecretRef = v1alpha1.KeyReference{Name: "hook", Key: "key"}
		held = append(held, suite, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: n, Name: "hook"}, Data: map[string][]byte{"key": []byte("secret")}})
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(held...).Build()
}

// slowBody is a body that does not arrive.
type slowBody struct {
	read chan<- struct{}
	end  <-chan struct{}
}

func (b slowBody) Read([]byte) (int, error) {
	b.read <- struct{}{}
	<-b.end
	return 0, io.ErrUnexpectedEOF
}

// Anyone can invent names of suites, and send a body slowly.
func TestSlowRequestsForInventedSuitesDoNotDelayOthers(t *testing.T) {
	s := &Server{Now: time.Now, Client: suitesIn("a")}
	h := s.Handler()
	request := func(namespace string, body io.Reader) *http.Request {
		q := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/namespaces/"+namespace+"/benchmarksuites/b/trigger", body)
		at := strconv.FormatInt(s.Now().Unix(), 10)
		mac := hmac.New(sha256.New, []byte("secret"))
		fmt.Fprintf(mac, "%s.", at)
		q.Header.Set(webhook.TimeHeader, at)
		q.Header.Set(webhook.SignatureHeader, fmt.Sprintf("sha256=%x", mac.Sum(nil)))
		return q
	}
	events, end := make(chan struct{}, atOnce), make(chan struct{})
	var invented sync.WaitGroup
	for i := range atOnce { // Each reads its body, or is refused.
		invented.Go(func() {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, request(fmt.Sprintf("invented-%d", i), slowBody{events, end}))
			if w.Code == http.StatusServiceUnavailable {
				events <- struct{}{}
			}
		})
	}
	for range atOnce {
		<-events
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, request("a", nil))
	close(end)
	invented.Wait()
	if w.Code != http.StatusAccepted {
		t.Errorf("a signed request is answered %d (%s), want %d", w.Code, strings.TrimSpace(w.Body.String()), http.StatusAccepted)
	}
}

func TestLimitsForgetSuitesThatAreNotAsked(t *testing.T) {
	l, now := newLimits(askBurst, askEvery), time.Now()
	for i := range 100 {
		l.wait(client.ObjectKey{Name: strconv.Itoa(i)}, now.Add(time.Duration(i)*time.Minute))
	}
	if n := len(l.bySuite); n != 1 {
		t.Errorf("it remembers %d suites", n)
	}
	for range askBurst {
		l.wait(client.ObjectKey{Name: "busy"}, now)
	}
	l.wait(client.ObjectKey{Name: "new"}, now)
	if l.wait(client.ObjectKey{Name: "busy"}, now) == 0 {
		t.Error("a suite over its limit is forgotten")
	}
}

// The deadline of a body is the connection's, independent of the clock for signatures.
func TestABodyIsReadWhateverTheClockOfSignaturesSays(t *testing.T) {
	s := &Server{Now: func() time.Time { return time.Unix(0, 0) }, Client: suitesIn()}
	s.Handler()
	const size = 1 << 16
	server := httptest.NewServer(s.answering(func(_ context.Context, w http.ResponseWriter, q *http.Request, _ client.ObjectKey) *answer {
		body, a := read(w, q)
		if a == nil && len(body) == size {
			a = &answer{status: http.StatusOK}
		}
		return a
	}))
	defer server.Close()
	got, err := http.Post(server.URL, "text/plain", strings.NewReader(strings.Repeat("x", size)))
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	if got.StatusCode != http.StatusOK {
		t.Errorf("it is answered %s", got.Status)
	}
}

func TestWhoAsksTooOftenIsToldWhenToAskAgain(t *testing.T) {
	asks, now, name := newLimits(askBurst, askEvery), time.Now(), client.ObjectKey{Namespace: "a", Name: "b"}
	for i := range askBurst {
		if a := asks.refuse(name, now); a != nil {
			t.Fatalf("the ask with the number %d is answered %d %q", i, a.status, a.says)
		}
	}
	if a := asks.refuse(name, now); a == nil || a.status != http.StatusTooManyRequests || a.after != askEvery {
		t.Errorf("one more is answered %+v", a)
	}
	if a := asks.refuse(client.ObjectKey{Namespace: "a", Name: "c"}, now); a != nil {
		t.Errorf("of another suite one is answered %+v", a)
	}
	if a := asks.refuse(name, now.Add(askEvery)); a != nil {
		t.Errorf("a second later it is answered %+v", a)
	}
}
