package h2load_test

import (
	"fmt"
	"strings"
	"testing"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/tool/h2load"
)

func cell(change func(*record.Cell)) record.Cell {
	c := record.Cell{
		Load: "sweep", Tool: record.ToolH2load, Connections: 4, Generators: 1, Threads: 2, WarmupSeconds: 2, DurationSeconds: 5,
		Connection: record.KeepAlive, Request: record.Request{Path: "/x", Expect: record.Expect{Status: 200}},
	}
	change(&c)
	return c
}

func TestArguments(t *testing.T) {
	streams := func(c *record.Cell) { c.StreamsPerConnection, c.Request.Protocol = 10, record.HTTP2 }
	for name, tc := range map[string]struct {
		change  func(*record.Cell)
		tls     bool
		purpose tool.Purpose
		want    string
	}{
		"HTTP/1.1":    {func(*record.Cell) {}, false, tool.Measure, "h2load -c 4 -t 2 -m 1 -D 5 --log-file=h2load-sweep-4.log --h1 http://10.0.0.1:80/x"},
		"HTTP/2":      {streams, true, tool.Measure, "h2load -c 4 -t 2 -m 10 -D 5 --log-file=h2load-sweep-4.log --npn-list=h2 https://10.0.0.1:80/x"},
		"a warm-up":   {streams, true, tool.Warmup, "h2load -c 4 -t 2 -m 10 -D 7 --npn-list=h2 https://10.0.0.1:80/x"},
		"one request": {streams, true, tool.Probe, "h2load -c 1 -t 1 -m 1 -n 1 --npn-list=h2 https://10.0.0.1:80/x"},
		"a body": {func(c *record.Cell) {
			c.Request.Method, c.Request.Body, c.Request.Headers = "PUT", "{}", []record.Header{{Name: "X-A", Value: "b c"}}
		}, false, tool.Measure, "h2load -c 4 -t 2 -m 1 -D 5 --log-file=h2load-sweep-4.log --h1 -H :method: PUT -H X-A: b c -d h2load-sweep-4.body http://10.0.0.1:80/x"},
		"a POST without a body": {func(c *record.Cell) { c.Request.Method = "POST" }, false, tool.Measure, "h2load -c 4 -t 2 -m 1 -D 5 --log-file=h2load-sweep-4.log --h1 -H :method: POST -H content-length: 0 http://10.0.0.1:80/x"},
	} {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(h2load.Tool{}.Args(cell(tc.change), tool.Target{Address: "10.0.0.1:80", TLS: tc.tls}, tc.purpose), " ")
			if got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestVersion(t *testing.T) {
	if got := (h2load.Tool{}).ParseVersion([]byte("h2load nghttp2/1.52.0\n")); got != "1.52.0" {
		t.Errorf("got %q", got)
	}
}

func TestALogIsBounded(t *testing.T) {
	l := tool.Load{Field: "spec.loads[0]", Load: v1alpha1.Load{
		Tool: v1alpha1.ToolH2load, Levels: []v1alpha1.Level{{Connections: 4}}, Generators: v1alpha1.Generators{Pods: 1, CPUs: 2}, DurationSeconds: 25,
	}}
	if got := (h2load.Tool{}).Check(l); got != nil {
		t.Errorf("25 s on two CPUs are refused: %+v", got)
	}
	for name, tc := range map[string]struct {
		seconds, cpus, requests int32
		fix                     string
	}{
		"a second too much":           {26, 2, 10_400_000, "make it 25 at most, or lower generators.cpus to 1 at most"},
		"too long for one CPU":        {60, 1, 12_000_000, "make it 50 at most"},
		"too many CPUs for a second":  {1, 51, 10_200_000, "lower generators.cpus to 50 at most"},
		"too many CPUs, and too long": {60, 51, 612_000_000, "make it 50 at most, and lower generators.cpus to 1"},
	} {
		t.Run(name, func(t *testing.T) {
			l.DurationSeconds, l.Generators.CPUs, l.Levels = tc.seconds, tc.cpus, []v1alpha1.Level{{Connections: tc.cpus}}
			want := tool.Refusal{
				Problem: fmt.Sprintf("spec.loads[0].durationSeconds is %d, in which h2load on %d CPUs may log %d requests, and a log may have 10000000", tc.seconds, tc.cpus, tc.requests), Fix: tc.fix,
			}
			if got := (h2load.Tool{}).Check(l); len(got) != 1 || got[0] != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}

func TestEachThreadNeedsAConnection(t *testing.T) {
	l := tool.Load{Field: "spec.loads[0]", Load: v1alpha1.Load{
		Tool: v1alpha1.ToolH2load, Levels: []v1alpha1.Level{{Connections: 8}, {Connections: 4}}, Generators: v1alpha1.Generators{Pods: 4, CPUs: 2}, DurationSeconds: 5,
	}}
	got := h2load.Tool{}.Check(l)
	if len(got) != 1 || got[0].Problem != "spec.loads[0].levels[1].connections is 4, 1 for each generator pod, and each of h2load's 2 threads (spec.loads[0].generators.cpus) needs one" {
		t.Errorf("got %+v", got)
	}
}
