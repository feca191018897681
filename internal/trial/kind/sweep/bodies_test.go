package sweep_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind/sweep"
)

func posting(configMap, key string) v1alpha1.Request {
	return v1alpha1.Request{Method: "POST", BodyFrom: v1alpha1.BodySource{ConfigMap: configMap, Key: key}}
}

// sourced are two loads, one with a mix, whose bodies come from elsewhere.
func sourced(s *v1alpha1.BenchmarkRunSpec) {
	s.Loads[0].Request = posting("orders", "one.json")
	mix := *s.Loads[0].DeepCopy()
	mix.Name, mix.Request = "mix", v1alpha1.Request{}
	mix.Requests = []v1alpha1.MixedRequest{{Request: v1alpha1.Request{Path: "/"}, Weight: 4}, {Request: posting("orders", "two.json"), Weight: 1}}
	s.Loads = append(s.Loads, mix)
}

func TestBodiesComeFromWhereRequestsNameThem(t *testing.T) {
	s := loads(sourced)
	want := []sweep.BodyUse{
		{Field: "spec.loads[0].request.bodyFrom", From: record.BodySource{ConfigMap: "orders", Key: "one.json"}},
		{Field: "spec.loads[1].requests[1].bodyFrom", From: record.BodySource{ConfigMap: "orders", Key: "two.json"}},
	}
	if diff := cmp.Diff(want, sweep.BodyUses(s.Loads)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	filled := s
	filled.Loads = sweep.WithBodies(s.Loads, map[string]string{"orders/one.json": "1", "orders/two.json": "2"})
	if s.Loads[0].Request.Body != "" || s.Loads[1].Requests[1].Body != "" {
		t.Error("the spec itself has got the bodies")
	}
	var before, after record.Plan
	if v := (sweep.Kind{}).Plan(s, &before); v != nil {
		t.Fatal(v)
	}
	if v := (sweep.Kind{}).Plan(filled, &after); v != nil {
		t.Fatal(v)
	}
	// A request has the same key whether its body was read or not.
	for i, c := range before.Cells {
		for j, r := range c.Requests() {
			own := after.Cells[i].Requests()[j].Request
			if r.Key() != own.Key() || r.From != nil && (own.Body == "" || r.Headers[0].Name != "Content-Type") {
				t.Errorf("%+v is %s, and %+v is %s", r.Request, r.Key(), own, own.Key())
			}
		}
	}
	if a, b := before.Cells[0].Request.Key(), before.Cells[len(before.Cells)-1].Mix[1].Key(); a == b || !strings.HasPrefix(a, "POST / ") {
		t.Errorf("two bodies make the requests %s and %s", a, b)
	}
}

func TestTheKeyOfABodyIsOneThatAConfigMapCanHave(t *testing.T) {
	for name, tc := range map[string]struct {
		key     string
		refused bool
	}{
		"a file's name":              {"one.json", false},
		"one that begins with a dot": {".env", false},
		"a path":                     {"../../etc/passwd", true},
		"one that begins with two":   {"..data", true},
		"a folder":                   {".", true},
		"one with another character": {"a b", true},
	} {
		t.Run(name, func(t *testing.T) {
			s := loads(func(s *v1alpha1.BenchmarkRunSpec) { s.Loads[0].Request = posting("orders", tc.key) })
			v := sweep.Kind{}.Plan(s, &record.Plan{})
			if (v != nil) != tc.refused || v != nil && !strings.Contains(v.Message, "a key of a ConfigMap has letters, digits, '-', '_' and '.', is not '.', and does not begin with '..'") {
				t.Errorf("got %v", v)
			}
		})
	}
}

func TestABodyOfASourceThatCannotBeSentIsRefused(t *testing.T) {
	for name, tc := range map[string]struct{ body, want string }{
		"the largest":              {strings.Repeat("x", 64<<10), ""},
		"one that is too long":     {strings.Repeat("x", 64<<10+1), "spec.loads[0].request.bodyFrom has 65537 bytes, and the maximum is 65536: shorten it, or let a script make the requests (wrk, k6)"},
		"one with a zero byte":     {"a\x00b", "spec.loads[0].request.bodyFrom contains a zero byte"},
		"one that is no text":      {"a\xffb", "spec.loads[0].request.bodyFrom has bytes that are no text in UTF-8"},
		"one that is not yet read": {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := loads(func(s *v1alpha1.BenchmarkRunSpec) {
				s.Loads[0].Request = posting("orders", "one.json")
				s.Loads = sweep.WithBodies(s.Loads, map[string]string{"orders/one.json": tc.body})
			})
			v := sweep.Kind{}.Plan(s, &record.Plan{})
			if (v == nil) != (tc.want == "") || v != nil && !strings.HasPrefix(v.Message, tc.want) {
				t.Errorf("got %v, want %q", v, tc.want)
			}
		})
	}
	s := loads(func(s *v1alpha1.BenchmarkRunSpec) {
		s.Loads[0].Request = posting("orders", "one.json")
		s.Loads[0].Script = v1alpha1.Script{ConfigMap: "mine", Key: "a.lua"}
	})
	if v := (sweep.Kind{}).Plan(s, &record.Plan{}); v == nil || !strings.HasPrefix(v.Message, "spec.loads[0].request.method has no effect beside script") {
		t.Errorf("got %v", v)
	}
}
