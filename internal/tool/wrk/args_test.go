package wrk_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/tool/wrk"
)

func TestArgs(t *testing.T) {
	two := int32(2)
	tests := map[string]struct {
		cell    v1alpha1.Cell
		purpose tool.Purpose
		want    []string
	}{
		"a measured run has the script and the cell's duration": {
			cell:    v1alpha1.Cell{Connections: 100, Threads: 4, DurationSeconds: 10, WarmupSeconds: &two, Request: v1alpha1.Request{Path: "/a?b=c"}},
			purpose: tool.Measure,
			want:    []string{"wrk", "-t", "4", "-c", "100", "-d", "10s", "--timeout", "2s", "-s", "wrk-done.lua", "http://10.0.0.1:8080/a?b=c"},
		},
		"a warm-up would last longer than it may and has no script": {
			cell:    v1alpha1.Cell{Connections: 100, Threads: 4, DurationSeconds: 10, WarmupSeconds: &two, Request: v1alpha1.Request{Path: "/"}},
			purpose: tool.Warmup,
			want:    []string{"wrk", "-t", "4", "-c", "100", "-d", "7s", "--timeout", "2s", "http://10.0.0.1:8080/"},
		},
		"an absent path is the root": {
			cell:    v1alpha1.Cell{Connections: 1, Threads: 1, DurationSeconds: 1},
			purpose: tool.Measure,
			want:    []string{"wrk", "-t", "1", "-c", "1", "-d", "1s", "--timeout", "2s", "-s", "wrk-done.lua", "http://10.0.0.1:8080/"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, wrk.Tool{}.Args(tc.cell, "10.0.0.1:8080", tc.purpose)); diff != "" {
				t.Errorf("Args() (-want +got):\n%s", diff)
			}
		})
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
