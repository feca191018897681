package tools_test

import (
	"crypto/tls"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/histogram"
	"loadstone.dev/loadstone/internal/testbed"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/tool/tools"
)

// Each tool against a TLS server that also offers HTTP/2. The documentation states the same.
func TestRealToolsSpeakTLS(t *testing.T) {
	plain := record.Request{Path: "/", Expect: record.Expect{Status: 200}}
	posted := record.Request{Method: "POST", Path: "/orders", Headers: []record.Header{{Name: "X-Tenant", Value: "a"}}, Body: "{}", Expect: record.Expect{Status: 200}}
	const old = tls.VersionTLS12
	// Each byte in its own record adds 22 bytes if TLS is counted.
	const body, most = "hello world, hello everybody", 250
	for name, tc := range map[string]struct {
		tool       record.Tool
		request    record.Request
		connection record.ConnectionUse
		newest     uint16
		kind       record.LatencyKind
		// named: the tool sends the address as server name. resumes: it resumes sessions.
		named, resumes bool
	}{
		"wrk, TLS 1.3":                          {record.ToolWrk, plain, record.KeepAlive, 0, record.Observed, true, false},
		"wrk, TLS 1.2":                          {record.ToolWrk, plain, record.KeepAlive, old, record.Observed, true, false},
		"wrk with its script of the request":    {record.ToolWrk, posted, record.KeepAlive, 0, record.Observed, true, false},
		"wrk, a connection each request":        {record.ToolWrk, plain, record.PerRequest, 0, record.Observed, true, true},
		"wrk, a connection, TLS 1.2":            {record.ToolWrk, plain, record.PerRequest, old, record.Observed, true, true},
		"ab, TLS 1.3":                           {record.ToolAb, plain, record.KeepAlive, 0, record.Observed, false, false},
		"ab, TLS 1.2":                           {record.ToolAb, plain, record.KeepAlive, old, record.Observed, false, false},
		"ab that posts":                         {record.ToolAb, posted, record.KeepAlive, 0, record.Observed, false, false},
		"ab, a connection each request":         {record.ToolAb, plain, record.PerRequest, old, record.WithConnection, false, false},
		"k6, TLS 1.3":                           {record.ToolK6, plain, record.KeepAlive, 0, record.Observed, false, false},
		"k6, TLS 1.2":                           {record.ToolK6, plain, record.KeepAlive, old, record.Observed, false, false},
		"k6 that posts":                         {record.ToolK6, posted, record.KeepAlive, 0, record.Observed, false, false},
		"k6, a connection each request":         {record.ToolK6, plain, record.PerRequest, 0, record.WithConnection, false, false},
		"k6, a connection each request, TLS1.2": {record.ToolK6, plain, record.PerRequest, old, record.WithConnection, false, false},
		"h2load, TLS 1.3":                       {record.ToolH2load, plain, record.KeepAlive, 0, record.Observed, false, false},
		"h2load, TLS 1.2":                       {record.ToolH2load, plain, record.KeepAlive, old, record.Observed, false, false},
		"h2load that posts":                     {record.ToolH2load, posted, record.KeepAlive, 0, record.Observed, false, false},
		"vegeta, TLS 1.3":                       {record.ToolVegeta, plain, record.KeepAlive, 0, record.Observed, false, false},
		"vegeta, TLS 1.2":                       {record.ToolVegeta, plain, record.KeepAlive, old, record.Observed, false, false},
		"vegeta that posts":                     {record.ToolVegeta, posted, record.KeepAlive, 0, record.Observed, false, false},
		"vegeta, a connection each request":     {record.ToolVegeta, plain, record.PerRequest, 0, record.WithConnection, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testbed.Programs(t, string(tc.tool))
			server := testbed.NewEncrypted(t, time.Now().Add(time.Hour), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if asked, _ := io.ReadAll(r.Body); r.Method != tc.request.Verb() || string(asked) != tc.request.Body {
					w.WriteHeader(http.StatusTeapot)
				}
				w.Header().Set("Content-Length", strconv.Itoa(len(body)))
				for i := range body {
					_, _ = io.WriteString(w, body[i:i+1]) // The client may be gone.
					w.(http.Flusher).Flush()
				}
			}), func(c *tls.Config) { c.MaxVersion = tc.newest })
			cell := record.Cell{
				Load: "web", Tool: tc.tool, Connections: 2, Threads: 1, DurationSeconds: 1, Request: tc.request, Connection: tc.connection,
			}
			if tc.tool == record.ToolVegeta { // It only sustains rates.
				cell.RequestsPerSecond = 100
			}
			m := untilAsked(func() record.Measurement {
				server.Visits()
				return runOnce(t, cell, tool.Target{Address: server.Target, TLS: true})
			})
			v := server.Visits()
			if m.Requests == 0 || m.Requests > int64(v.Requests) || m.Errors.Sum() > int64(cell.Connections) {
				t.Errorf("%d requests and the errors %+v were counted, and %d arrived", m.Requests, m.Errors, v.Requests)
			}
			if named := len(v.Names) == 1 && v.Names[0] == "127.0.0.1"; named != tc.named || !named && len(v.Names) > 0 {
				t.Errorf("the names %q were sent", v.Names)
			}
			if slices.ContainsFunc(v.Protocols, func(p string) bool { return p != "http/1.1" }) || v.HTTP != "" && v.HTTP != "http/1.1" {
				t.Errorf("the protocols %q were offered, and %q was agreed on", v.Protocols, v.HTTP)
			}
			caveats := tools.Caveats(cell, true)
			if v.Resumed != tc.resumes || caveats.Resumes != tc.resumes && tc.connection == record.PerRequest {
				t.Errorf("the last session was resumed: %v", v.Resumed)
			}
			// A Go client may open another connection while it returns the first to the pool.
			if kept := v.Handshakes <= int(cell.Connections) || 4*v.Handshakes < v.Requests; kept != (tc.connection == record.KeepAlive) {
				t.Errorf("there were %d handshakes for %d requests", v.Handshakes, v.Requests)
			}
			if !slices.ContainsFunc(m.Latency, func(l record.Latency) bool { return l.Kind == tc.kind }) {
				t.Errorf("no latency is %s", tc.kind)
			}
			answers := m.Requests
			if !caveats.OtherBytes {
				answers += int64(cell.Connections) // Requests in flight at the end.
			}
			if caveats.OtherBytes != (m.Bytes > most*answers) {
				t.Errorf("%d bytes were counted for %d answers", m.Bytes, m.Requests)
			}
		})
	}
}

