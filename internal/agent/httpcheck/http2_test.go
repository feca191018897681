package httpcheck_test

import (
	"crypto/tls"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/agent/httpcheck"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/testbed"
)

// overHTTP2 is a request over HTTP/2 that must be answered with status 200.
func overHTTP2(r record.Request) record.Request {
	r.Protocol, r.Expect = record.HTTP2, record.Expect{Status: 200}
	return r
}

func ownHTTP2(t *testing.T, handler http.Handler, changes ...func(*tls.Config)) (*testbed.Encrypted, httpcheck.Server) {
	t.Helper()
	server := testbed.NewEncrypted(t, time.Now().Add(time.Hour), handler, changes...)
	return server, httpcheck.Server{Address: server.Target, TLS: &record.TLS{CA: server.Authority}}
}

// A check sends the same request over HTTP/2 as over HTTP/1.1, and as k6.
func TestTheRequestInHTTP2IsThatOfTheTools(t *testing.T) {
	for name, r := range testbed.Requests() {
		t.Run(name, func(t *testing.T) {
			asked := testbed.NewAsked(t, r)
			server, own := ownHTTP2(t, asked)
			r := overHTTP2(r)
			answers, err := httpcheck.Check(t.Context(), own, []record.Request{r})
			if err != nil {
				t.Fatal(err)
			}
			asked.Check(t, 1)
			if got := answers[0].Response; got.Key() != r.Key() || got.Status != 200 || got.BodyBytes != int64(len("helloworld")) || got.HeaderBytes < 20 || got.HeaderBytes > 200 {
				t.Errorf("the answer is %+v", got)
			}
			if v := server.Visits(); v.HTTP != "h2" || strings.Join(v.Protocols, " ") != "h2 http/1.1" || len(v.Names) > 0 {
				t.Errorf("the server has seen %+v", v)
			}
			audit, err := httpcheck.Counted(t.Context(), own, r, 20, 2, time.Now().Add(time.Minute))
			if err != nil || audit.Requests != 20 || audit.Connections != 2 || audit.Failed+audit.WrongStatus+audit.WrongBody != 0 {
				t.Errorf("the audit is %+v, %v", audit, err)
			}
			asked.Check(t, 21)
			if v := server.Visits(); v.Connections != 2 || v.Requests != 20 || v.HTTP != "h2" {
				t.Errorf("the server has seen %+v", v)
			}
		})
	}
}

func TestAnAnswerInHTTP2IsComparedAsAnyOther(t *testing.T) {
	_, own := ownHTTP2(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/gone":
			w.WriteHeader(http.StatusGone)
		case "/long":
			_, _ = io.WriteString(w, strings.Repeat("x", 100_000))
		case "/cut":
			_, _ = io.WriteString(w, "x")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		default:
			_, _ = io.WriteString(w, "hello")
		}
	}))
	other := "goodbye"
	for name, tc := range map[string]struct {
		request record.Request
		want    string
	}{
		"a right answer":      {record.Request{Path: "/"}, ""},
		"a long one":          {record.Request{Path: "/long"}, ""},
		"another status":      {record.Request{Path: "/gone"}, "GET /gone answered 410 instead of 200"},
		"another body":        {record.Request{Path: "/", Expect: record.Expect{Body: &other}}, `GET / answered the body "hello" instead of "goodbye"`},
		"one that is cut off": {record.Request{Path: "/cut"}, "GET /cut got no answer: stream error"},
	} {
		t.Run(name, func(t *testing.T) {
			body := tc.request.Expect.Body
			r := overHTTP2(tc.request)
			r.Expect.Body = body
			answers, err := httpcheck.Check(t.Context(), own, []record.Request{r})
			if tc.want != "" {
				if err == nil || !strings.HasPrefix(err.Error(), tc.want) {
					t.Errorf("got %v, want %s", err, tc.want)
				}
				return
			}
			if want := map[string]int64{"/": 5, "/long": 100_000}[r.Path]; err != nil || answers[0].Response.BodyBytes != want {
				t.Errorf("got %+v, %v", answers, err)
			}
		})
	}
}

