package controllers

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func refusesWith(q *http.Request, code int, reason metav1.StatusReason, message string) *http.Response {
	body, err := json.Marshal(metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message,
	})
	if err != nil {
		panic(err)
	}
	return &http.Response{
		StatusCode: code, Status: http.StatusText(code), Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(string(body))), Request: q, ProtoMajor: 1, ProtoMinor: 1,
	}
}

// begun is after how many requests an operator has begun.
const begun = 20

// trouble stands between an operator and its API server. It counts all requests, and those that it has refused.
type trouble struct{ asked, refused atomic.Int64 }

// oneOfThree refuses one request of three of a sort, by chance.
func (t *trouble) oneOfThree(of func(*http.Request) bool, code int, reason metav1.StatusReason) func(http.RoundTripper) http.RoundTripper {
	return func(to http.RoundTripper) http.RoundTripper {
		return way(func(q *http.Request) (*http.Response, error) {
			// By chance: of each third a pass that makes three requests would always lose the same. The first ones start the operator, which ends
			// where it cannot, and is started anew by its Deployment.
			if t.asked.Add(1) > begun && of(q) && rand.IntN(3) == 0 {
				t.refused.Add(1)
				return refusesWith(q, code, reason, "not now"), nil
			}
			return to.RoundTrip(q)
		})
	}
}

func everything(*http.Request) bool  { return true }
func writes(q *http.Request) bool    { return q.Method != http.MethodGet }
func patches(q *http.Request) bool   { return q.Method == http.MethodPatch }
func watches(q *http.Request) bool   { return q.URL.Query().Get("watch") != "" }
func unwatched(q *http.Request) bool { return !watches(q) }

func uploads(q *http.Request) bool { return q.Method == http.MethodPut }

// refuser answers some requests to an object store while it lasts.
type refuser struct {
	addr  string
	lasts atomic.Bool
}

// newRefuser answers a sort of requests with a status and a code of S3.
func newRefuser(t *testing.T, endpoint string, of func(*http.Request) bool, status int, code string) *refuser {
	t.Helper()
	var r refuser
	to := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: endpoint})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if !r.lasts.Load() || !of(q) {
			to.ServeHTTP(w, q)
			return
		}
		w.Header().Set("X-Amz-Request-Id", "1") // So does the store itself, and no proxy.
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, "<Error><Code>%s</Code></Error>", code)
	}))
	t.Cleanup(server.Close)
	r.addr = server.Listener.Addr().String()
	return &r
}

func far(to http.RoundTripper) http.RoundTripper {
	return way(func(q *http.Request) (*http.Response, error) {
		time.Sleep(60 * time.Millisecond)
		return to.RoundTrip(q)
	})
}

// outage is a time without one kind of API requests for an operator.
type outage struct {
	lasts atomic.Bool
	// met counts the requests that it has met.
	met atomic.Int64
}

// errUnreachable is the error of an unanswered request.
var errUnreachable = errors.New("connect: connection refused")

// of fails a kind of requests during the outage: they are not answered, or refused with a message about etcd. Watches of that kind are cut.
func (o *outage) of(sort func(*http.Request) bool, message string) func(http.RoundTripper) http.RoundTripper {
	return func(to http.RoundTripper) http.RoundTripper {
		return way(func(q *http.Request) (*http.Response, error) {
			switch {
			case !sort(q):
				return to.RoundTrip(q)
			case o.lasts.Load() && message == "":
				o.met.Add(1)
				return nil, errUnreachable
			case o.lasts.Load():
				o.met.Add(1)
				return refusesWith(q, http.StatusInternalServerError, metav1.StatusReasonInternalError, message), nil
			}
			p, err := to.RoundTrip(q)
			if err == nil && watches(q) {
				p.Body = untilOutage{p.Body, o}
			}
			return p, err
		})
	}
}

// untilOutage is a body that breaks off with what comes first in an outage.
type untilOutage struct {
	io.ReadCloser
	o *outage
}

func (b untilOutage) Read(to []byte) (int, error) {
	n, err := b.ReadCloser.Read(to)
	if b.o.lasts.Load() {
		return 0, errUnreachable
	}
	return n, err
}

// behind lets what an operator watches come one to two seconds late, one kind of objects later than another.
func behind(to http.RoundTripper) http.RoundTripper {
	var n atomic.Int64
	return way(func(q *http.Request) (*http.Response, error) {
		p, err := to.RoundTrip(q)
		if err == nil && watches(q) {
			p.Body = newLate(p.Body, time.Second+time.Duration(n.Add(1)%3)*500*time.Millisecond)
		}
		return p, err
	})
}

// late is a body that is read some time after it has come.
type late struct {
	*io.PipeReader
	of io.Closer
}

func newLate(of io.ReadCloser, by time.Duration) late {
	type part struct {
		due  time.Time
		text []byte
		err  error
	}
	parts := make(chan part, 1<<10)
	reader, writer := io.Pipe()
	go func() {
		defer close(parts)
		for err := error(nil); err == nil; {
			text, n := make([]byte, 1<<14), 0
			n, err = of.Read(text)
			parts <- part{time.Now().Add(by), text[:n], err}
		}
	}()
	go func() {
		for p := range parts {
			time.Sleep(time.Until(p.due))
			_, _ = writer.Write(p.text)
			if p.err != nil {
				_ = writer.CloseWithError(p.err)
			}
		}
	}()
	return late{reader, of}
}

func (b late) Close() error { return errors.Join(b.PipeReader.Close(), b.of.Close()) }

// forgetful is an API server whose watches last two seconds. It refuses one of three by chance, since its history is gone. After each refusal a
// client pauses twice as long, up to half a minute, so it refuses three watches per kind.
type forgetful struct {
	refused atomic.Int64
	mu      sync.Mutex
	of      map[string]int
}

func (f *forgetful) refuses(path string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.of[path] == 3 || rand.IntN(3) > 0 {
		return false
	}
	f.of[path]++
	f.refused.Add(1)
	return true
}

func (f *forgetful) between(to http.RoundTripper) http.RoundTripper {
	return way(func(q *http.Request) (*http.Response, error) {
		if !watches(q) {
			return to.RoundTrip(q)
		}
		if f.refuses(q.URL.Path) {
			return refusesWith(q, http.StatusGone, metav1.StatusReasonExpired, "too old resource version"), nil
		}
		p, err := to.RoundTrip(q)
		if err == nil {
			b := &endingBody{ReadCloser: p.Body}
			p.Body = b
			time.AfterFunc(2*time.Second, b.end)
		}
		return p, err
	})
}

// endingBody ends in good order, after which a client watches again at once. After a broken answer it would pause twice as long each time.
type endingBody struct {
	io.ReadCloser
	over atomic.Bool
}

func (b *endingBody) end() {
	b.over.Store(true)
	_ = b.Close()
}

func (b *endingBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && b.over.Load() {
		err = io.EOF
	}
	return n, err
}
