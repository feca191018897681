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

func TestAllRequestsOfACellAreInOneVersionOfHTTP(t *testing.T) {
	for name, c := range map[string]record.Cell{
		"one request": {Request: record.Request{Path: "/"}},
		"a mix":       {Mix: []record.MixedRequest{{Weight: 4}, {Weight: 1}}},
	} {
		two := c.Speaking(record.HTTP2)
		if two.Protocol() != record.HTTP2 || c.Protocol() != "" {
			t.Errorf("%s speaks %q, and before that %q", name, two.Protocol(), c.Protocol())
		}
		if diff := cmp.Diff(c, two.Speaking("")); diff != "" {
			t.Errorf("%s, back again (-want +got):\n%s", name, diff)
		}
	}
}
