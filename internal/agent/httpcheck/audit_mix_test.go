package httpcheck

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/record"
)

func TestTheRequestsOfAMixAreAuditedInTheirTurn(t *testing.T) {
	var mu sync.Mutex
	var paths []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		paths = append(paths, r.URL.Path)
		fmt.Fprint(w, "right")
	}))
	defer server.Close()
	expect := func(path, body string) Expectation {
		return Expect(record.Request{Path: path, Expect: record.Expect{Status: 200, Body: &body}})
	}
	all := []Expectation{expect("/a", "right"), expect("/b", "wrong"), expect("/c", "right")}
	a, err := NewAuditor(Server{Address: strings.TrimPrefix(server.URL, "http://")}, all, time.Now().Add(patience))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	found := a.Measured(t.Context(), now, []time.Time{now, now, now, now, now})
	if got := strings.Join(paths, " "); got != "/a /b /c /a /b" {
		t.Errorf("it asks for %s", got)
	}
	if found.Requests != 5 || found.WrongBody != 2 || !strings.HasPrefix(found.Example, `GET /b answered the body "right" instead of "wrong"`) {
		t.Errorf("it finds %+v", *found)
	}
}
