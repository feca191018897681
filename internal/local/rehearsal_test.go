package local

import (
	"slices"
	"strings"
	"testing"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/run/progress"
)

// rehearsing is a run of these implementations and its notes. The first implementation is the baseline.
func rehearsing(names ...string) (*Run, *[]string) {
	r, notes := &Run{}, &[]string{}
	for _, name := range names {
		r.facts.Plan.Implementations = append(r.facts.Plan.Implementations, record.Implementation{Name: name})
	}
	r.facts.Plan.Baseline = names[0]
	r.options.Tell = func(e progress.Event) { *notes = append(*notes, e.Message) }
	return r, notes
}

func TestRehearsalEndsRunsThatCannotCompare(t *testing.T) {
	for name, tc := range map[string]struct {
		implementations, failed []string
		ends                    bool
	}{
		"nothing failed":            {[]string{"go", "c"}, nil, false},
		"the baseline":              {[]string{"go", "c", "zig"}, []string{"go"}, true},
		"the only contender":        {[]string{"go", "c"}, []string{"c"}, true},
		"one of two contenders":     {[]string{"go", "c", "zig"}, []string{"zig"}, false},
		"both contenders":           {[]string{"go", "c", "zig"}, []string{"c", "zig"}, true},
		"the only implementation":   {[]string{"go"}, []string{"go"}, true},
		"two of three contenders":   {[]string{"go", "c", "zig", "rust"}, []string{"c", "zig"}, false},
		"both servers of one trial": {[]string{"go", "c"}, []string{"go", "c"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			r, notes := rehearsing(tc.implementations...)
			failed := map[string]*conduct.Failure{}
			for _, f := range tc.failed {
				failed[f] = conduct.PermanentFailure(v1alpha1.ReasonServerExited, "implementations[%s] exited", f)
			}
			end := r.nothingLeft(failed)
			if end != nil != tc.ends || end != nil && (end.Reason != v1alpha1.ReasonServerExited || !strings.HasPrefix(end.Message, "nothing was measured, because the rehearsal failed: implementations[")) {
				t.Errorf("the run ends with %+v, want an end: %v", end, tc.ends)
			}
			if told := len(*notes) == len(tc.failed); !tc.ends && !told || tc.ends && len(*notes) > 0 {
				t.Errorf("the notes are %q", *notes)
			}
		})
	}
}

func TestRehearsalNamesAnswersThatAreOtherWork(t *testing.T) {
	asked := []record.Request{{Path: "/"}}
	answer := func(status int32, bytes int64, sum string) []record.Response {
		return []record.Response{{Path: "/", Status: status, BodyBytes: bytes, BodySHA256: sum, HeaderBytes: 100}}
	}
	for name, tc := range map[string]struct {
		other   []record.Response
		anyBody bool
		want    string
	}{
		"the same":             {answer(200, 10, "a"), false, ""},
		"another, as long":     {answer(200, 10, "b"), false, ""},
		"a much longer body":   {answer(200, 1000, "b"), false, "implementations[c] and go do different work: GET / is answered with a body of 1,000 B and 10 B."},
		"any body will do":     {answer(200, 1000, "b"), true, ""},
		"no answer was needed": {nil, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			requests := slices.Clone(asked)
			requests[0].Expect.AnyBody = tc.anyBody
			got := answers{"go": answer(200, 10, "a"), "c": tc.other}.differ("go", requests)
			if tc.want == "" && got != "" || !strings.HasPrefix(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
