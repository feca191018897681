package generate

import (
	"testing"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/testbed"
	"loadstone.dev/loadstone/internal/trial/protocol"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

// Loads a server with varying answers with each tool. With any body allowed nothing is wrong; otherwise the audit finds wrong answers.
func TestAnswersThatDifferAreWrongUnlessAnyBodyWillDo(t *testing.T) {
	for _, name := range []record.Tool{record.ToolWrk, record.ToolAb, record.ToolK6} {
		testbed.Programs(t, string(name))
		for expected, anyBody := range map[string]bool{"any body": true, "the same body": false} {
			t.Run(string(name)+", "+expected, func(t *testing.T) {
				t.Parallel()
				b := newBench(t, withTools)
				c := cell(2, 1)
				c.Tool, c.Connection, c.DurationSeconds, c.Request.Expect.AnyBody = name, record.KeepAlive, 2, anyBody
				target := testbed.NewCounting(t)
				asked := c.Request
				asked.Expect.AnyBody = true // Otherwise the check refuses the server.
				if checked := b.generator.Check(t.Context(), protocol.Check{Targets: []string{target}, Requests: []record.Request{asked}, Cells: []record.Cell{c}}); checked.Fault != "" {
					t.Fatalf("the check says %q", checked.Message)
				}
				result := b.again(protocol.Start{Targets: []string{target}, Slots: timetable.Of([]record.Cell{c})}, auditedThroughout)
				if len(result.Cells) != 1 || result.Cells[0].Measurement == nil || result.Cells[0].Audit == nil || result.Cells[0].MeasuredAudit == nil {
					t.Fatalf("the cell was not measured: %q", result.message())
				}
				got := result.Cells[0]
				wrong := got.Measurement.Errors.Sum() + got.Audit.WrongBody + got.MeasuredAudit.WrongBody
				if got.Measurement.Requests == 0 || !auditedThroughout(result) || (wrong == 0) != anyBody {
					t.Errorf("%d requests with %+v, audits %+v and %+v", got.Measurement.Requests, got.Measurement.Errors, got.Audit, got.MeasuredAudit)
				}
			})
		}
	}
}
