package wrk_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/tool/wrk"
)

func TestArgs(t *testing.T) {
	scripted := record.Cell{
		Load: "shop", Connections: 8, Threads: 2, DurationSeconds: 5, WarmupSeconds: 2, Request: root, Script: &record.Script{ConfigMap: "scripts", Key: "shop.lua"},
	}
	tests := map[string]struct {
		cell    record.Cell
		purpose tool.Purpose
		want    []string
	}{
		"a measured run has the script and the cell's duration": {
			cell:    record.Cell{Connections: 100, Threads: 4, DurationSeconds: 10, WarmupSeconds: 2, Request: record.Request{Path: "/a?b=c"}},
			purpose: tool.Measure,
			want:    []string{"wrk", "-t", "4", "-c", "100", "-d", "10s", "--timeout", "2s", "-s", "wrk-done.lua", "http://10.0.0.1:8080/a?b=c"},
		},
		"a warm-up would last longer than it may and has no script": {
			cell:    record.Cell{Connections: 100, Threads: 4, DurationSeconds: 10, WarmupSeconds: 2, Request: record.Request{Path: "/"}},
			purpose: tool.Warmup,
			want:    []string{"wrk", "-t", "4", "-c", "100", "-d", "7s", "--timeout", "2s", "http://10.0.0.1:8080/"},
		},
		"a connection for each request": {
			cell:    record.Cell{Connections: 4, Threads: 1, DurationSeconds: 1, Connection: record.PerRequest, Request: record.Request{Path: "/"}},
			purpose: tool.Measure,
			want:    []string{"wrk", "-t", "1", "-c", "4", "-d", "1s", "--timeout", "2s", "-H", "Connection: close", "-s", "wrk-done.lua", "http://10.0.0.1:8080/"},
		},
		"a script of the user's makes the measured requests": {
			cell: scripted, purpose: tool.Measure,
			want: []string{"wrk", "-t", "2", "-c", "8", "-d", "5s", "--timeout", "2s", "-s", "wrk-shop-8.lua", "http://10.0.0.1:8080/"},
		},
		"a script of the user's makes the requests of the warm-up": {
			cell: scripted, purpose: tool.Warmup,
			want: []string{"wrk", "-t", "2", "-c", "8", "-d", "7s", "--timeout", "2s", "-s", "wrk-shop-8.lua", "http://10.0.0.1:8080/"},
		},
		"a probe is one connection for a second": {
			cell: scripted, purpose: tool.Probe,
			want: []string{"wrk", "-t", "1", "-c", "1", "-d", "1s", "--timeout", "2s", "-s", "wrk-shop-8.lua", "http://10.0.0.1:8080/"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, wrk.Tool{}.Args(tc.cell, tool.Target{Address: "10.0.0.1:8080"}, tc.purpose)); diff != "" {
				t.Errorf("Args() (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFiles(t *testing.T) {
	names := func(files []tool.File) (out []string) {
		for _, f := range files {
			out = append(out, f.Name)
		}
		return out
	}
	cell := record.Cell{Load: "a", Connections: 8}
	if diff := cmp.Diff([]string{"wrk-done.lua"}, names(wrk.Tool{}.Files(cell, tool.Target{}))); diff != "" {
		t.Errorf("Files() without a script (-want +got):\n%s", diff)
	}
	cell.Script = &record.Script{Key: "b"}
	files := wrk.Tool{Scripts: "/"}.Files(cell, tool.Target{})
	if diff := cmp.Diff([]string{"wrk-done.lua", "wrk-a-8.lua"}, names(files)); diff != "" {
		t.Fatalf("Files() with a script (-want +got):\n%s", diff)
	}
	if first, _, _ := strings.Cut(files[1].Text, "\n"); first != `local path = "\047\097\047\098"` {
		t.Errorf("the path /a/b is written %s", first)
	}
}

func TestParseVersion(t *testing.T) {
	tests := map[string]struct{ raw, want string }{
		"Debian's wrk":  {"wrk debian/4.1.0-3+b2 [epoll] Copyright (C) 2012 Will Glozer\nUsage: wrk <options> <url>\n", "debian/4.1.0-3+b2"},
		"its own wrk":   {"wrk 4.1.0 [epoll] Copyright (C) 2012 Will Glozer\n", "4.1.0"},
		"anything else": {"bash: wrk: command not found\n", "unknown"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := (wrk.Tool{}).ParseVersion([]byte(tc.raw)); got != tc.want {
				t.Errorf("ParseVersion() = %q, want %q", got, tc.want)
			}
		})
	}
}
