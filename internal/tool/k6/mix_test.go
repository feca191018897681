package k6_test

import (
	"fmt"
	"net/http"
	"testing"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/testbed"
	"loadstone.dev/loadstone/internal/tool"
)

func TestRealK6SendsAMix(t *testing.T) {
	mix := testbed.Mix()
	var requests []record.Request
	for _, r := range mix {
		requests = append(requests, r.Request)
	}
	for name, cell := range map[string]record.Cell{
		"closed":          {Connections: 4, Threads: 1, DurationSeconds: 1, Mix: mix},
		"a constant rate": {Connections: 50, Threads: 1, DurationSeconds: 1, Mix: mix, RequestsPerSecond: 500},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := testbed.NewAsked(t, requests...)
			got := run(t, cell, "", tool.Measure, server.Target)
			if got.failure != nil || got.err != nil || got.m.Errors.Sum() != 0 {
				t.Fatalf("k6 ended with %v, Parse() = %+v, %v\n%.2000s", got.failure, got.m.Errors, got.err, got.raw)
			}
			server.Check(t, got.m.Requests)
			// A round of the mix has 15 requests; each virtual user may have one in flight at the end.
			server.CheckMix(t, mix, got.m.ByRequest, 15+int64(cell.Connections))
		})
	}
}

func TestRealK6HoldsEachAnswerAgainstItsRequest(t *testing.T) {
	page, gone := "page", "gone"
	handler := func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			fmt.Fprint(w, page)
		case "/gone":
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, gone)
		default:
			fmt.Fprint(w, "anything")
		}
	}
	mix := func(path string, status int32, body *string) []record.MixedRequest {
		return []record.MixedRequest{
			{Request: record.Request{Path: "/", Expect: record.Expect{Status: 200, Body: &page}}, Weight: 1},
			{Request: record.Request{Path: path, Expect: record.Expect{Status: status, Body: body}}, Weight: 1},
		}
	}
	for name, tc := range map[string]struct {
		mix  []record.MixedRequest
		want func(n int64) record.Errors
	}{
		"each as it should be":        {mix("/gone", 404, &gone), func(int64) record.Errors { return record.Errors{} }},
		"one whose body is any":       {mix("/other", 200, nil), func(int64) record.Errors { return record.Errors{} }},
		"one of another's status":     {mix("/gone", 200, nil), func(n int64) record.Errors { return record.Errors{Status: n} }},
		"one of another's right body": {mix("/gone", 404, &page), func(n int64) record.Errors { return record.Errors{Body: n} }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := run(t, record.Cell{Connections: 1, Threads: 1, DurationSeconds: 1, Mix: tc.mix}, "", tool.Measure, serve(t, handler, false))
			if got.err != nil || len(got.m.ByRequest) != 2 || got.m.ByRequest[1] == 0 {
				t.Fatalf("it made %v, Parse(): %v\n%.2000s", got.m.ByRequest, got.err, got.raw)
			}
			want := tc.want(got.m.ByRequest[1])
			// The last request may have been cut off by the end.
			if off := want.Sum() - got.m.Errors.Sum(); off < 0 || off > 1 || want.Sum() > 0 && got.m.Errors.Status+got.m.Errors.Body == 0 {
				t.Errorf("its errors are %+v, want about %+v", got.m.Errors, want)
			}
		})
	}
}