// Latency from the opening of a connection includes its handshake.
func TestRealK6CountsTheHandshakeOfAConnectionEachRequest(t *testing.T) {
	testbed.Programs(t, "k6")
	const pause = 50 * time.Millisecond
	server := testbed.NewEncrypted(t, time.Now().Add(time.Hour), http.NotFoundHandler(), func(c *tls.Config) {
		c.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
			time.Sleep(pause)
			return nil, nil
		}
	})
	cell := record.Cell{
		Load: "web", Tool: record.ToolK6, Connections: 2, Threads: 1, DurationSeconds: 1, Request: record.Request{Path: "/", Expect: record.Expect{Status: 404}}, Connection: record.PerRequest,
	}
	m := untilAsked(func() record.Measurement { return runOnce(t, cell, tool.Target{Address: server.Target, TLS: true}) })
	all, err := histogram.Decode(m.Latency[0].HDRHigh)
	if err != nil {
		t.Fatal(err)
	}
	if least := time.Duration(all.Min()) * time.Microsecond; m.Latency[0].Kind != record.WithConnection || least < pause {
		t.Errorf("a latency %s is %s, and a handshake takes %s", m.Latency[0].Kind, least, pause)
	}
}

// An HTTP/2 cell reports how many answers were HTTP/2.
func TestRealK6TellsWhatWasAnsweredInHTTP2(t *testing.T) {
	testbed.Programs(t, "k6")
	get := record.Request{Path: "/", Expect: record.Expect{Status: 200}}
	const users = 4
	for name, tc := range map[string]struct {
		cell record.Cell
		old  bool
	}{
		"closed":                          {record.Cell{Request: get}, false},
		"at a rate":                       {record.Cell{Request: get, RequestsPerSecond: 100}, false},
		"a mix":                           {record.Cell{Mix: []record.MixedRequest{{Request: get, Weight: 2}, {Request: record.Request{Method: "POST", Path: "/b", Body: "b", Expect: get.Expect}, Weight: 1}}}, false},
		"with a server that knows it not": {record.Cell{Request: get}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := testbed.NewEncrypted(t, time.Now().Add(time.Hour), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, "helloworld") // The client may be gone.
			}), func(c *tls.Config) {
				if tc.old {
					c.NextProtos = []string{"http/1.1"}
				}
			})
			cell := tc.cell.Speaking(record.HTTP2)
			cell.Load, cell.Tool, cell.Connections, cell.Threads, cell.DurationSeconds, cell.Connection = "web", record.ToolK6, users, 1, 1, record.KeepAlive
			m := untilAsked(func() record.Measurement {
				server.Visits()
				return runOnce(t, cell, tool.Target{Address: server.Target, TLS: true})
			})
			want, chosen := m.Requests, "h2"
			if tc.old {
				want, chosen = 0, "http/1.1"
			}
			v := server.Visits()
			if m.Requests == 0 || m.HTTP2 != want || m.Errors.Sum() > 0 || m.Requests > int64(v.Requests) {
				t.Errorf("of %d requests %d are said to be answered in HTTP/2, with %+v", m.Requests, m.HTTP2, m.Errors)
			}
			if v.HTTP != chosen || v.Connections > users || cell.RequestsPerSecond == 0 && v.Connections != users {
				t.Errorf("the server has seen %+v", v)
			}
		})
	}
}

