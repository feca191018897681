package wrk_test

import (
	"testing"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/testbed"
	"loadstone.dev/loadstone/internal/tool/wrk"
)

func TestRealWrkSendsTheRequest(t *testing.T) {
	needWrk(t)
	for name, r := range testbed.Requests() {
		for _, connection := range []record.ConnectionUse{record.KeepAlive, record.PerRequest} {
			t.Run(name+", "+string(connection), func(t *testing.T) {
				t.Parallel()
				server := testbed.NewAsked(t, r)
				cell := record.Cell{Load: "post", Connections: 2, Threads: 2, DurationSeconds: 1, Request: r, Connection: connection}
				m, err := wrk.Tool{}.Parse(run(t, cell, server.Target))
				if err != nil || m.Errors.Sum() != 0 {
					t.Fatalf("Parse() = %+v, %v", m.Errors, err)
				}
				server.Check(t, m.Requests)
			})
		}
	}
}
