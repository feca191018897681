package protocol

import (
	"strings"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/record"
)

func TestFilesBeyondABudgetAreRefused(t *testing.T) {
	const mib = 1 << 20
	sweep := BudgetOf(4, time.Minute, false, 12)
	program := BudgetOf(0, time.Minute, true, 12)
	file := func(name string, bytes int64) State {
		return State{Member: "server-0", Files: []File{{Name: name, Bytes: bytes}}}
	}
	many := func(n int) []State {
		out := make([]State, n)
		for i := range out {
			out[i] = file("wrk.txt", MaxFile)
		}
		return out
	}
	for name, tc := range map[string]struct {
		budget Budget
		states []State
		want   string
	}{
		"nothing":                               {sweep, nil, ""},
		"a result of a large sweep":             {sweep, []State{file(record.ResultFile, mib)}, ""},
		"a result beyond its cells":             {sweep, []State{file(record.ResultFile, 3*mib)}, "file result.json of server-0 has 3145728 bytes, the limit is 2220032: measure fewer levels or cases per run"},
		"a result of a program":                 {program, []State{file(record.ResultFile, 30*mib)}, ""},
		"a result that no operator can read":    {program, []State{file(record.ResultFile, MaxResult+1)}, "file result.json of server-0"},
		"a result of an endless sweep":          {BudgetOf(10_000, time.Hour, false, 1), []State{file(record.ResultFile, MaxResult+1)}, "file result.json of server-0"},
		"a large file":                          {sweep, []State{file("launch-0.heap", MaxFile)}, ""},
		"a file that is too large":              {sweep, []State{file("launch-0.heap", MaxFile+1)}, "file launch-0.heap of server-0 has 1073741825 bytes, the limit is 1073741824: let the tool, script or program log less"},
		"many large files":                      {sweep, many(4), ""},
		"too many large files":                  {sweep, many(5), "have 5368709120 bytes, the limit for each trial of this run is 4294967296: split the run"},
		"as many in a run of a thousand trials": {BudgetOf(4, time.Minute, false, 1000), many(1), "have 1073741824 bytes, the limit for each trial of this run is 274877906"},
	} {
		t.Run(name, func(t *testing.T) {
			err := tc.budget.Refuse(tc.states...)
			if (err != nil) != (tc.want != "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}
