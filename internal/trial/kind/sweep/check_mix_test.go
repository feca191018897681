package sweep_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind/sweep"
)

func mixed(weight int32, r v1alpha1.Request) v1alpha1.MixedRequest {
	return v1alpha1.MixedRequest{Request: r, Weight: weight}
}

func TestAMixThatCannotBeSentIsRefusedWithAWayOut(t *testing.T) {
	page, next := mixed(4, v1alpha1.Request{}), mixed(1, v1alpha1.Request{Path: "/next"})
	half := strings.Repeat("x", 40_000)
	for name, tc := range map[string]struct {
		requests []v1alpha1.MixedRequest
		change   func(*v1alpha1.Load)
		want     string
	}{
		"two requests":               {requests: []v1alpha1.MixedRequest{page, next}},
		"with k6, at a rate":         {requests: []v1alpha1.MixedRequest{page, next}, change: func(l *v1alpha1.Load) { l.Tool, l.Levels[0].RequestsPerSecond = v1alpha1.ToolK6, 100 }},
		"one path by two methods":    {requests: []v1alpha1.MixedRequest{page, mixed(1, v1alpha1.Request{Method: "POST"})}},
		"one path with two bodies":   {requests: []v1alpha1.MixedRequest{mixed(1, v1alpha1.Request{Method: "POST", Body: "a"}), mixed(1, v1alpha1.Request{Method: "POST", Body: "b"})}},
		"with ab":                    {requests: []v1alpha1.MixedRequest{page, next}, change: func(l *v1alpha1.Load) { l.Tool = v1alpha1.ToolAb }, want: "spec.loads[0].requests is a mix, and ab is given one request: make a load of each request, or use k6 or wrk"},
		"with vegeta":                {requests: []v1alpha1.MixedRequest{page, next}, change: func(l *v1alpha1.Load) { l.Tool, l.Levels[0].RequestsPerSecond = v1alpha1.ToolVegeta, 9 }, want: "spec.loads[0].requests is a mix, and vegeta is given one request"},
		"beside a script":            {requests: []v1alpha1.MixedRequest{page, next}, change: func(l *v1alpha1.Load) { l.Script = v1alpha1.Script{ConfigMap: "a", Key: "b.lua"} }, want: "spec.loads[0].requests has no effect beside script, which makes the requests: remove one of the two"},
		"beside a request":           {requests: []v1alpha1.MixedRequest{page, next}, change: func(l *v1alpha1.Load) { l.Request.Path = "/" }, want: "spec.loads[0].requests is set beside spec.loads[0].request: put the one request among requests, with a weight, or remove requests"},
		"one request":                {requests: []v1alpha1.MixedRequest{page}, want: "spec.loads[0].requests has 1 requests, and a mix has from 2 to 12: set request for one"},
		"thirteen requests":          {requests: slices.Repeat([]v1alpha1.MixedRequest{page}, 13), want: "spec.loads[0].requests has 13 requests, and a mix has from 2 to 12"},
		"no weight":                  {requests: []v1alpha1.MixedRequest{page, mixed(0, next.Request)}, want: "spec.loads[0].requests[1].weight is 0: give a whole number from 1 to 100"},
		"a weight too large":         {requests: []v1alpha1.MixedRequest{mixed(101, page.Request), next}, want: "spec.loads[0].requests[0].weight is 101: give a whole number from 1 to 100"},
		"one request twice":          {requests: []v1alpha1.MixedRequest{page, next, mixed(1, v1alpha1.Request{Method: "GET", Path: "/"})}, want: "spec.loads[0].requests[2] asks for the same as spec.loads[0].requests[0]: remove it, and add its weight to that one's"},
		"one by a default, too":      {requests: []v1alpha1.MixedRequest{mixed(1, v1alpha1.Request{Method: "POST", Body: "a"}), mixed(1, v1alpha1.Request{Method: "POST", Body: "a", Headers: []v1alpha1.Header{{Name: "content-type", Value: "text/plain"}}})}, want: "spec.loads[0].requests[1] asks for the same as spec.loads[0].requests[0]: remove it"},
		"bodies too long together":   {requests: []v1alpha1.MixedRequest{mixed(1, v1alpha1.Request{Method: "POST", Body: half}), mixed(1, v1alpha1.Request{Method: "PUT", Body: half})}, want: "spec.loads[0].requests has bodies of 80000 bytes together, and the maximum is 65536"},
		"one that cannot be sent":    {requests: []v1alpha1.MixedRequest{page, mixed(1, v1alpha1.Request{Method: "HEAD"})}, want: "spec.loads[0].requests[1].method is HEAD, which no load sends"},
		"one that wrk cannot send":   {requests: []v1alpha1.MixedRequest{page, mixed(1, v1alpha1.Request{Method: "QUERY"})}, want: "spec.loads[0].requests[1].method is QUERY, which wrk cannot send"},
		"a header with a line break": {requests: []v1alpha1.MixedRequest{page, mixed(1, v1alpha1.Request{Headers: []v1alpha1.Header{{Name: "X-A", Value: "a\nb"}}})}, want: "spec.loads[0].requests[1].headers[0].value, of X-A, has a line break"},
	} {
		t.Run(name, func(t *testing.T) {
			v := sweep.Kind{}.Plan(loads(func(s *v1alpha1.BenchmarkRunSpec) {
				s.Loads[0].Request, s.Loads[0].Requests = v1alpha1.Request{}, tc.requests
				if tc.change != nil {
					tc.change(&s.Loads[0])
				}
			}), &record.Plan{})
			if (v != nil) != (tc.want != "") || v != nil && (v.Reason != v1alpha1.ReasonInvalidSpec || !strings.HasPrefix(v.Message, tc.want)) {
				t.Errorf("got %v, want %q", v, tc.want)
			}
		})
	}
}

