package wrk_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/testbed"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/tool/wrk"
)

func TestRealWrkSendsAMix(t *testing.T) {
	needWrk(t)
	mix := testbed.Mix()
	var requests []record.Request
	for _, r := range mix {
		requests = append(requests, r.Request)
	}
	for _, connection := range []record.ConnectionUse{record.KeepAlive, record.PerRequest} {
		t.Run(string(connection), func(t *testing.T) {
			t.Parallel()
			server := testbed.NewAsked(t, requests...)
			cell := record.Cell{Load: "shop", Connections: 6, Threads: 2, DurationSeconds: 1, Mix: mix, Connection: connection}
			m, err := wrk.Tool{}.Parse(run(t, cell, server.Target))
			if err != nil || m.Errors.Sum() != 0 {
				t.Fatalf("Parse() = %+v, %v", m.Errors, err)
			}
			server.Check(t, m.Requests)
			var made int64
			for _, n := range m.ByRequest {
				made += n
			}
			// Each connection may have one request in flight at the end: made, but not answered.
			if made < m.Requests || made > m.Requests+int64(cell.Connections) {
				t.Errorf("%d requests were made and %d answered, over %d connections", made, m.Requests, cell.Connections)
			}
			// A round of the mix has 15 requests; each thread may have an incomplete one.
			server.CheckMix(t, mix, m.ByRequest, 15*int64(cell.Threads)+int64(cell.Connections))
		})
	}
}

func TestAMixIsAScriptOfItsOwn(t *testing.T) {
	cell := record.Cell{Load: "shop", Connections: 8, Threads: 2, DurationSeconds: 5, WarmupSeconds: 2, Mix: []record.MixedRequest{
		{Request: record.Request{Path: "/a?b"}, Weight: 1}, {Request: record.Request{Method: "POST", Path: "/", Body: "x", Headers: []record.Header{{Name: "X", Value: "y"}}}, Weight: 1},
	}}
	want := []string{"wrk", "-t", "2", "-c", "8", "-d", "7s", "--timeout", "2s", "-s", "wrk-shop-8.lua", "http://10.0.0.1:8080/a?b"}
	if diff := cmp.Diff(want, wrk.Tool{}.Args(cell, tool.Target{Address: "10.0.0.1:8080"}, tool.Warmup)); diff != "" {
		t.Errorf("Args() (-want +got):\n%s", diff)
	}
	files := wrk.Tool{}.Files(cell, tool.Target{})
	for _, part := range []string{
		"local sequence = \"" + tool.Sequence(cell.Mix) + "\"\n", "local count = 2\n",
		`{method = "\071\069\084", path = "\047\097\063\098", headers = {}},`,
		`{method = "\080\079\083\084", path = "\047", headers = {["\088"] = "\121", }, body = "\120"},`,
	} {
		if !strings.Contains(files[1].Text, part) {
			t.Errorf("the script does not hold %s:\n%s", part, files[1].Text)
		}
	}
}

func TestCountsOfAMixAreReadInTheirOrder(t *testing.T) {
	const rest = "  1 threads and 1 connections\n%sloadstone begin\nloadstone summary duration 1000000\nloadstone summary requests 5\nloadstone summary bytes 5\n" +
		"loadstone summary connect 0\nloadstone summary read 0\nloadstone summary write 0\nloadstone summary timeout 0\nloadstone summary status 0\n" +
		"loadstone summary bins 1\nloadstone latency 10 5\nloadstone end\n"
	for name, tc := range map[string]struct {
		lines string
		want  []int64
		fails bool
	}{
		"none":               {lines: ""},
		"two":                {lines: "loadstone request 1 4\nloadstone request 2 1\n", want: []int64{4, 1}},
		"the second first":   {lines: "loadstone request 2 1\n", fails: true},
		"one twice":          {lines: "loadstone request 1 4\nloadstone request 1 4\n", fails: true},
		"one below nothing":  {lines: "loadstone request 1 -4\n", fails: true},
		"one without number": {lines: "loadstone request 1 x\n", fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := wrk.Tool{}.Parse([]byte(strings.Replace(rest, "%s", tc.lines, 1)))
			if diff := cmp.Diff(tc.want, m.ByRequest); (err != nil) != tc.fails || !tc.fails && diff != "" {
				t.Errorf("Parse() fails with %v, and reads (-want +got):\n%s", err, diff)
			}
		})
	}
}
