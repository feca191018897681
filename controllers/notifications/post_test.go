package notifications

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/leader"
	"loadstone.dev/loadstone/controllers/outbound"
	"loadstone.dev/loadstone/internal/suite/notify"
)

// sink is a server whose address contains a secret token.
func sink(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	return s.URL + "/rounds?token=secret"
}

func TestWhatASinkAnswers(t *testing.T) {
	elsewhere := sink(t, func(http.ResponseWriter, *http.Request) { t.Error("a redirect is followed") })
	for name, tc := range map[string]struct {
		answer http.HandlerFunc
		// reason and message are why the event is not taken; empty if it is.
		reason, message string
		after           time.Duration
	}{
		"200":            {answer: func(http.ResponseWriter, *http.Request) {}},
		"204":            {answer: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }},
		"an endless 202": {answer: endless},
		"404": {
			func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "secret", http.StatusNotFound) },
			v1alpha1.ReasonSinkRefused, "answers 404 Not Found", 0,
		},
		"429 with a pause": {
			func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", "120")
				w.WriteHeader(http.StatusTooManyRequests)
			},
			v1alpha1.ReasonSinkRefused, "answers 429 Too Many Requests", 2 * time.Minute,
		},
		"503 with a date": {
			func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", "Wed, 21 Oct 2026 07:28:00 GMT")
				w.WriteHeader(http.StatusServiceUnavailable)
			},
			v1alpha1.ReasonSinkRefused, "answers 503 Service Unavailable", 0,
		},
		"a redirect": {
			func(w http.ResponseWriter, q *http.Request) {
				http.Redirect(w, q, elsewhere, http.StatusTemporaryRedirect)
			},
			v1alpha1.ReasonSinkRefused, "answers 307 Temporary Redirect; redirects are not followed: set url to the new address", 0,
		},
		"one that dies": {
			func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
			v1alpha1.ReasonSinkUnavailable, "does not answer: the connection was closed before an answer", 0,
		},
		"a header without an end": {
			func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X", strings.Repeat("secret", 20_000)) },
			v1alpha1.ReasonSinkUnavailable, unread, 0,
		},
		"a 202 with a long header": {answer: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X", strings.Repeat("secret", 5000))
			w.WriteHeader(http.StatusAccepted)
		}},
		"a header that is none":         {says("HTTP/1.1 200 OK\r\nsecret\r\n\r\n"), v1alpha1.ReasonSinkUnavailable, unread, 0},
		"another protocol":              {says("220 secret.example ESMTP\r\n"), v1alpha1.ReasonSinkUnavailable, unread, 0},
		"a redirect that leads nowhere": {says("HTTP/1.1 302 Found\r\nLocation: http://a:secret/\r\n\r\n"), v1alpha1.ReasonSinkUnavailable, unread, 0},
		"an answer that ends in its header": {
			says("HTTP/1.1 200 OK\r\nX: secret"), v1alpha1.ReasonSinkUnavailable, "does not answer: the connection was closed before an answer", 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			sent := make(chan string, 1)
			address := sink(t, func(w http.ResponseWriter, q *http.Request) {
				sent <- fmt.Sprintf("%s %s %s %s", q.Method, q.URL, q.Header.Get("Content-Type"), read(q))
				tc.answer(w, q)
			})
			answer := posted(t, Poster(unguarded()), address, []byte(`{"specversion":"1.0"}`))
			if answer.Reason != tc.reason || answer.Message != tc.message || answer.After != tc.after || strings.Contains(answer.Message, "secret") {
				t.Errorf("got %+v", answer)
			}
			if got := <-sent; got != `POST /rounds?token=secret application/cloudevents+json; charset=utf-8 {"specversion":"1.0"}` {
				t.Errorf("the sink was sent %s", got)
			}
		})
	}
}

// unread is the message for an invalid answer.
const unread = "does not answer: it did not send a valid HTTP answer"

// says answers with a text as it is, and ends the connection.
func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return // The test sees another answer.
		}
		_, _ = io.WriteString(c, text)
		_ = c.Close()
	}
}

// posted is the answer of a sink that is asked.
func posted(t *testing.T, post func(context.Context, string, []byte) (notify.Answer, error), address string, event []byte) notify.Answer {
	t.Helper()
	a, err := post(t.Context(), address, event)
	if err != nil {
		t.Error(err)
	}
	return a
}

// unguarded is the way of sinks, but for the addresses that it refuses: the sinks of tests are on the machine that they run on.
func unguarded() *http.Transport {
	way := outbound.Way(outbound.Allowed{})
	way.DialContext = (&net.Dialer{}).DialContext
	return way
}

