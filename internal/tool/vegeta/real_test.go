package vegeta_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/histogram"
	"loadstone.dev/loadstone/internal/testbed"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/tool/vegeta"
)

func run(t *testing.T, cell record.Cell, server *httptest.Server) record.Measurement {
	t.Helper()
	testbed.Programs(t, "vegeta")
	dir, target := t.TempDir(), tool.Target{Address: strings.TrimPrefix(server.URL, "http://")}
	for _, f := range (vegeta.Tool{}).Files(cell, target) {
		if err := os.WriteFile(filepath.Join(dir, f.Name), []byte(f.Text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	args := vegeta.Tool{}.Args(cell, target, tool.Measure)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = dir
	raw, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	for _, name := range (vegeta.Tool{}).Outputs(cell) {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		raw = append(append(raw, tool.OutputHeader(name)...), text...)
	}
	m, err := vegeta.Tool{}.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Requests arrive as configured, plus vegeta's own headers.
func TestRealVegetaSendsWhatIsWritten(t *testing.T) {
	var mu sync.Mutex
	var got []*http.Request
	var bodies []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		got, bodies = append(got, r), append(bodies, string(body))
		mu.Unlock()
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, "made")
	}))
	defer server.Close()
	cell, made := cellAt(20, 1), "made"
	cell.Request = record.Request{
		Method: "M-SEARCH", Path: "/orders?id=1&x=%7B", Headers: []record.Header{{Name: "X-Tenant", Value: `a: "b"`}, {Name: "Content-Type", Value: "text/plain"}},
		Body: "é\n{}", Expect: record.Expect{Status: 201, Body: &made},
	}
	m := run(t, cell, server)
	if m.Asked != 20 || m.Errors.Sum() != 0 || m.Requests != int64(len(got)) {
		t.Errorf("got %+v, and %d requests arrived", m, len(got))
	}
	for i, r := range got {
		if r.Method != "M-SEARCH" || r.RequestURI != "/orders?id=1&x=%7B" || r.Header.Get("X-Tenant") != `a: "b"` || r.Header.Get("Accept-Encoding") != "identity" || bodies[i] != "é\n{}" || r.ContentLength != 5 {
			t.Errorf("request %d is %s %s with %v and the body %q", i, r.Method, r.RequestURI, r.Header, bodies[i])
		}
	}
}

// A server that takes 20 ms per request makes 100 arrivals per second queue up: only latencies from the intended starts show it.
func TestRealVegetaCountsTheWaitFromTheIntendedStart(t *testing.T) {
	var one sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		one.Lock()
		defer one.Unlock()
		time.Sleep(20 * time.Millisecond)
	}))
	defer server.Close()
	cell := cellAt(100, 1)
	cell.Connections = 1
	m := run(t, cell, server)
	if m.Dropped == 0 || m.Dropped+m.Requests != m.Asked {
		t.Errorf("of %d arrivals %d were answered and %d dropped", m.Asked, m.Requests, m.Dropped)
	}
	longest := func(encoded string) int64 {
		h, err := histogram.Decode(encoded)
		if err != nil {
			t.Fatal(err)
		}
		return h.Max()
	}
	// After a second the last one is late by half a second, or more on a busy machine.
	if worst := longest(m.Latency[1].HDR); worst < 300_000 {
		t.Errorf("the longest latency from the intended start is %d µs", worst)
	}
}
