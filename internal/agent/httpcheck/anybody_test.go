package httpcheck

import (
	"strings"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/testbed"
)

func TestBodiesAreComparedUnlessAnyWillDo(t *testing.T) {
	target := testbed.NewCounting(t)
	for name, anyBody := range map[string]bool{"any body": true, "the same body": false} {
		t.Run(name, func(t *testing.T) {
			r := record.Request{Path: "/", Expect: record.Expect{Status: 200, AnyBody: anyBody}}
			answers, err := Check(t.Context(), Server{Address: target}, []record.Request{r})
			if !anyBody {
				if err == nil || !strings.HasSuffix(err.Error(), ": for a body that differs each time, set expect: {bodies: Any}") {
					t.Errorf("a check of a body that differs each time ends with %v", err)
				}
				first, err := ask(t.Context(), Server{Address: target}, Expect(r))
				if err != nil {
					t.Fatal(err)
				}
				answers = []Answer{first}
			} else if err != nil {
				t.Fatal(err)
			}
			got := again(200*time.Millisecond, func(a *record.Audit) bool { return a.Requests > 0 }, func(deadline time.Time) *record.Audit {
				return auditing(t, target, Expect(r).OrBodyOf(answers[0].Again), deadline).Warmup(t.Context())
			})
			if got.Requests == 0 || got.WrongStatus+got.Failed > 0 || (got.WrongBody == 0) != anyBody {
				t.Errorf("the audit is %+v", got)
			}
		})
	}
}

func TestAStatusIsComparedThoughAnyBodyWillDo(t *testing.T) {
	r := record.Request{Path: "/", Expect: record.Expect{Status: 201, AnyBody: true}}
	if _, err := Check(t.Context(), Server{Address: testbed.NewCounting(t)}, []record.Request{r}); err == nil || err.Error() != "GET / answered 200 instead of 201" {
		t.Errorf("got the error %v", err)
	}
}

// Two loads may send the same request. The body accepted by one still sets the other's expectation.
func TestAnAnswerOfAnyBodyStillSaysWhatOthersMustBeLike(t *testing.T) {
	anyBody := record.Request{Path: "/", Expect: record.Expect{Status: 200, AnyBody: true}}
	same := record.Request{Path: "/", Expect: record.Expect{Status: 200}}
	answers, err := Check(t.Context(), Server{Address: speak(t, says(helloAnswer))}, []record.Request{anyBody})
	if err != nil {
		t.Fatal(err)
	}
	e := Expect(same).OrBodyOf(answers[0].Again)
	if err := e.compare(answer{status: 200, body: []byte("helloworld"), bytes: 10}); err != nil {
		t.Error(err)
	}
	if err := e.compare(answer{status: 200, body: []byte("goodbye"), bytes: 7}); err == nil {
		t.Error("another body passes")
	}
}
