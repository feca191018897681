package planned_test

import (
	"testing"

	"loadstone.dev/loadstone/internal/record"
)

func TestAPathIsListedOnlyIfItsAnswersAreNotCompared(t *testing.T) {
	anyBody := cell(1)
	anyBody.Load, anyBody.Request.Expect.AnyBody = "any", true
	run := read(t, manifest(func(m *record.RunManifest) { m.Plan.Cells = []record.Cell{cell(1), anyBody} }))
	if len(run.Requests) != 1 || run.Requests[0].Load != "any" || run.Requests[0].Method != "GET" || !run.Requests[0].AnyBody {
		t.Errorf("got %+v, want that of the load any", run.Requests)
	}
}
