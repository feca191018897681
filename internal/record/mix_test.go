package record_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/record"
)

func TestACellHasItsMixOrItsOneRequest(t *testing.T) {
	one := record.Cell{Request: record.Request{Path: "/"}}
	if diff := cmp.Diff([]record.MixedRequest{{Request: one.Request, Weight: 1}}, one.Requests()); diff != "" {
		t.Errorf("of one request (-want +got):\n%s", diff)
	}
	mixed := record.Cell{Mix: []record.MixedRequest{{Weight: 4}, {Weight: 1}}}
	if diff := cmp.Diff(mixed.Mix, mixed.Requests()); diff != "" {
		t.Errorf("of a mix (-want +got):\n%s", diff)
	}
}
