package wrk_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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

// wrk refuses to start with a method that its parser does not know: what Methods names must be what it takes.
func TestRealWrkSendsTheMethodsThatItSaysItDoes(t *testing.T) {
	needWrk(t)
	server := testbed.NewAsked(t, record.Request{Path: "/"})
	for _, method := range append(strings.Fields(wrk.Methods), "QUERY", "VERSION-CONTROL") {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			script := filepath.Join(t.TempDir(), "method.lua")
			if err := os.WriteFile(script, []byte("wrk.method = \""+method+"\""), 0o600); err != nil {
				t.Fatal(err)
			}
			said, err := exec.Command("wrk", "-t1", "-c1", "-d1s", "-s", script, "http://"+server.Target).CombinedOutput()
			if refused := strings.Contains(string(said), "invalid HTTP method"); refused == strings.Contains(wrk.Methods, method) || !refused && err != nil {
				t.Errorf("it ends with %v and prints %s", err, said)
			}
		})
	}
}
