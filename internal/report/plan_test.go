package report

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/record"
)

func TestThePlanShowsRequestsThatAreMoreThanAPath(t *testing.T) {
	requests := []planned.Request{
		{Load: "orders", Method: "POST", Path: "/orders", Headers: []record.Header{{Name: "Content-Type", Value: "application/json"}}, BodyBytes: 1234, BodySHA256: "ab12"},
		{Load: "drop", Method: "DELETE", Path: "/orders/7"},
		{Load: "next", Method: "GET", Path: "/next", AnyBody: true},
		{Load: "two", Method: "GET", Path: "/", Protocol: record.HTTP2},
		{Load: "shop", Method: "GET", Path: "/", Share: 0.8},
		{Load: "shop", Method: "GET", Path: "/next", Share: 0.2, AnyBody: true},
	}
	facts := shown(analysis.Table{Requests: requests}).planFacts()
	last := facts[len(facts)-1]
	want := []string{
		"orders: POST /orders; Content-Type: application/json; body of 1,234 bytes, SHA-256 ab12", "drop: DELETE /orders/7", "next: GET /next; only the status of responses was compared, not their bodies",
		"two: GET /; in HTTP/2", "shop: 80 % of its requests are GET /", "shop: 20 % of its requests are GET /next; only the status of responses was compared, not their bodies",
	}
	if diff := cmp.Diff(want, last.Values); diff != "" || last.Name != "requests" {
		t.Errorf("%s (-want +got):\n%s", last.Name, diff)
	}
	if facts := shown(analysis.Table{}).planFacts(); facts[len(facts)-1].Name == "requests" {
		t.Error("a run of paths alone lists requests")
	}
}