// With HTTP/2, a script's parallel requests share the virtual user's connection.
func TestRealK6HasOneConnectionOfHTTP2ForEachUser(t *testing.T) {
	testbed.Programs(t, "k6")
	server := testbed.NewEncrypted(t, time.Now().Add(time.Hour), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "helloworld") // The client may be gone.
	}))
	cell := record.Cell{
		Load: "web", Tool: record.ToolK6, Connections: 2, Threads: 1, DurationSeconds: 1, Connection: record.KeepAlive, Request: record.Request{Path: "/"},
		Script: &record.Script{ConfigMap: "a", Key: "a.js"},
	}.Speaking(record.HTTP2)
	script := `import http from 'k6/http';
export default function () {
  const url = 'https://' + __ENV.LOADSTONE_TARGET + '/';
  http.get(url);
  http.batch([url, url, url]);
}`
	m := runOnce(t, cell, tool.Target{Address: server.Target, TLS: true}, script)
	if v := server.Visits(); m.Requests == 0 || m.HTTP2 != m.Requests || v.Connections != 2 {
		t.Errorf("of %d requests %d were in HTTP/2, and the server has seen %+v", m.Requests, m.HTTP2, v)
	}
}

// untilAsked measures again if a busy machine allowed no more requests than connections.
func untilAsked(measure func() record.Measurement) record.Measurement {
	for end := time.Now().Add(10 * time.Minute); ; {
		if m := measure(); m.Requests > 4 || time.Now().After(end) {
			return m
		}
	}
}

func runOnce(t *testing.T, cell record.Cell, target tool.Target, script ...string) record.Measurement {
	t.Helper()
	dir := t.TempDir()
	for _, text := range script {
		file := tool.ScriptPath(filepath.Join(dir, "scripts"), cell)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	own := tools.All(filepath.Join(dir, "scripts"))[cell.Tool]
	for _, f := range own.Files(cell, target) {
		if err := os.WriteFile(filepath.Join(dir, f.Name), []byte(f.Text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args := own.Args(cell, target, tool.Measure)
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Dir = dir
	if cell.Protocol() != record.HTTP2 {
		cmd.Env = append(os.Environ(), "GODEBUG=http2client=0")
	}
	raw, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	for _, name := range own.Outputs(cell) {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		raw = append(append(raw, tool.OutputHeader(name)...), text...)
	}
	m, err := own.Parse(raw)
	if err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return m
}
