package k6_test

import (
	"context"
	"fmt"
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
	"loadstone.dev/loadstone/internal/tool/k6"
)

var root = record.Request{Path: "/", Expect: record.Expect{Status: 200}}

const body = "helloworld"

type real struct {
	raw     []byte
	failure error
	m       record.Measurement
	err     error
}

// patience bounds every wait: k6 takes a minute to begin on a busy machine.
const patience = 10 * time.Minute

// run loads a loopback server, and retries if k6 had no time for a request.
func run(t *testing.T, cell record.Cell, script string, purpose tool.Purpose, target string) real {
	t.Helper()
	for end := time.Now().Add(patience); ; {
		r := runOnce(t, cell, script, purpose, target)
		if r.err != nil || r.m.Requests+r.m.Errors.Sum() > 0 || time.Now().After(end) {
			return r
		}
	}
}

func runOnce(t *testing.T, cell record.Cell, script string, purpose tool.Purpose, target string) real {
	t.Helper()
	testbed.Programs(t, "k6")
	dir := t.TempDir()
	cell.Load = "load"
	if script != "" {
		cell.Script = &record.Script{ConfigMap: "scripts", Key: "user.js"}
		if err := os.MkdirAll(filepath.Join(dir, "scripts", "load"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "scripts", "load", "user.js"), []byte(script), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	k := k6.Tool{Scripts: filepath.Join(dir, "scripts")}
	for _, f := range k.Files(cell, tool.Target{Address: target}) {
		if err := os.WriteFile(filepath.Join(dir, f.Name), []byte(f.Text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	args := k.Args(cell, tool.Target{Address: target}, purpose)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = dir
	var r real
	r.raw, r.failure = cmd.CombinedOutput()
	r.m, r.err = k.Parse(r.raw)
	if keep := os.Getenv("LOADSTONE_KEEP_RAW"); keep != "" {
		name := strings.ReplaceAll(strings.TrimPrefix(t.Name(), "TestRealK6/"), "/", "-") + ".txt"
		if err := os.WriteFile(filepath.Join(keep, name), r.raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func kinds(m record.Measurement) string {
	var names []string
	for _, l := range m.Latency {
		names = append(names, string(l.Kind))
	}
	return strings.Join(names, " ")
}

// TestRealK6 runs the installed k6: its counts must be consistent with each other and with the server's.
func TestRealK6(t *testing.T) {
	text, wrong := body, "goodbye"
	good := func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }
	slow := func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(20 * time.Millisecond)
		good(w, r)
	}
	// The machine decides how many extra arrivals k6 counts, so this retries.
	inTime := func(least int64) func(record.Measurement) bool {
		return func(m record.Measurement) bool {
			return fellBehind(m) || m.Asked >= least && m.Asked <= least+10 && m.Dropped == 0
		}
	}
	closed := record.Cell{Connections: 4, Threads: 1, DurationSeconds: 1, Request: root}
	constant := record.Cell{Connections: 200, Threads: 2, DurationSeconds: 1, Request: root, RequestsPerSecond: 100}
	ramping := record.Cell{Connections: 200, Threads: 1, DurationSeconds: 1, Request: root, RequestsPerSecond: 50, RampToRequestsPerSecond: 250}
	with := func(c record.Cell, change func(*record.Cell)) record.Cell {
		change(&c)
		return c
	}
	tests := map[string]struct {
		cell        record.Cell
		script      string
		purpose     tool.Purpose
		handler     http.HandlerFunc
		refuse      bool
		wantError   string
		wantFailure bool
		wantKinds   string
		// enough accepts a run that the machine did not disturb; nil accepts all.
		enough func(m record.Measurement) bool
		check  func(t *testing.T, m record.Measurement)
	}{
		"closed":                        {cell: closed, handler: good, wantKinds: "Observed", check: noErrors},
		"closed with a body":            {cell: with(closed, func(c *record.Cell) { c.Request.Expect.Body = &text }), handler: good, wantKinds: "Observed", check: noErrors},
		"a connection for each request": {cell: with(closed, func(c *record.Cell) { c.Connection = record.PerRequest }), handler: slow, wantKinds: "WithConnection", check: noErrors},
		"open constant": {cell: constant, handler: good, wantKinds: "Observed FromIntended", enough: inTime(100), check: func(t *testing.T, m record.Measurement) {
			t.Helper()
			noErrors(t, m)
			if !inTime(100)(m) {
				t.Errorf("asked %d, dropped %d; want 100 or 101 and none", m.Asked, m.Dropped)
			}
		}},
		"open ramping": {cell: ramping, handler: good, wantKinds: "Observed FromIntended", enough: inTime(150), check: func(t *testing.T, m record.Measurement) {
			t.Helper()
			noErrors(t, m)
			if !inTime(150)(m) {
				t.Errorf("asked %d, dropped %d; want 150 or 151 and none", m.Asked, m.Dropped)
			}
		}},
		"a rate that cannot be reached": {
			cell: with(constant, func(c *record.Cell) { c.Connections, c.RequestsPerSecond = 2, 300 }), handler: slow, wantKinds: "Observed",
			check: func(t *testing.T, m record.Measurement) {
				t.Helper()
				if m.Dropped == 0 || m.Asked < 300 || m.Requests > m.Asked/2 || len(m.Unknown) == 0 {
					t.Errorf("asked %d, dropped %d, unknown %q", m.Asked, m.Dropped, m.Unknown)
				}
			},
		},
		"500s": {cell: closed, handler: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, wantKinds: "Observed", check: func(t *testing.T, m record.Measurement) {
			t.Helper()
			if m.Requests == 0 || m.Errors.Status != m.Requests || m.Errors.Sum() != m.Requests {
				t.Errorf("%d requests with errors %+v, want as many of the status", m.Requests, m.Errors)
			}
		}},
		"a wrong body every tenth time": {
			cell: with(closed, func(c *record.Cell) { c.Request.Expect.Body = &text }), wantKinds: "Observed",
			handler: everyTenth(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, wrong) }, good),
			check: func(t *testing.T, m record.Measurement) {
				t.Helper()
				if tenth := m.Requests / 10; m.Errors.Body < tenth-5 || m.Errors.Body > tenth+5 || m.Errors.Sum() != m.Errors.Body {
					t.Errorf("%d requests with errors %+v, want %d of the body", m.Requests, m.Errors, tenth)
				}
			},
		},
		"a server that hangs": {cell: with(closed, func(c *record.Cell) { c.DurationSeconds = 3 }), handler: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, wantKinds: "Observed", enough: func(m record.Measurement) bool { return m.Errors.Timeout >= 4 }, check: func(t *testing.T, m record.Measurement) {
			t.Helper()
			if m.Requests != 0 || m.Errors != (record.Errors{Timeout: 4}) {
				t.Errorf("%d requests with errors %+v, want 4 timeouts alone", m.Requests, m.Errors)
			}
		}},
		"a server that breaks connections": {cell: closed, handler: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, wantKinds: "Observed", check: func(t *testing.T, m record.Measurement) {
			t.Helper()
			if m.Requests != 0 || m.Errors.Read == 0 || m.Errors.Sum() != m.Errors.Read {
				t.Errorf("%d requests with errors %+v, want reads alone", m.Requests, m.Errors)
			}
		}},
		"nobody listens": {cell: closed, refuse: true, wantKinds: "Observed", check: func(t *testing.T, m record.Measurement) {
			t.Helper()
			if m.Requests != 0 || m.Errors.Connect == 0 || m.Errors.Sum() != m.Errors.Connect {
				t.Errorf("%d requests with errors %+v, want connects alone", m.Requests, m.Errors)
			}
		}},
		"a script with setup, teardown and checks": {
			cell: closed, handler: good, wantKinds: "Observed",
			script: `import http from 'k6/http'; import { check } from 'k6';
const url = 'http://' + __ENV.LOADSTONE_TARGET + '/';
export const options = { vus: 77, duration: '1h' };
export function setup() { http.get(url); return { text: 'helloworld' }; }
export default function (data) { check(http.get(url), { right: (r) => r.body === data.text }); }
export function teardown() { console.log('loadstone {"format": 1}'); http.get(url); }`,
			check: noErrors,
		},
		"a script whose checks fail": {
			cell: closed, handler: good, wantKinds: "Observed",
			script: `import { get } from 'k6/http'; import { check } from 'k6';
export default function () { check(get('http://' + __ENV.LOADSTONE_TARGET + '/'), { wrong: (r) => r.body === 'goodbye' }); }`,
			check: func(t *testing.T, m record.Measurement) {
				t.Helper()
				if m.Requests == 0 || m.Errors.Body < m.Requests-4 {
					t.Errorf("%d requests with errors %+v, want a wrong body each", m.Requests, m.Errors)
				}
			},
		},
		"an asynchronous script at a rate": {
			cell: constant, handler: good, wantKinds: "Observed FromIntended", check: noErrors,
			script: `import http from 'k6/http'; export default async function () { await http.asyncRequest('GET', 'http://' + __ENV.LOADSTONE_TARGET + '/'); }`,
		},
		"a script of two requests at a rate": {
			cell: constant, handler: good, wantKinds: "Observed", enough: func(m record.Measurement) bool { return m.Asked-m.Dropped < m.Requests },
			script: `import http from 'k6/http'; export default function () { for (let i = 0; i < 2; i++) http.get('http://' + __ENV.LOADSTONE_TARGET + '/'); }`,
			check: func(t *testing.T, m record.Measurement) {
				t.Helper()
				// There are two requests per arrival that was not dropped, except for those in flight at the end.
				if m.Asked-m.Dropped >= m.Requests || !strings.Contains(strings.Join(m.Unknown, " "), "an arrival is one request") {
					t.Errorf("asked %d, %d requests, unknown %q", m.Asked, m.Requests, m.Unknown)
				}
			},
		},
		"a script that throws": {
			cell: closed, handler: good, wantError: "times, at first: Error: no such luck",
			script: `import http from 'k6/http'; export default function () { if (http.get('http://' + __ENV.LOADSTONE_TARGET + '/').status === 200) throw new Error('no such luck'); }`,
		},
		"an asynchronous script that throws": {
			cell: closed, handler: good, wantError: "no such luck",
			script: `import { sleep } from 'k6'; export default async function () { sleep(0.01); throw new Error('no such luck'); }`,
		},
		"a script with a syntax error":   {cell: closed, handler: good, script: `export default function ( {`, wantFailure: true, wantError: "user.js: Line 1:28 Unexpected end of input"},
		"a script without a default":     {cell: closed, handler: good, script: `export function f() {}`, wantFailure: true, wantError: "the script exports no default function"},
		"a script that makes no request": {cell: closed, handler: good, script: `import { sleep } from 'k6'; export default function () { sleep(0.01); }`, wantError: "the script made no request"},
		"a script that ends the test": {
			cell: closed, handler: good, wantFailure: true, wantError: "k6 ended after",
			script: `import http from 'k6/http'; import exec from 'k6/execution'; export default function () { http.get('http://' + __ENV.LOADSTONE_TARGET + '/'); exec.test.abort('enough'); }`,
		},
		"a probe": {cell: closed, purpose: tool.Probe, handler: good, wantKinds: "Observed", check: func(t *testing.T, m record.Measurement) {
			t.Helper()
			if m.Requests != 1 {
				t.Errorf("k6 counted %d requests, want 1", m.Requests)
			}
		}},
		"a probe of a script that throws": {cell: constant, purpose: tool.Probe, handler: good, script: `export default function () { throw new Error('no such luck'); }`, wantError: "no such luck"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			purpose := tool.Measure
			if tc.purpose != "" {
				purpose = tc.purpose
			}
			var asked atomic.Int64
			measure := func() real {
				asked.Store(0)
				return run(t, tc.cell, tc.script, purpose, serve(t, func(w http.ResponseWriter, r *http.Request) {
					asked.Add(1)
					tc.handler(w, r)
				}, tc.refuse))
			}
			r := measure()
			for end := time.Now().Add(patience); tc.enough != nil && r.err == nil && !tc.enough(r.m) && time.Now().Before(end); {
				r = measure()
			}
			if (r.failure != nil) != tc.wantFailure {
				t.Fatalf("k6 ended with %v, want a failure: %v\n%.2000s", r.failure, tc.wantFailure, r.raw)
			}
			if tc.wantError != "" {
				if r.err == nil || !strings.Contains(r.err.Error(), tc.wantError) {
					t.Fatalf("Parse() = %v, want %q\n%.2000s", r.err, tc.wantError, r.raw)
				}
				return
			}
			if r.err != nil {
				t.Fatalf("Parse(): %v\n%.2000s", r.err, r.raw)
			}
			if got := kinds(r.m); got != tc.wantKinds {
				t.Errorf("got the kinds %q, want %q; unknown: %q", got, tc.wantKinds, r.m.Unknown)
			}
			if purpose == tool.Measure && (r.m.Connections != tc.cell.Connections || r.m.Threads != tc.cell.Threads) {
				t.Errorf("got %d threads and %d connections, want %d and %d", r.m.Threads, r.m.Connections, tc.cell.Threads, tc.cell.Connections)
			}
			if n := asked.Load(); r.m.Requests > n || purpose == tool.Probe && n != 1 {
				t.Errorf("k6 counted %d answers, and %d requests arrived", r.m.Requests, n)
			}
			tc.check(t, r.m)
		})
	}
}

func everyTenth(other, usual http.HandlerFunc) http.HandlerFunc {
	var asked atomic.Int64
	return func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1)%10 == 0 {
			other(w, r)
			return
		}
		usual(w, r)
	}
}

func serve(t *testing.T, handler http.HandlerFunc, refuse bool) string {
	t.Helper()
	if refuse {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		address := l.Addr().String()
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		return address
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func noErrors(t *testing.T, m record.Measurement) {
	t.Helper()
	if m.Requests == 0 || m.Bytes < m.Requests*int64(len(body)) || m.Errors.Sum() != 0 || len(m.Unknown) > 0 && !fellBehind(m) {
		t.Errorf("%d requests, %d bytes, errors %+v, unknown %q", m.Requests, m.Bytes, m.Errors, m.Unknown)
	}
	for _, l := range m.Latency {
		if l.Samples < m.Requests-int64(m.Connections) || l.Samples > m.Requests+int64(m.Connections) {
			t.Errorf("%d samples of kind %s for %d requests", l.Samples, l.Kind, m.Requests)
		}
	}
}

func fellBehind(m record.Measurement) bool {
	return len(m.Unknown) == 1 && strings.HasPrefix(m.Unknown[0], "k6 itself did not sustain the rate")
}
