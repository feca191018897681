package testbed

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// NewCounting starts a server whose answers differ in content and length, like order numbers. It ends with the test. target is host:port.
func NewCounting(t *testing.T) (target string) {
	t.Helper()
	var orders atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n := orders.Add(1)
		_, _ = fmt.Fprintf(w, `{"order": %d, "of": %q}`, n, strings.Repeat("x", int(n%5)))
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}
