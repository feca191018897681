package view_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/report/phrase"
	"loadstone.dev/loadstone/internal/report/view"
)

func TestTheNumbersOfAMixAreSaidToBeOfAllItsRequests(t *testing.T) {
	v := view.New(analysis.Table{Requests: []planned.Request{
		{Load: "orders", Method: "POST", Path: "/orders"}, {Load: "shop", Path: "/", Share: 0.8}, {Load: "shop", Path: "/next", Share: 0.2},
	}}, phrase.English)
	want := []string{"Load shop sends a mix of 2 requests: its rates, CPU times and latencies are those of all its requests together, and of none alone."}
	if diff := cmp.Diff(want, v.Mixes()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestALoadInHTTP2IsSaidToBe(t *testing.T) {
	level := planned.Level{Point: record.Point{Load: "scripted", Connections: 1}, Protocol: record.HTTP2, Scripted: true}
	v := view.New(analysis.Table{
		Levels:   []planned.Level{level, level, {Point: record.Point{Load: "old"}}},
		Requests: []planned.Request{{Load: "searched", Protocol: record.HTTP2}, {Load: "old"}},
	}, phrase.English)
	const says = " asks in HTTP/2; a cell with a response in another version of HTTP is void."
	if diff := cmp.Diff([]string{"Load scripted" + says, "Load searched" + says}, v.Protocols()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
