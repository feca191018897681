package ab_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/tool/ab"
)

func TestArgs(t *testing.T) {
	cell := record.Cell{
		Load: "sweep", Connections: 100, Threads: 1, DurationSeconds: 10, WarmupSeconds: 2,
		Connection: record.KeepAlive, Request: record.Request{Path: "/a?b=c"},
	}
	alone := cell
	alone.Connection = record.PerRequest
	long := record.Cell{Load: "long", Connections: 1, DurationSeconds: 3600, Request: root}
	tests := map[string]struct {
		cell    record.Cell
		purpose tool.Purpose
		want    []string
	}{
		"a measured run ends by its time and not by its number": {
			cell: cell, purpose: tool.Measure,
			want: []string{"ab", "-q", "-c", "100", "-t", "10", "-n", "5000000", "-k", "-r", "-s", "2", "-e", "ab-sweep-100.csv", "http://10.0.0.1:8080/a?b=c"},
		},
		"a connection for each request": {
			cell: alone, purpose: tool.Measure,
			want: []string{"ab", "-q", "-c", "100", "-t", "10", "-n", "5000000", "-r", "-s", "2", "-e", "ab-sweep-100.csv", "http://10.0.0.1:8080/a?b=c"},
		},
		"a warm-up would last longer than it may": {
			cell: cell, purpose: tool.Warmup,
			want: []string{"ab", "-q", "-c", "100", "-t", "7", "-n", "3500000", "-k", "-r", "-s", "2", "-e", "ab-sweep-100.csv", "http://10.0.0.1:8080/a?b=c"},
		},
		"a probe is one request": {
			cell: cell, purpose: tool.Probe,
			want: []string{"ab", "-q", "-c", "1", "-n", "1", "-k", "-r", "-s", "2", "-e", "ab-sweep-100.csv", "http://10.0.0.1:8080/a?b=c"},
		},
		"the number of requests has a bound": {
			cell: long, purpose: tool.Measure,
			want: []string{"ab", "-q", "-c", "1", "-t", "3600", "-n", "25000000", "-k", "-r", "-s", "2", "-e", "ab-long-1.csv", "http://10.0.0.1:8080/"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, ab.Tool{}.Args(tc.cell, tool.Target{Address: "10.0.0.1:8080"}, tc.purpose)); diff != "" {
				t.Errorf("Args() (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseVersion(t *testing.T) {
	tests := map[string]struct{ raw, want string }{
		"ab":            {"This is ApacheBench, Version 2.3 <$Revision$>\nCopyright 1996 Adam Twiss\n", "2.3"},
		"anything else": {"ab: command not found\n", "unknown"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := (ab.Tool{}).ParseVersion([]byte(tc.raw)); got != tc.want {
				t.Errorf("ParseVersion() = %q, want %q", got, tc.want)
			}
		})
	}
}