func read(q *http.Request) []byte {
	body, err := io.ReadAll(q.Body)
	if err != nil {
		return []byte(err.Error())
	}
	return body
}

// endless answers for as long as anybody reads.
func endless(w http.ResponseWriter, q *http.Request) {
	w.WriteHeader(http.StatusAccepted)
	for q.Context().Err() == nil {
		if _, err := w.Write(make([]byte, 1<<10)); err != nil {
			return
		}
	}
}

func TestRefusedAddressIsNamedInTheAnswer(t *testing.T) {
	address := sink(t, func(http.ResponseWriter, *http.Request) { t.Error("the operator's own machine is asked") })
	a := posted(t, Poster(outbound.Way(outbound.Allowed{})), address, nil)
	if a.Reason != v1alpha1.ReasonSinkUnavailable || !strings.Contains(a.Message, "loopback, link-local and cloud metadata addresses are always refused") {
		t.Errorf("got %+v", a)
	}
}

func TestWhyASinkDoesNotAnswerIsTheSameAtEachTry(t *testing.T) {
	const closed = "http://127.0.0.1:1/secret" // No server listens there.
	ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	post := Poster(unguarded())
	if a := posted(t, post, closed, nil); a.Message != "does not answer: dial: connect: connection refused" {
		t.Errorf("nobody listens: %+v", a)
	}
	if a, err := post(ctx, closed, nil); err != nil || a.Message != "does not answer: no answer within 10 s" {
		t.Errorf("a sink that is slow: %+v", a)
	}
	if a := posted(t, post, "http://[::1]:secret/", nil); a.Message != "was not notified: its url is not valid" {
		t.Errorf("no address: %+v", a)
	}
}

func TestOfTheCertificateOfASinkNothingIsShown(t *testing.T) {
	secure := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a sink is sent what it should not see") }))
	t.Cleanup(secure.Close)
	trusting := unguarded()
	trusting.TLSClientConfig = &tls.Config{RootCAs: x509.NewCertPool()}
	trusting.TLSClientConfig.RootCAs.AddCert(secure.Certificate())
	of := func(address string) string { return strings.Replace(address, "127.0.0.1", "localhost", 1) }
	for name, tc := range map[string]struct {
		way           *http.Transport
		address, want string
	}{
		"one that nobody has signed": {unguarded(), of(secure.URL), "does not answer: its certificate is not trusted, or is for another host"},
		"one of another host":        {trusting, of(secure.URL), "does not answer: its certificate is not trusted, or is for another host"},
		"none at all": {
			unguarded(), strings.Replace(sink(t, func(http.ResponseWriter, *http.Request) {}), "http:", "https:", 1),
			"does not answer: its url starts with https://, but it does not support TLS",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if a := posted(t, Poster(tc.way), tc.address, nil); a.Message != tc.want {
				t.Errorf("got %+v", a)
			}
		})
	}
}

// An operator that does not lead asks no sink, and says of none that it fails.
func TestATryWithoutTheLeaseIsNoFailureOfItsSink(t *testing.T) {
	address := sink(t, func(http.ResponseWriter, *http.Request) { t.Error("a sink is told by an operator that does not lead") })
	noon := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	s := &v1alpha1.BenchmarkSuite{
		ObjectMeta: metav1.ObjectMeta{Namespace: "perf", Name: "checkout", UID: "1"},
		Spec:       v1alpha1.BenchmarkSuiteSpec{Notifications: []v1alpha1.Notification{{Name: "events", URL: address}}},
		Status: v1alpha1.BenchmarkSuiteStatus{
			History:       []v1alpha1.SuiteRound{{Round: 1, Outcome: v1alpha1.RoundReplaced, CompletionTime: &metav1.Time{Time: noon}}},
			Notifications: []v1alpha1.NotificationStatus{{Name: "events", StartTime: &metav1.Time{Time: noon}}},
		},
	}
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(s).WithStatusSubresource(s).Build()
	fence := leader.NewFence(time.Minute, func() time.Time { return noon })
	r := &Reconciler{
		Client: c, Live: c, Recorder: events.NewFakeRecorder(1), Post: Poster(fence.Guard(unguarded())), Now: func() time.Time { return noon.Add(time.Second) },
	}
	if _, err := r.Reconcile(t.Context(), s); !errors.Is(err, leader.ErrLost) {
		t.Errorf("the pass ends with %v", err)
	}
	var after v1alpha1.BenchmarkSuite
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(s), &after); err != nil {
		t.Fatal(err)
	}
	if n := after.Status.Notifications[0]; n.FailureTime != nil || len(after.Status.Conditions) > 0 {
		t.Errorf("the sink is said to fail: %+v", after.Status)
	}
}
