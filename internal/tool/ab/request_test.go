package ab_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/testbed"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/tool/ab"
)

func TestRealAbSendsTheRequest(t *testing.T) {
	needAb(t)
	for name, r := range testbed.Requests() {
		for _, connection := range []record.ConnectionUse{record.KeepAlive, record.PerRequest} {
			t.Run(name+", "+string(connection), func(t *testing.T) {
				t.Parallel()
				server := testbed.NewAsked(t, r)
				cell := record.Cell{Load: "post", Connections: 2, Threads: 1, DurationSeconds: 1, Request: r, Connection: connection}
				m, err := ab.Tool{}.Parse(run(t, ab.Tool{}.Args(cell, tool.Target{Address: server.Target}, tool.Measure), cell))
				if err != nil || m.Errors.Sum() != 0 {
					t.Fatalf("Parse() = %+v, %v", m.Errors, err)
				}
				server.Check(t, m.Requests)
			})
		}
	}
}

func TestRealAbTakesAnyBodyIfItIsToldTo(t *testing.T) {
	needAb(t)
	for name, anyBody := range map[string]bool{"any body": true, "the same body": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target := testbed.NewCounting(t)
			cell := record.Cell{Load: "orders", Connections: 2, Threads: 1, DurationSeconds: 1, Connection: record.KeepAlive, Request: root}
			cell.Request.Expect.AnyBody = anyBody
			measure := func() (record.Measurement, error) {
				return ab.Tool{}.Parse(run(t, ab.Tool{}.Args(cell, tool.Target{Address: target}, tool.Measure), cell))
			}
			m, err := measure()
			// The lengths differ once the server has counted to ten.
			for end := time.Now().Add(10 * time.Minute); err == nil && m.Requests < 20 && time.Now().Before(end); {
				m, err = measure()
			}
			if err != nil || (m.Errors.Body == 0) != anyBody || m.Errors.Sum() != m.Errors.Body {
				t.Fatalf("Parse() = %d requests, %+v, %v", m.Requests, m.Errors, err)
			}
			if got := strings.Contains(strings.Join(m.Unknown, " "), "ab did not compare the lengths of answers"); got != anyBody {
				t.Errorf("it says %q", m.Unknown)
			}
		})
	}
}

func TestArgsOfARequest(t *testing.T) {
	r := record.Request{Method: "POST", Path: "/a", Body: "b", Headers: []record.Header{{Name: "content-type", Value: "x/y"}, {Name: "X-A", Value: "b"}}}
	cell := record.Cell{Load: "post", Connections: 2, DurationSeconds: 1, Request: r}
	want := []string{
		"ab", "-q", "-c", "2", "-t", "1", "-n", "500000", "-k", "-r", "-s", "2", "-e", "ab-post-2.csv",
		"-p", "ab-post-2.body", "-m", "POST", "-T", "x/y", "-H", "X-A: b", "http://h:1/a",
	}
	if diff := cmp.Diff(want, ab.Tool{}.Args(cell, tool.Target{Address: "h:1"}, tool.Measure)); diff != "" {
		t.Errorf("Args() (-want +got):\n%s", diff)
	}
	cell.Request = record.Request{Path: "/", Expect: record.Expect{AnyBody: true}}
	want = []string{"ab", "-q", "-c", "2", "-t", "1", "-n", "500000", "-k", "-l", "-r", "-s", "2", "-e", "ab-post-2.csv", "http://h:1/"}
	if diff := cmp.Diff(want, ab.Tool{}.Args(cell, tool.Target{Address: "h:1"}, tool.Measure)); diff != "" {
		t.Errorf("Args() where any body will do (-want +got):\n%s", diff)
	}
	cell.Request = r
	if diff := cmp.Diff([]tool.File{{Name: "ab-post-2.body", Text: "b"}}, ab.Tool{}.Files(cell, tool.Target{Address: "h:1"})); diff != "" {
		t.Errorf("Files() (-want +got):\n%s", diff)
	}
}
