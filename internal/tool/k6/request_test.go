package k6_test

import (
	"testing"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/testbed"
	"loadstone.dev/loadstone/internal/tool"
)

func TestRealK6SendsTheRequest(t *testing.T) {
	for name, r := range testbed.Requests() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := testbed.NewAsked(t, r)
			got := run(t, record.Cell{Connections: 2, Threads: 1, DurationSeconds: 1, Request: r}, "", tool.Measure, server.Target)
			if got.failure != nil || got.err != nil || got.m.Errors.Sum() != 0 {
				t.Fatalf("k6 ended with %v, Parse() = %+v, %v\n%s", got.failure, got.m.Errors, got.err, got.raw)
			}
			server.Check(t, got.m.Requests)
		})
	}
}
