package sweep_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind/sweep"
)

func TestARequestThatCannotBeSentIsRefusedWithAWayOut(t *testing.T) {
	header := func(name, value string) v1alpha1.Header { return v1alpha1.Header{Name: name, Value: value} }
	long := strings.Repeat("x", 4000)
	for name, tc := range map[string]struct {
		request v1alpha1.Request
		tool    v1alpha1.Tool
		script  string
		want    string
	}{
		"JSON that is posted":                 {request: v1alpha1.Request{Method: "POST", Headers: []v1alpha1.Header{header("Content-Type", "application/json")}, Body: `{"a":1}`}},
		"the largest body":                    {request: v1alpha1.Request{Method: "PUT", Body: strings.Repeat("x", 64<<10)}},
		"a method of HTTP's extensions":       {request: v1alpha1.Request{Method: "M-SEARCH"}},
		"a method that wrk does not know":     {request: v1alpha1.Request{Method: "QUERY"}, want: "spec.loads[0].request.method is QUERY, which wrk cannot send: choose another method, or use ab"},
		"a new method":                        {tool: v1alpha1.ToolAb, request: v1alpha1.Request{Method: "QUERY"}},
		"a path that clients rewrite":         {request: v1alpha1.Request{Path: "/items/{id}"}, want: "spec.loads[0].request.path is /items/{id}, which clients would send in different forms: write /items/%7Bid%7D"},
		"such a path beside a script":         {script: "a.lua", request: v1alpha1.Request{Path: "/a#b"}, want: "spec.loads[0].request.path is /a#b"},
		"a method in lower case":              {request: v1alpha1.Request{Method: "post"}, want: `spec.loads[0].request.method is "post": give a method of upper-case letters`},
		"a method with a space":               {request: v1alpha1.Request{Method: "GET /x"}, want: `spec.loads[0].request.method is "GET /x"`},
		"a method without bodies":             {request: v1alpha1.Request{Method: "HEAD"}, want: "spec.loads[0].request.method is HEAD, which no load sends, since its answers announce a body that wrk and ab would wait for: use GET"},
		"a method for proxies":                {request: v1alpha1.Request{Method: "CONNECT"}, want: "spec.loads[0].request.method is CONNECT"},
		"a body that is too long":             {request: v1alpha1.Request{Method: "POST", Body: strings.Repeat("x", 64<<10+1)}, want: "spec.loads[0].request.body has 65537 bytes, and the maximum is 65536: shorten it"},
		"a body that is no text":              {request: v1alpha1.Request{Method: "POST", Body: "a\x00b"}, want: "spec.loads[0].request.body contains a zero byte"},
		"a header with a line break":          {request: v1alpha1.Request{Headers: []v1alpha1.Header{header("X-A", "a"), header("X-B", "b\r\nHost: evil")}}, want: "spec.loads[0].request.headers[1].value, of X-B, has a line break, which would begin another header: write it on one line"},
		"a header with a space at its end":    {request: v1alpha1.Request{Headers: []v1alpha1.Header{header("X-A", "a ")}}, want: `spec.loads[0].request.headers[0].value, of X-A, is "a "`},
		"a header that is not ASCII":          {request: v1alpha1.Request{Headers: []v1alpha1.Header{header("X-A", "ä")}}, want: "spec.loads[0].request.headers[0].value, of X-A"},
		"a header whose name is no token":     {request: v1alpha1.Request{Headers: []v1alpha1.Header{header("X A", "a")}}, want: `spec.loads[0].request.headers[0].name is "X A"`},
		"a header with a name and no value":   {request: v1alpha1.Request{Headers: []v1alpha1.Header{header("X-A", "")}}, want: "spec.loads[0].request.headers[0].value, of X-A"},
		"a header twice":                      {request: v1alpha1.Request{Headers: []v1alpha1.Header{header("X-A", "a"), header("x-a", "b")}}, want: "spec.loads[0].request.headers[1].name is x-a for the second time"},
		"a header of the connection":          {request: v1alpha1.Request{Headers: []v1alpha1.Header{header("connection", "close")}}, want: "spec.loads[0].request.headers[0].name is connection, which cannot be set: it follows from the load's connection: remove it, and choose connection: PerRequest"},
		"a header of the server":              {request: v1alpha1.Request{Headers: []v1alpha1.Header{header("Host", "a")}}, want: "spec.loads[0].request.headers[0].name is Host, which cannot be set: a load reaches the pods of its run by their addresses"},
		"a header of the body's length":       {request: v1alpha1.Request{Headers: []v1alpha1.Header{header("Content-Length", "7")}}, want: "spec.loads[0].request.headers[0].name is Content-Length"},
		"a header of chunks":                  {request: v1alpha1.Request{Headers: []v1alpha1.Header{header("Transfer-Encoding", "chunked")}}, want: "spec.loads[0].request.headers[0].name is Transfer-Encoding"},
		"a head for which ab has no room":     {tool: v1alpha1.ToolAb, request: v1alpha1.Request{Headers: []v1alpha1.Header{header("X-A", long), header("X-B", long)}}, want: "spec.loads[0].request has 8014 bytes of method, path and headers, and ab has room for 7680: shorten them, or use "},
		"a head for which wrk has room":       {request: v1alpha1.Request{Headers: []v1alpha1.Header{header("X-A", long), header("X-B", long)}}},
		"a body beside a script":              {script: "a.lua", request: v1alpha1.Request{Body: "a"}, want: "spec.loads[0].request.body has no effect beside script, which makes the requests: set it in the script"},
		"a method beside a script":            {script: "a.lua", request: v1alpha1.Request{Method: "POST"}, want: "spec.loads[0].request.method has no effect beside script"},
		"headers beside a script":             {script: "a.lua", request: v1alpha1.Request{Headers: []v1alpha1.Header{header("X-A", "a")}}, want: "spec.loads[0].request.headers has no effect beside script"},
		"any body":                            {request: v1alpha1.Request{Expect: v1alpha1.Expect{Bodies: v1alpha1.BodiesAny}}},
		"one body for all":                    {request: v1alpha1.Request{Expect: v1alpha1.Expect{Body: new("a"), Bodies: v1alpha1.BodiesSame}}},
		"a body where any will do":            {request: v1alpha1.Request{Expect: v1alpha1.Expect{Body: new(""), Bodies: v1alpha1.BodiesAny}}, want: "spec.loads[0].request.expect.body is one body, and bodies: Any compares none: remove one of the two"},
		"any body beside a script":            {script: "a.lua", request: v1alpha1.Request{Expect: v1alpha1.Expect{Bodies: v1alpha1.BodiesAny}}, want: "spec.loads[0].request.expect.bodies has no effect beside script"},
		"a script with a path of its own":     {script: "a.lua", request: v1alpha1.Request{Path: "/x"}},
		"a header that a tool may set itself": {request: v1alpha1.Request{Headers: []v1alpha1.Header{header("User-Agent", "a b (c)")}}},
	} {
		t.Run(name, func(t *testing.T) {
			v := sweep.Kind{}.Plan(loads(func(s *v1alpha1.BenchmarkRunSpec) {
				s.Loads[0].Request = tc.request
				if tc.tool != "" {
					s.Loads[0].Tool = tc.tool
				}
				if tc.script != "" {
					s.Loads[0].Script = v1alpha1.Script{ConfigMap: "scripts", Key: tc.script}
				}
			}), &record.Plan{})
			if (v != nil) != (tc.want != "") || v != nil && (v.Reason != v1alpha1.ReasonInvalidSpec || !strings.HasPrefix(v.Message, tc.want)) {
				t.Errorf("got %v, want %q", v, tc.want)
			}
		})
	}
}

