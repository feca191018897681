package testbed

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"loadstone.dev/loadstone/internal/record"
)

// Requests returns those that every tool and its check must send identically.
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

// Asked is a server that records wrong requests, and answers all.
type Asked struct {
	Target string

	want  []record.Request
	mu    sync.Mutex
	seen  []int64
	wrong string
}

// NewAsked starts a server that expects some requests with distinct methods and paths. It ends with the test.
func NewAsked(t *testing.T, want ...record.Request) *Asked {
	t.Helper()
	s := &Asked{want: want, seen: make([]int64, len(want))}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.Target = strings.TrimPrefix(server.URL, "http://")
	return s
}

// ServeHTTP implements http.Handler.
func (s *Asked) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	i := slices.IndexFunc(s.want, func(want record.Request) bool { return r.Method == want.Verb() && r.RequestURI == want.Path })
	difference := fmt.Sprintf("it is %s %s", r.Method, r.RequestURI)
	if i >= 0 {
		difference = compare(s.want[i], r, string(body))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err != nil: // The end of the load cuts requests off.
	case difference != "" && s.wrong == "":
		s.wrong = difference
	case i >= 0:
		s.seen[i]++
	}
	_, _ = io.WriteString(w, "helloworld")
}

func compare(want record.Request, r *http.Request, body string) string {
	if body != want.Body {
		return fmt.Sprintf("its body has %d bytes and begins with %.80q", len(body), body)
	}
	if r.ContentLength != int64(len(want.Body)) || len(r.TransferEncoding) > 0 {
		return fmt.Sprintf("its Content-Length is %d, its Transfer-Encoding %q", r.ContentLength, r.TransferEncoding)
	}
	if _, said := r.Header["Content-Length"]; want.NoBody() && !said {
		return "it does not say that it has no body"
	}
	for _, h := range want.Headers {
		if got := r.Header.Values(h.Name); len(got) != 1 || got[0] != h.Value {
			return fmt.Sprintf("its header %s is %q", h.Name, got)
		}
	}
	return ""
}

// Check fails a test if a request was wrong, or fewer arrived than a tool counted.
func (s *Asked) Check(t *testing.T, counted int64) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wrong != "" {
		t.Errorf("a request is not as it should be: %s", s.wrong)
	}
	var seen int64
	for _, n := range s.seen {
		seen += n
	}
	if counted == 0 || counted > seen {
		t.Errorf("%d requests were counted, and %d arrived", counted, seen)
	}
}

// Seen returns the number of each request.
func (s *Asked) Seen() []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen)
}

// Mix is a mix for all tools.
func Mix() []record.MixedRequest {
	all, mix := Requests(), []record.MixedRequest{{Request: record.Request{Path: "/", Expect: record.Expect{Status: 200}}, Weight: 50}}
	for i, name := range []string{"JSON that is posted", "a POST without a body", "a DELETE", "a method of the server's"} {
		mix = append(mix, record.MixedRequest{Request: all[name], Weight: int32(10 * (i + 1))})
	}
	return mix
}

// CheckMix fails a test unless each request of a mix arrived about as often as its weight implies, and as a tool counted. tolerance is the
// allowed difference per request.
func (s *Asked) CheckMix(t *testing.T, mix []record.MixedRequest, made []int64, tolerance int64) {
	t.Helper()
	seen := s.Seen()
	if len(made) != len(mix) {
		t.Fatalf("%d requests are counted, want %d", len(made), len(mix))
	}
	var all, weights int64
	for i, r := range mix {
		all, weights = all+made[i], weights+int64(r.Weight)
	}
	for i, r := range mix {
		if off := seen[i] - made[i]; off < -tolerance || off > tolerance {
			t.Errorf("%s %s was made %d times, and arrived %d times", r.Verb(), r.Path, made[i], seen[i])
		}
		if off := made[i] - all*int64(r.Weight)/weights; off < -tolerance || off > tolerance {
			t.Errorf("%s %s was made %d of %d times, with %d of the weights' %d", r.Verb(), r.Path, made[i], all, r.Weight, weights)
		}
	}
}
