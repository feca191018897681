package record_test

import (
	"testing"

	"loadstone.dev/loadstone/internal/record"
)

func TestTheKeyOfARequestTellsItApart(t *testing.T) {
	header := []record.Header{{Name: "X-A", Value: "b"}}
	if got := (record.Request{Path: "/a", Expect: record.Expect{Status: 404}}).Key(); got != "/a" {
		t.Errorf("the key of a GET is %q, want its path", got)
	}
	if two := (record.Request{Path: "/a", Protocol: record.HTTP2}); two.Key() != "/a HTTP/2" || two.Plain() {
		t.Errorf("the key of a GET in HTTP/2 is %q, and plain: %v", two.Key(), two.Plain())
	}
	seen := map[string]string{}
	for name, r := range map[string]record.Request{
		"a GET":                  {Path: "/a"},
		"a POST":                 {Method: "POST", Path: "/a"},
		"a PUT":                  {Method: "PUT", Path: "/a"},
		"a POST to another path": {Method: "POST", Path: "/b"},
		"a GET with a header":    {Path: "/a", Headers: header},
		"a body":                 {Method: "POST", Path: "/a", Body: "1"},
		"another body":           {Method: "POST", Path: "/a", Body: "2"},
		"a body with a header":   {Method: "POST", Path: "/a", Body: "1", Headers: header},
		"a GET in HTTP/2":        {Path: "/a", Protocol: record.HTTP2},
		"a POST in HTTP/2":       {Method: "POST", Path: "/a", Protocol: record.HTTP2},
		"a header in the body":   {Method: "POST", Path: "/a", Body: "x-a: b\n\n1"},
	} {
		key := r.Key()
		if other, twice := seen[key]; twice {
			t.Errorf("%s and %s have the key %q", name, other, key)
		}
		seen[key] = name
	}
	lower := record.Request{Path: "/a", Headers: []record.Header{{Name: "x-a", Value: "b"}}}
	if upper := (record.Request{Path: "/a", Headers: header}); lower.Key() != upper.Key() {
		t.Errorf("the case of a header's name makes another request: %q and %q", lower.Key(), upper.Key())
	}
}

func TestARequestSaysThatItHasNoBodyWhereItsMethodIsAboutOne(t *testing.T) {
	for name, tc := range map[string]struct {
		request record.Request
		want    bool
	}{
		"a GET":              {record.Request{}, false},
		"a DELETE":           {record.Request{Method: "DELETE"}, false},
		"a POST":             {record.Request{Method: "POST"}, true},
		"a POST with a body": {record.Request{Method: "POST", Body: "a"}, false},
	} {
		if got := tc.request.NoBody(); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