func TestABodyWithoutATypeGetsOneAndTheNotesSayIt(t *testing.T) {
	for name, tc := range map[string]struct {
		request  v1alpha1.Request
		want     []record.Header
		wantNote bool
	}{
		"no body":               {v1alpha1.Request{Method: "POST"}, nil, false},
		"a body without a type": {v1alpha1.Request{Method: "POST", Body: "a"}, []record.Header{{Name: "Content-Type", Value: "text/plain"}}, true},
		"a body with one": {
			v1alpha1.Request{Method: "POST", Body: "a", Headers: []v1alpha1.Header{{Name: "content-type", Value: "application/json"}}},
			[]record.Header{{Name: "content-type", Value: "application/json"}},
			false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var p record.Plan
			if v := (sweep.Kind{}).Plan(loads(func(s *v1alpha1.BenchmarkRunSpec) { s.Loads[0].Request = tc.request }), &p); v != nil {
				t.Fatal(v)
			}
			noted := strings.Contains(strings.Join(p.Notes, "\n"), "loads[sweep].request.headers has no Content-Type: it defaults to text/plain")
			if diff := cmp.Diff(tc.want, p.Cells[0].Request.Headers); diff != "" || noted != tc.wantNote {
				t.Errorf("noted: %v; headers (-want +got):\n%s", noted, diff)
			}
		})
	}
}

