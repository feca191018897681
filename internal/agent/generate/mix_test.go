package generate

import (
	"testing"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/testbed"
	"loadstone.dev/loadstone/internal/trial/kind/sweep"
	"loadstone.dev/loadstone/internal/trial/protocol"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

func TestAMixIsCheckedLoadedAndAudited(t *testing.T) {
	mix := testbed.Mix()
	var requests []record.Request
	for _, r := range mix {
		requests = append(requests, r.Request)
	}
	for _, name := range []record.Tool{record.ToolWrk, record.ToolK6} {
		testbed.Programs(t, string(name))
		t.Run(string(name), func(t *testing.T) {
			b := newBench(t, withTools)
			c := cell(2, 1)
			c.Tool, c.Connection, c.DurationSeconds, c.Request, c.Mix = name, record.KeepAlive, 2, record.Request{}, mix
			server := testbed.NewAsked(t, requests...)
			cells := []record.Cell{c}
			if checked := b.generator.Check(t.Context(), protocol.Check{Targets: []string{server.Target}, Requests: sweep.Requests(cells), Cells: cells}); checked.Fault != "" {
				t.Fatalf("the check says %q", checked.Message)
			}
			for i, n := range server.Seen() {
				// A body that the load does not specify is compared with that of a second answer.
				want := 2
				if e := mix[i].Expect; e.AnyBody || e.Body != nil {
					want = 1
				}
				if int(n) != want {
					t.Errorf("the check sends %s %s %d times, want %d", mix[i].Verb(), mix[i].Path, n, want)
				}
			}
			result := b.again(protocol.Start{Targets: []string{server.Target}, Slots: timetable.Of(cells)}, func(o outcome) bool {
				return audited(o) && o.Cells[0].Audit.Requests >= int64(len(mix))
			})
			if len(result.Cells) != 1 || result.Cells[0].Measurement == nil || result.Cells[0].Audit == nil {
				t.Fatalf("the cell was not measured: %q", result.message())
			}
			got := result.Cells[0]
			if got.Measurement.Errors.Sum()+got.Audit.WrongBody+got.Audit.WrongStatus != 0 || got.Audit.Requests < int64(len(mix)) || len(got.Measurement.ByRequest) != len(mix) {
				t.Errorf("%v requests with %+v, audits %+v and %+v", got.Measurement.ByRequest, got.Measurement.Errors, got.Audit, got.MeasuredAudit)
			}
			if len(result.Responses) != len(mix) {
				t.Errorf("it has the answers %+v, want one to each request", result.Responses)
			}
			server.Check(t, got.Measurement.Requests)
		})
	}
}
