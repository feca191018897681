package wrk_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/tool/wrk"
)

// TestRealWrkRunsScripts runs good and bad users' scripts, in a folder whose name needs quoting in Lua.
func TestRealWrkRunsScripts(t *testing.T) {
	needWrk(t)
	tests := map[string]struct {
		script string
		// want is a request that the server must see; wantPrinted is text that wrk must print.
		want, wantPrinted string
		wantErr           string
	}{
		"a script that changes the request": {
			script: `wrk.method, wrk.path, wrk.body = "POST", "/cart", "42"`,
			want:   "POST /cart 42",
		},
		"a script with all of wrk's functions": {
			script: `
				local threads, seen = 0, 0
				function setup(thread) threads = threads + 1; thread:set("id", threads) end
				function init(args) wrk.headers["X-Id"] = id end
				function request() return wrk.format("GET", "/item/" .. id) end
				function response(status, headers, body) seen = seen + 1; assert(status == 200 and body == "helloworld") end
				function done(summary, latency, requests) io.write("the user saw ", summary.requests > 0 and latency.max > 0 and "requests" or "nothing", "\n") end`,
			want: "GET /item/1 ", wantPrinted: "the user saw requests\n",
		},
		"a script that spoils what wrk says": {
			script: `
				function done(summary)
					summary.requests, summary.errors.timeout = 7, 9
					io.output("elsewhere.txt")
				end`,
			want: "GET / ",
		},
		"a script whose done is not a function": {script: `done = 5`, want: "GET / "},
		"a syntax error":                        {script: `function request(`, wantErr: "wrk did not run: the script does not load: "},
		"an error while it is loaded":           {script: `error("no such thing")`, wantErr: "no such thing"},
		"an exit while it is loaded":            {script: `os.exit(0)`, wantErr: "wrk did not run and printed nothing"},
		"a script that is not there":            {wantErr: "cannot open"},
		"an error in setup":                     {script: `function setup() error("boom 1") end`, wantErr: "boom 1"},
		"an error in init":                      {script: `function init() error("boom 2") end`, wantErr: "boom 2"},
		"an error in request":                   {script: `function request() error("boom 3") end`, wantErr: "boom 3"},
		"an error in a later request":           {script: `local n = 0; function request() n = n + 1; if n > 100 then error("boom 4") end return wrk.format() end`, wantErr: "boom 4"},
		"an error in a later response":          {script: `local n = 0; function response() n = n + 1; if n > 100 then error("boom 5") end end`, wantErr: "boom 5"},
		"an error in delay":                     {script: `function delay() error("boom 6") end`, wantErr: "boom 6"},
		"an error in done":                      {script: `function done() error("boom 7") end`, wantErr: "boom 7"},
		"a request that is none":                {script: `function request() return "nonsense" end`, wantErr: "wrk did not run: "},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var wanted atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err == nil && r.Method+" "+r.URL.Path+" "+string(body) == tc.want {
					wanted.Add(1)
				}
				_, _ = w.Write([]byte("helloworld"))
			}))
			defer server.Close()
			wrkTool := wrk.Tool{Scripts: filepath.Join(t.TempDir(), "it's \"odd\"\\1]] --")}
			cell := record.Cell{Load: "shop", Connections: 2, Threads: 1, DurationSeconds: 1, Request: root, Script: &record.Script{ConfigMap: "scripts", Key: "shop.lua"}}
			write(t, tool.ScriptPath(wrkTool.Scripts, cell), tc.script)
			raw, err := output(t, wrkTool, cell, strings.TrimPrefix(server.URL, "http://"))
			m, errParse := wrkTool.Parse(raw)
			if tc.wantErr != "" {
				if errParse == nil || !strings.Contains(errParse.Error(), tc.wantErr) {
					t.Errorf("Parse() = %+v, %v, want an error with %q", m, errParse, tc.wantErr)
				}
				if err == nil && !strings.Contains(tc.script, "os.exit(0)") {
					t.Error("wrk exited with status 0")
				}
				return
			}
			if err != nil || errParse != nil {
				t.Fatalf("running wrk: %v; Parse(): %v\n%s", err, errParse, raw)
			}
			if seen := wanted.Load(); seen == 0 || m.Requests > seen || m.Requests == 0 {
				t.Errorf("wrk counted %d requests, the server %d of %q", m.Requests, seen, tc.want)
			}
			if !strings.Contains(string(raw), tc.wantPrinted) {
				t.Errorf("wrk did not print %q:\n%s", tc.wantPrinted, raw)
			}
			checkLatency(t, m.Latency, m.Requests-m.Errors.Timeout)
		})
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if text == "" {
		return
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestRealWrkOpensAConnectionForEachRequest(t *testing.T) {
	needWrk(t)
	var requests, opened atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		_, _ = w.Write([]byte("helloworld"))
	}))
	server.Config.ConnState = countNew(&opened)
	server.Start()
	defer server.Close()
	cell := record.Cell{Connections: 4, Threads: 1, DurationSeconds: 1, Request: root, Connection: record.PerRequest}
	m, err := wrk.Tool{}.Parse(run(t, cell, strings.TrimPrefix(server.URL, "http://")))
	if err != nil {
		t.Fatal(err)
	}
	// One connection is wrk's own test of the server.
	if m.Requests == 0 || m.Requests > requests.Load() || opened.Load() < requests.Load() {
		t.Errorf("wrk counted %d requests, the server %d on %d connections", m.Requests, requests.Load(), opened.Load())
	}
	if m.Errors.Sum() != 0 {
		t.Errorf("Errors = %+v", m.Errors)
	}
	checkLatency(t, m.Latency, m.Requests)
}

func TestRealWrkWaitsForTheEndOfItsInput(t *testing.T) {
	needWrk(t)
	tests := map[string]struct{ script string }{
		"without a script":              {},
		"with one that prepares":        {script: `function init(args) wrk.headers["X"] = "y" end`},
		"with one that has no init":     {script: `wrk.method = "POST"`},
		"with one whose init is a flag": {script: `init = true`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var requests, opened atomic.Int64
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { requests.Add(1) }))
			server.Config.ConnState = countNew(&opened)
			server.Start()
			defer server.Close()
			wrkTool := wrk.Tool{Scripts: t.TempDir()}
			cell := record.Cell{Load: "shop", Connections: 4, Threads: 2, DurationSeconds: 1, Request: root}
			if tc.script != "" {
				cell.Script = &record.Script{ConfigMap: "scripts", Key: "shop.lua"}
				write(t, tool.ScriptPath(wrkTool.Scripts, cell), tc.script)
			}
			cmd := command(t, wrkTool, cell, strings.TrimPrefix(server.URL, "http://"))
			gate, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			for deadline := time.Now().Add(2 * time.Minute); opened.Load() == 0 && time.Now().Before(deadline); {
				time.Sleep(10 * time.Millisecond)
			}
			time.Sleep(300 * time.Millisecond)
			if r, o := requests.Load(), opened.Load(); r != 0 || o != 1 {
				t.Errorf("it waits, after %d requests on %d connections; want one connection, on which it looks whether the server is there", r, o)
			}
			if err := gate.Close(); err != nil {
				t.Error(err)
			}
			if err := cmd.Wait(); err != nil || requests.Load() == 0 {
				t.Errorf("it ended with %v after %d requests", err, requests.Load())
			}
		})
	}
}
