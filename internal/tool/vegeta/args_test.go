package vegeta_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/tool/vegeta"
)

func TestArgs(t *testing.T) {
	body, long := "hello", strings.Repeat("x", 257)
	for name, tc := range map[string]struct {
		change  func(*record.Cell)
		tls     bool
		purpose tool.Purpose
		want    string
	}{
		"a rate": {purpose: tool.Measure, want: "-targets vegeta-open-64-r500.json -output vegeta-open-64-r500.gob -rate 500/1s -duration 5s -workers 64 -max-workers 64 " +
			"-connections 64 -max-connections 64 -timeout 2s -redirects -1 -http2=false -max-body 0"},
		"arrivals each millisecond have a margin": {
			change: func(c *record.Cell) { c.RequestsPerSecond = 1000 }, purpose: tool.Measure,
			want: "-targets vegeta-open-64-r1000.json -output vegeta-open-64-r1000.gob -rate 1000/1s -duration 5.005s -workers 64 -max-workers 64 " +
				"-connections 64 -max-connections 64 -timeout 2s -redirects -1 -http2=false -max-body 0",
		},
		"a warm-up, whose records nobody reads": {purpose: tool.Warmup, want: "-targets vegeta-open-64-r500.json -output /dev/null -rate 500/1s -duration 7s -workers 64 -max-workers 64 " +
			"-connections 64 -max-connections 64 -timeout 2s -redirects -1 -http2=false -max-body 0"},
		"a probe of one request": {
			change: func(c *record.Cell) { c.RequestsPerSecond = 0 }, purpose: tool.Probe,
			want: "-targets vegeta-open-64.json -output /dev/null -rate 1000/1s -duration 1ms -workers 1 -max-workers 1 " +
				"-connections 1 -max-connections 1 -timeout 2s -redirects -1 -http2=false -max-body 0",
		},
		"a body that is compared, a connection each request, TLS": {change: func(c *record.Cell) {
			c.Request.Expect.Body, c.Connection = &body, record.PerRequest
		}, tls: true, purpose: tool.Measure, want: "-targets vegeta-open-64-r500.json -output vegeta-open-64-r500.gob -rate 500/1s -duration 5s -workers 64 -max-workers 64 " +
			"-connections 64 -max-connections 64 -timeout 2s -redirects -1 -http2=false -max-body 6 -keepalive=false -insecure"},
		"a body that is too long to be kept": {
			change: func(c *record.Cell) { c.Request.Expect.Body = &long }, purpose: tool.Measure,
			want: "-targets vegeta-open-64-r500.json -output vegeta-open-64-r500.gob -rate 500/1s -duration 5s -workers 64 -max-workers 64 " +
				"-connections 64 -max-connections 64 -timeout 2s -redirects -1 -http2=false -max-body 0",
		},
	} {
		t.Run(name, func(t *testing.T) {
			cell := cellAt(500, 5)
			cell.Connections, cell.Threads, cell.WarmupSeconds = 64, 2, 2
			if tc.change != nil {
				tc.change(&cell)
			}
			want := strings.Fields("vegeta -cpus 2 attack -format json " + tc.want)
			if diff := cmp.Diff(want, vegeta.Tool{}.Args(cell, tool.Target{Address: "10.0.0.1:80", TLS: tc.tls}, tc.purpose)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatIsAsked(t *testing.T) {
	body := "ok"
	for name, tc := range map[string]struct {
		request record.Request
		tls     bool
		want    string
	}{
		"a plain request": {
			record.Request{Path: "/", Expect: record.Expect{Status: 200}},
			false,
			`{"method":"GET","url":"http://10.0.0.1:80/","header":{"Accept-Encoding":["identity"]},"loadstone":{"rate":500,"seconds":5,"connections":2,"threads":1,"status":200}}`,
		},
		"one with a body, over TLS": {
			record.Request{
				Method: "POST", Path: "/orders?id=1&x=2", Headers: []record.Header{{Name: "X-Tenant", Value: `a"b`}, {Name: "accept-encoding", Value: "gzip"}}, Body: "{}",
				Expect: record.Expect{Status: 201, Body: &body},
			},
			true,
			`{"method":"POST","url":"https://10.0.0.1:80/orders?id=1\u0026x=2","header":{"X-Tenant":["a\"b"],"accept-encoding":["gzip"]},"body":"e30=",` +
				`"loadstone":{"rate":500,"seconds":5,"connections":2,"threads":1,"status":201,"body":"ok"}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			cell := cellAt(500, 5)
			cell.Request = tc.request
			files := vegeta.Tool{}.Files(cell, tool.Target{Address: "10.0.0.1:80", TLS: tc.tls})
			if len(files) != 1 || files[0].Name != (vegeta.Tool{}).Outputs(cell)[0] {
				t.Fatalf("the files are %+v", files)
			}
			if diff := cmp.Diff(tc.want+"\n", files[0].Text); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseVersion(t *testing.T) {
	for raw, want := range map[string]string{
		"Version: 12.13.0\nCommit: abc\nRuntime: go1.26 linux/amd64\nDate: \n":  "12.13.0",
		"Version: v12.12.0\nCommit: \nRuntime: go1.26 linux/amd64\nDate: now\n": "12.12.0",
		"Version: \nCommit: \nRuntime: go1.26 linux/amd64\nDate: \n":            "unknown",
	} {
		if got := (vegeta.Tool{}).ParseVersion([]byte(raw)); got != want {
			t.Errorf("of %q the version is %q", raw, got)
		}
	}
}
