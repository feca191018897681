package planned_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/analysis/planned"
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

func TestAMixIsListedWithTheShareOfEachRequest(t *testing.T) {
	mixed := cell(1)
	one := mixed.Request
	other := one
	other.Method, other.Expect.AnyBody = "POST", true
	mixed.Request, mixed.Mix = record.Request{}, []record.MixedRequest{{Request: one, Weight: 3}, {Request: other, Weight: 1}}
	run := read(t, manifest(func(m *record.RunManifest) { m.Plan.Cells = []record.Cell{mixed} }))
	if len(run.Requests) != 2 || run.Requests[0].Share != 0.75 || run.Requests[1].Share != 0.25 || run.Requests[1].Method != "POST" {
		t.Errorf("got %+v, want both requests with their shares", run.Requests)
	}
	want := []planned.Asked{{Key: one.Key(), Weight: 3}, {Key: other.Key(), Weight: 1, AnyBody: true}}
	level := run.Levels[0]
	if diff := cmp.Diff(want, level.Asked()); diff != "" || level.Path != "" || level.Key() != "3 "+one.Key()+", 1 "+other.Key() {
		t.Errorf("the level of the key %q asks for (-want +got):\n%s", level.Key(), diff)
	}
}

// What a script asks for is unknown, whatever the HTTP version.
func TestARequestInHTTP2IsListedUnlessAScriptMakesIt(t *testing.T) {
	two := cell(1).Speaking(record.HTTP2)
	scripted := two
	scripted.Load, scripted.Script = "scripted", &record.Script{Key: "a.js"}
	run := read(t, manifest(func(m *record.RunManifest) { m.Plan.Cells = []record.Cell{two, scripted} }))
	if len(run.Requests) != 1 || run.Requests[0].Load != two.Load || run.Requests[0].Protocol != record.HTTP2 {
		t.Errorf("got %+v, want that of the load %s", run.Requests, two.Load)
	}
	if run.Levels[0].Protocol != record.HTTP2 || run.Levels[0].Key() == planned.LevelOf(cell(1)).Key() {
		t.Errorf("the level %+v asks for the same as one of HTTP/1", run.Levels[0])
	}
}