func TestAMixIsPlannedWithItsDefaultsAndSurvivesItsTrial(t *testing.T) {
	var p record.Plan
	if v := (sweep.Kind{}).Plan(loads(func(s *v1alpha1.BenchmarkRunSpec) {
		s.Loads[0].Request = v1alpha1.Request{}
		s.Loads[0].Requests = []v1alpha1.MixedRequest{mixed(4, v1alpha1.Request{}), mixed(1, v1alpha1.Request{Method: "POST", Path: "/orders", Body: "a", Expect: v1alpha1.Expect{Status: 201, Bodies: v1alpha1.BodiesAny}})}
	}), &p); v != nil {
		t.Fatal(v)
	}
	want := []record.MixedRequest{
		{Weight: 4, Request: record.Request{Path: "/", Expect: record.Expect{Status: 200}}},
		{Weight: 1, Request: record.Request{
			Method: "POST", Path: "/orders", Body: "a", Headers: []record.Header{{Name: "Content-Type", Value: "text/plain"}}, Expect: record.Expect{Status: 201, AnyBody: true},
		}},
	}
	if diff := cmp.Diff(want, p.Cells[0].Mix); diff != "" || p.Cells[0].Request.Path != "" {
		t.Errorf("beside the request %+v the mix is (-want +got):\n%s", p.Cells[0].Request, diff)
	}
	if got := sweep.Requests(p.Cells); len(got) != 2 || got[1].Path != "/orders" {
		t.Errorf("the check sends %+v, want each request of the mix once", got)
	}
	notes := strings.Join(p.Notes, "\n")
	for _, note := range []string{
		"loads[sweep].requests are made in an order that follows from their weights alone, and is the same in all trials",
		"loads[sweep].requests[1].headers has no Content-Type: it defaults to text/plain", "loads[sweep].requests[1].expect.bodies is Any", "loads[sweep].requests[0].expect.body is not set",
	} {
		if !strings.Contains(notes, note) {
			t.Errorf("the notes do not say %q:\n%s", note, notes)
		}
	}
}
