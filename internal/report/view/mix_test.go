package view_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/planned"
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
