package h2load_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/testbed"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/tool/h2load"
)

func run(t *testing.T, c record.Cell, target tool.Target) record.Measurement {
	t.Helper()
	testbed.Programs(t, "h2load")
	dir := t.TempDir()
	for _, f := range (h2load.Tool{}).Files(c, target) {
		if err := os.WriteFile(filepath.Join(dir, f.Name), []byte(f.Text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	args := h2load.Tool{}.Args(c, target, tool.Measure)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = dir
	raw, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	for _, name := range (h2load.Tool{}).Outputs(c) {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		raw = append(append(raw, tool.OutputHeader(name)...), text...)
	}
	m, err := h2load.Tool{}.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Requests arrive as configured in both versions of HTTP, with as many in flight as streams.
func TestRealH2loadSendsWhatIsWritten(t *testing.T) {
	for name, tc := range map[string]struct {
		protocol record.Protocol
		streams  int32
	}{"HTTP/1.1": {"", 0}, "HTTP/2": {record.HTTP2, 8}} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			wrong, asked, now, most := "", int64(0), 0, 0
			together := make(chan struct{}) // It is closed when all streams of the connection have a request.
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				mu.Lock()
				asked, now = asked+1, now+1
				if most = max(most, now); most == int(max(tc.streams, 1)) {
					select {
					case <-together:
					default:
						close(together)
					}
				}
				if r.Method != "PUT" || r.RequestURI != "/orders?id=1" || r.Header.Get("X-Tenant") != `a: "b"` || string(body) != "{}" || r.ProtoAtLeast(2, 0) != (tc.protocol == record.HTTP2) {
					wrong = r.Proto + " " + r.Method + " " + r.RequestURI + " " + string(body)
				}
				mu.Unlock()
				select {
				case <-together:
				case <-r.Context().Done():
				}
				mu.Lock()
				now--
				mu.Unlock()
				w.WriteHeader(http.StatusCreated)
			}))
			server.EnableHTTP2 = true
			server.StartTLS()
			defer server.Close()
			c := cell(func(c *record.Cell) {
				c.Connections, c.Threads, c.DurationSeconds, c.StreamsPerConnection = 1, 1, 1, tc.streams
				c.Request = record.Request{
					Method: "PUT", Path: "/orders?id=1", Headers: []record.Header{{Name: "X-Tenant", Value: `a: "b"`}}, Body: "{}", Protocol: tc.protocol,
					Expect: record.Expect{Status: 201},
				}
			})
			m := run(t, c, tool.Target{Address: server.Listener.Addr().String(), TLS: true})
			mu.Lock()
			defer mu.Unlock()
			if wrong != "" || most != int(max(tc.streams, 1)) {
				t.Errorf("%q arrived, and %d requests at once", wrong, most)
			}
			if m.Requests == 0 || m.Requests > asked || m.Errors.Sum() != 0 || (m.HTTP2 == m.Requests) != (tc.protocol == record.HTTP2) {
				t.Errorf("got %+v, and %d requests arrived", m, asked)
			}
		})
	}
}
