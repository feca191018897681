package wrk_test

import (
	"bytes"
	"fmt"
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

// wrk refuses to start with methods that its parser does not know; Methods must match.
func TestRealWrkSendsTheMethodsThatItSaysItDoes(t *testing.T) {
	needWrk(t)
	server := testbed.NewAsked(t, record.Request{Path: "/"})
	// Each run ends its load with the first answer and then waits for its second to pass, so all run in parallel.
	tries := map[string]*exec.Cmd{}
	for _, method := range append(strings.Fields(wrk.Methods), "QUERY", "VERSION-CONTROL") {
		script := filepath.Join(t.TempDir(), "method.lua")
		if err := os.WriteFile(script, []byte("wrk.method = \""+method+"\"; function response() wrk.thread:stop() end"), 0o600); err != nil {
			t.Fatal(err)
		}
		try := exec.CommandContext(t.Context(), "wrk", "-t1", "-c1", "-d1s", "-s", script, "http://"+server.Target)
		said := &bytes.Buffer{}
		try.Stdout, try.Stderr = said, said
		if err := try.Start(); err != nil {
			t.Fatal(err)
		}
		tries[method] = try
	}
	for method, try := range tries {
		err, said := try.Wait(), fmt.Sprint(try.Stdout)
		if refused := strings.Contains(said, "invalid HTTP method"); refused == strings.Contains(wrk.Methods, method) || !refused && (err != nil || strings.Contains(said, "\n  0 requests")) {
			t.Errorf("%s: it ends with %v and prints %s", method, err, said)
		}
	}
}