func TestAServerThatEndsConnectionsOfHTTP2IsAskedOverNewOnes(t *testing.T) {
	server, own := ownHTTP2(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close") // In HTTP/2 this announces that the server takes no more requests.
		_, _ = io.WriteString(w, "hello")
	}))
	audit, err := httpcheck.Counted(t.Context(), own, overHTTP2(record.Request{Path: "/"}), 10, 1, time.Now().Add(time.Minute))
	if err != nil || audit.Requests != 10 || audit.Failed+audit.WrongStatus+audit.WrongBody != 0 || audit.Connections < 2 {
		t.Errorf("the audit is %+v, %v", audit, err)
	}
	if v := server.Visits(); v.Requests != 10 {
		t.Errorf("the server has seen %+v", v)
	}
}

func TestAServerThatDoesNotAnswerInHTTP2IsNotWaitedForForEver(t *testing.T) {
	_, own := ownHTTP2(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	audit, err := record.Audit{}, error(nil)
	for end := time.Now().Add(2 * time.Minute); err == nil && audit.Requests == 0 && time.Now().Before(end); { // A busy machine may send no request in time.
		audit, err = httpcheck.Counted(t.Context(), own, overHTTP2(record.Request{Path: "/"}), 10, 1, time.Now().Add(2*time.Second))
	}
	if err != nil || audit.Requests != 1 || audit.Failed != 1 || !strings.HasPrefix(audit.Example, "GET / got no answer within ") {
		t.Errorf("the audit is %+v, %v", audit, err)
	}
}

func TestAServerOfHTTP2AloneGetsReadyAndIsLookedAt(t *testing.T) {
	server, own := ownHTTP2(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 {
			w.WriteHeader(http.StatusHTTPVersionNotSupported)
		}
		_, _ = io.WriteString(w, "hello")
	}))
	own.Protocol = record.HTTP2
	if httpcheck.Ready(t.Context(), own, "/") == 0 || !httpcheck.Answers(t.Context(), own, "/") {
		t.Error("it does not answer")
	}
	if page, err := httpcheck.Fetch(t.Context(), own, "/"); err != nil || page != (httpcheck.Page{Status: 200, Body: "hello", Bytes: 5}) {
		t.Errorf("its page is %+v, %v", page, err)
	}
	if v := server.Visits(); v.HTTP != "h2" || v.Requests != 3 {
		t.Errorf("the server has seen %+v", v)
	}
}

func TestAServerWithoutHTTP2IsRefusedWithASentence(t *testing.T) {
	for name, tc := range map[string]struct {
		offers []string
		want   string
	}{
		"it offers HTTP/1.1": {[]string{"http/1.1"}, "the server does not speak HTTP/2 on its port: offered h2 and http/1.1 in a TLS handshake (ALPN), it chose http/1.1: enable h2 in the server, or remove loads[].protocol"},
		"it offers nothing":  {[]string{}, "the server does not speak HTTP/2 on its port: offered h2 and http/1.1 in a TLS handshake (ALPN), it chose neither: enable h2 in the server, or remove loads[].protocol"},
	} {
		t.Run(name, func(t *testing.T) {
			server, own := ownHTTP2(t, hello, func(c *tls.Config) { c.NextProtos = tc.offers })
			if _, err := httpcheck.Handshake(t.Context(), own, record.HTTP2); err == nil || err.Error() != tc.want {
				t.Errorf("the handshake ends with %v", err)
			}
			if _, err := httpcheck.Check(t.Context(), own, []record.Request{overHTTP2(record.Request{Path: "/"})}); err == nil || err.Error() != "GET / was not sent: "+tc.want {
				t.Errorf("the check ends with %v", err)
			}
			if v := server.Visits(); v.Requests > 0 {
				t.Errorf("%d requests were sent all the same", v.Requests)
			}
			// Until then readiness uses the server's own protocol, so that the check can refuse it.
			own.Protocol = record.HTTP2
			if httpcheck.Ready(t.Context(), own, "/") != 1 {
				t.Error("it is not ready at once")
			}
		})
	}
	_, own := ownHTTP2(t, hello)
	if got, err := httpcheck.Handshake(t.Context(), own, record.HTTP2); err != nil || got.Version != "TLS 1.3" || !got.Verified {
		t.Errorf("with a server that speaks HTTP/2 was agreed on %+v, %v", got, err)
	}
}
