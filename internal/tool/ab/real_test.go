package ab_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/testbed"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/tool/ab"
)

var root = record.Request{Path: "/", Expect: record.Expect{Status: 200}}

func needAb(t *testing.T) {
	t.Helper()
	testbed.Programs(t, "ab")
}

func everyFifth(requests int64, other func(http.ResponseWriter)) func(http.ResponseWriter) {
	if requests%5 == 0 {
		return other
	}
	return answer
}

func answer(w http.ResponseWriter) { _, _ = w.Write([]byte("helloworld")) }

func hang(w http.ResponseWriter) {
	c, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		time.AfterFunc(10*time.Second, func() { _ = c.Close() })
	}
}

func reset(w http.ResponseWriter) {
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}

// TestRealAb runs the installed ab on loopback: its counts must be consistent with each other and with the server's.
func TestRealAb(t *testing.T) {
	needAb(t)
	tests := map[string]struct {
		connection record.ConnectionUse
		other      func(http.ResponseWriter)
		wantKind   record.LatencyKind
		// wantErrors are those of every fifth request; a broken one is no request.
		wantErrors func(record.Errors) int64
		wantLost   bool
		wantErr    string
	}{
		"a server that keeps connections":       {connection: record.KeepAlive, other: answer, wantKind: record.Observed},
		"a connection for each request":         {connection: record.PerRequest, other: answer, wantKind: record.WithConnection},
		"a server with faults":                  {connection: record.KeepAlive, other: func(w http.ResponseWriter) { w.WriteHeader(http.StatusInternalServerError); answer(w) }, wantKind: record.Observed, wantErrors: func(e record.Errors) int64 { return e.Status }},
		"bodies of two lengths":                 {connection: record.KeepAlive, other: func(w http.ResponseWriter) { _, _ = w.Write([]byte("hello")) }, wantKind: record.Observed, wantErrors: func(e record.Errors) int64 { return e.Body }},
		"a server that closes some connections": {connection: record.KeepAlive, other: func(w http.ResponseWriter) { w.Header().Set("Connection", "close"); answer(w) }, wantKind: record.Observed},
		"a server that breaks connections":      {connection: record.KeepAlive, other: reset, wantKind: record.Observed, wantErrors: func(e record.Errors) int64 { return e.Read }, wantLost: true},
		"a server that hangs":                   {connection: record.KeepAlive, other: hang, wantErr: "ab ended without a result: apr_pollset_poll: The timeout specified has expired (70007)"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var requests atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { everyFifth(requests.Add(1), tc.other)(w) }))
			defer server.Close()
			cell := record.Cell{Load: "sweep", Connections: 4, Threads: 1, DurationSeconds: 1, Request: root, Connection: tc.connection}
			m, err := ab.Tool{}.Parse(run(t, ab.Tool{}.Args(cell, tool.Target{Address: strings.TrimPrefix(server.URL, "http://")}, tool.Measure), cell))
			if tc.wantErr != "" {
				if err == nil || !strings.HasPrefix(err.Error(), tc.wantErr) {
					t.Errorf("Parse() = %+v, %v, want the error %q", m, err, tc.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatalf("Parse(): %v", err)
			}
			all := m.Requests
			var failed int64
			if tc.wantErrors != nil {
				failed = tc.wantErrors(m.Errors)
			}
			if tc.wantLost {
				all += failed
			}
			if m.Threads != 1 || m.Connections != 4 || m.Errors.Sum() != failed {
				t.Errorf("got %d threads, %d connections and %+v", m.Threads, m.Connections, m.Errors)
			}
			// Requests in flight at the end are counted by the server only.
			if seen := requests.Load(); all == 0 || all > seen || all < seen-4 {
				t.Errorf("ab completed %d requests, the server saw %d", all, seen)
			}
			if fifth := all / 5; tc.wantErrors != nil && (failed < fifth-4 || failed > fifth+4) {
				t.Errorf("%d of %d requests failed, want every fifth", failed, all)
			}
			if len(m.Latency) != 1 || m.Latency[0].Kind != tc.wantKind || m.Latency[0].Samples != m.Requests {
				t.Errorf("Latency = %+v, want %d samples of kind %s", m.Latency, m.Requests, tc.wantKind)
			}
		})
	}
}

func TestRealAbProbes(t *testing.T) {
	needAb(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { answer(w) }))
	target := strings.TrimPrefix(server.URL, "http://")
	cell := record.Cell{Load: "sweep", Connections: 4, Threads: 1, DurationSeconds: 1, Request: root, Connection: record.KeepAlive}
	m, err := ab.Tool{}.Parse(run(t, ab.Tool{}.Args(cell, tool.Target{Address: target}, tool.Probe), cell))
	if err != nil || m.Requests != 1 || m.Latency[0].Samples != 1 {
		t.Errorf("Parse() = %+v, %v, want one request", m, err)
	}
	server.Close()
	const want = "ab got no answer: its connections were refused or broken"
	if m, err := (ab.Tool{}).Parse(run(t, ab.Tool{}.Args(cell, tool.Target{Address: target}, tool.Probe), cell)); err == nil || err.Error() != want {
		t.Errorf("Parse() without a server = %+v, %v, want the error %q", m, err, want)
	}
}

// TestRealAbChoosesPercentilesAsBracketsBelieves uses few requests, so that nearly every percentile identifies a sample.
func TestRealAbChoosesPercentilesAsBracketsBelieves(t *testing.T) {
	needAb(t)
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(time.Duration(requests.Add(1)) * 2 * time.Millisecond)
		answer(w)
	}))
	defer server.Close()
	const n = 27
	cell := record.Cell{Load: "sweep", Connections: 1, Request: root}
	raw := run(t, []string{"ab", "-q", "-c", "1", "-n", fmt.Sprint(n), "-e", "ab-sweep-1.csv", server.URL + "/"}, cell)
	rows := regexp.MustCompile(`(?m)^\d+,(\S+)$`).FindAllSubmatch(raw, -1)
	if len(rows) != 101 {
		t.Fatalf("ab wrote %d percentiles", len(rows))
	}
	place := func(p int) int { return int(0.5 + float64(n)*float64(p)/100) }
	for p := 2; p < 100 && place(p) < n; p++ {
		if same := place(p) == place(p-1); same != bytes.Equal(rows[p][1], rows[p-1][1]) {
			t.Errorf("percentiles %d and %d are %s and %s; of %d samples they should be the same: %v", p-1, p, rows[p-1][1], rows[p][1], n, same)
		}
	}
}

func run(t *testing.T, args []string, cell record.Cell) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = t.TempDir()
	for _, f := range (ab.Tool{}).Files(cell, tool.Target{}) {
		if err := os.WriteFile(filepath.Join(cmd.Dir, f.Name), []byte(f.Text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		t.Fatalf("running %v: %v\n%s", args, err, raw)
	}
	for _, name := range (ab.Tool{}).Outputs(cell) {
		if text, err := os.ReadFile(filepath.Join(cmd.Dir, name)); err == nil {
			raw = append(append(raw, tool.OutputHeader(name)...), text...)
		}
	}
	return raw
}
