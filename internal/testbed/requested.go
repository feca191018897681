package testbed

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"loadstone.dev/loadstone/internal/record"
)

// Requests are those that every tool, and the check before it, has to send alike.
func Requests() map[string]record.Request {
	expect := record.Expect{Status: 200}
	json := []record.Header{{Name: "Content-Type", Value: "application/json"}, {Name: "X-Tenant", Value: `a "b" \ %s, c`}}
	return map[string]record.Request{
		"JSON that is posted":      {Method: "POST", Path: "/orders?a=b", Headers: json, Body: "{\"text\": \"a \\\"b\\\" ]] é $HOME\"}\n", Expect: expect},
		"a POST without a body":    {Method: "POST", Path: "/orders", Expect: expect},
		"a PUT of 64 KiB":          {Method: "PUT", Path: "/", Headers: json[:1], Body: strings.Repeat("0123456789abcdef", 4096), Expect: expect},
		"a GET with headers":       {Path: "/", Headers: []record.Header{{Name: "Accept", Value: "text/html"}, {Name: "Authorization", Value: "Bearer x.y"}, {Name: "User-Agent", Value: "me/1"}}, Expect: expect},
		"a GET with a body":        {Path: "/", Headers: json, Body: `{"query": {}}`, Expect: expect},
		"a DELETE":                 {Method: "DELETE", Path: "/orders/7", Expect: expect},
		"a path of odd characters": {Path: "//a;b=c,d:e@f!$'()*+[x]/../%7Bid%7D/%2F/%c3?q=%C3%BC&r=/e?&s=~[]'", Expect: expect},
		"a method of the server's": {Method: "PURGE", Path: "/", Expect: expect},
	}
}

// Asked is a server that answers every request, and complains of each that is not as it should be.
type Asked struct {
	// Target is its address, as host:port.
	Target string

	want  record.Request
	mu    sync.Mutex
	seen  int64
	wrong string
}

// NewAsked starts a server that wants a request. It ends with the test.
func NewAsked(t *testing.T, want record.Request) *Asked {
	t.Helper()
	s := &Asked{want: want}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.Target = strings.TrimPrefix(server.URL, "http://")
	return s
}

// ServeHTTP implements http.Handler.
func (s *Asked) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	difference := s.compare(r, string(body))
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err != nil: // The end of the load cuts requests off.
	case difference != "" && s.wrong == "":
		s.wrong = difference
	default:
		s.seen++
	}
	_, _ = io.WriteString(w, "helloworld")
}

// compare returns what is wrong with a request; empty if nothing is.
func (s *Asked) compare(r *http.Request, body string) string {
	if r.Method != s.want.Verb() || r.RequestURI != s.want.Path {
		return fmt.Sprintf("it is %s %s", r.Method, r.RequestURI)
	}
	if body != s.want.Body {
		return fmt.Sprintf("its body has %d bytes and begins with %.80q", len(body), body)
	}
	if r.ContentLength != int64(len(s.want.Body)) || len(r.TransferEncoding) > 0 {
		return fmt.Sprintf("its Content-Length is %d, its Transfer-Encoding %q", r.ContentLength, r.TransferEncoding)
	}
	if _, said := r.Header["Content-Length"]; s.want.NoBody() && !said {
		return "it does not say that it has no body"
	}
	for _, h := range s.want.Headers {
		if got := r.Header.Values(h.Name); len(got) != 1 || got[0] != h.Value {
			return fmt.Sprintf("its header %s is %q", h.Name, got)
		}
	}
	return ""
}

// Check fails a test whose requests were not as they should be, or fewer than a tool counted.
func (s *Asked) Check(t *testing.T, counted int64) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wrong != "" {
		t.Errorf("a request is not as it should be: %s", s.wrong)
	}
	if counted == 0 || counted > s.seen {
		t.Errorf("%d requests were counted, and %d arrived", counted, s.seen)
	}
}