func TestAPlanHasTheRequestsOfItsLoads(t *testing.T) {
	empty := ""
	for name, r := range map[string]v1alpha1.Request{
		"a path":       {Path: "/a"},
		"GET by name":  {Method: "GET", Path: "/a"},
		"all of it":    {Method: "POST", Path: "/a", Headers: []v1alpha1.Header{{Name: "X-A", Value: "a"}}, Body: "é\n$HOME", Expect: v1alpha1.Expect{Status: 201, Body: &empty}},
		"any body":     {Path: "/a", Expect: v1alpha1.Expect{Bodies: v1alpha1.BodiesAny}},
		"a query only": {Method: "DELETE", Path: "/a?b=c"},
	} {
		t.Run(name, func(t *testing.T) {
			var p record.Plan
			if v := (sweep.Kind{}).Plan(loads(func(s *v1alpha1.BenchmarkRunSpec) { s.Loads[0].Request = r }), &p); v != nil {
				t.Fatal(v)
			}
			if got := p.Cells[0].Request; got.Verb() != "GET" && got.Verb() != r.Method || got.Plain() != (got.Key() == got.Path) || got.Body != r.Body || len(got.Headers) < len(r.Headers) {
				t.Errorf("the request is %+v", got)
			}
		})
	}
}

func TestTheNotesSayHowBodiesAreCompared(t *testing.T) {
	for name, tc := range map[string]struct {
		expect v1alpha1.Expect
		want   string
	}{
		"one body":         {expect: v1alpha1.Expect{Body: new("a")}},
		"no word about it": {want: "loads[sweep].request.expect.body is not set: response bodies are compared with the first of their trial, and that with the baseline's"},
		"any body":         {expect: v1alpha1.Expect{Bodies: v1alpha1.BodiesAny}, want: "loads[sweep].request.expect.bodies is Any: response bodies are not compared, and an implementation may answer something else"},
	} {
		t.Run(name, func(t *testing.T) {
			var p record.Plan
			if v := (sweep.Kind{}).Plan(loads(func(s *v1alpha1.BenchmarkRunSpec) { s.Loads[0].Request.Expect = tc.expect }), &p); v != nil {
				t.Fatal(v)
			}
			var got []string
			for _, note := range p.Notes {
				if strings.Contains(note, "request.expect") {
					got = append(got, note)
				}
			}
			if strings.Join(got, "\n") != tc.want {
				t.Errorf("the notes are %q, want %q", got, tc.want)
			}
		})
	}
}

// Two loads may send the same request and expect different answers.
func TestRequestsThatExpectSomethingElseAreCheckedEach(t *testing.T) {
	same := record.Cell{Request: record.Request{Path: "/", Expect: record.Expect{Status: 200}}}
	other := same
	other.Request.Expect.AnyBody = true
	if got := sweep.Requests([]record.Cell{same, other, same, other}); len(got) != 2 {
		t.Errorf("%d requests are sent, want 2: %+v", len(got), got)
	}
}
