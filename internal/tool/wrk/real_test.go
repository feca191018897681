package wrk_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/testbed"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/tool/wrk"
)

var root = record.Request{Path: "/", Expect: record.Expect{Status: 200}}

func needWrk(t *testing.T) {
	t.Helper()
	testbed.Programs(t, "wrk")
}

// TestRealWrk runs the installed wrk on loopback: its counts must be consistent.
func TestRealWrk(t *testing.T) {
	needWrk(t)
	tests := map[string]struct {
		cell   record.Cell
		before func(w http.ResponseWriter, n int64)
	}{
		"a fast server": {
			cell:   record.Cell{Connections: 8, Threads: 2, DurationSeconds: 1, Request: root},
			before: func(http.ResponseWriter, int64) {},
		},
		"a server that stalls": {
			cell: record.Cell{Connections: 6, Threads: 1, DurationSeconds: 1, Request: root},
			before: func(_ http.ResponseWriter, n int64) {
				if n%1000 == 1 {
					time.Sleep(50 * time.Millisecond)
				}
			},
		},
		"a server that closes every connection": {
			cell: record.Cell{Connections: 2, Threads: 1, DurationSeconds: 1, Request: root},
			before: func(w http.ResponseWriter, _ int64) {
				time.Sleep(time.Millisecond)
				w.Header().Set("Connection", "close")
			},
		},
		"a server that breaks connections": {
			cell: record.Cell{Connections: 4, Threads: 1, DurationSeconds: 1, Request: root},
			before: func(_ http.ResponseWriter, n int64) {
				time.Sleep(time.Millisecond)
				if n%5 == 0 {
					panic(http.ErrAbortHandler)
				}
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var answered atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				tc.before(w, answered.Add(1))
				_, _ = w.Write([]byte("helloworld"))
			}))
			defer server.Close()
			m, err := wrk.Tool{}.Parse(run(t, tc.cell, strings.TrimPrefix(server.URL, "http://")))
			if err != nil {
				t.Fatalf("Parse(): %v", err)
			}
			if m.Threads != tc.cell.Threads || m.Connections != tc.cell.Connections {
				t.Errorf("got %d threads and %d connections, want %d and %d", m.Threads, m.Connections, tc.cell.Threads, tc.cell.Connections)
			}
			if m.Requests == 0 || m.Requests > answered.Load() {
				t.Errorf("wrk counted %d requests, the server %d", m.Requests, answered.Load())
			}
			if len(m.Unknown) > 0 {
				t.Errorf("Unknown = %q", m.Unknown)
			}
			checkLatency(t, m.Latency, m.Requests-m.Errors.Timeout)
		})
	}
}

func countNew(opened *atomic.Int64) func(net.Conn, http.ConnState) {
	return func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
}

func run(t *testing.T, cell record.Cell, target string) []byte {
	t.Helper()
	raw, err := output(t, wrk.Tool{}, cell, target)
	if err != nil {
		t.Fatalf("running wrk: %v\n%s", err, raw)
	}
	return raw
}

func output(t *testing.T, wrkTool wrk.Tool, cell record.Cell, target string) ([]byte, error) {
	t.Helper()
	return command(t, wrkTool, cell, target).CombinedOutput()
}

func command(t *testing.T, wrkTool wrk.Tool, cell record.Cell, target string) *exec.Cmd {
	t.Helper()
	dir := t.TempDir()
	for _, f := range wrkTool.Files(cell, tool.Target{Address: target}) {
		if err := os.WriteFile(filepath.Join(dir, f.Name), []byte(f.Text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	t.Cleanup(cancel)
	args := wrkTool.Args(cell, tool.Target{Address: target}, tool.Measure)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = dir
	return cmd
}
