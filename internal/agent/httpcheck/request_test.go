package httpcheck_test

import (
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/agent/httpcheck"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/testbed"
)

// Checks and audits send the same requests as the tools.
func TestTheRequestIsThatOfTheTools(t *testing.T) {
	for name, r := range testbed.Requests() {
		t.Run(name, func(t *testing.T) {
			server := testbed.NewAsked(t, r)
			answers, err := httpcheck.Check(t.Context(), httpcheck.Server{Address: server.Target}, []record.Request{r})
			if err != nil {
				t.Fatal(err)
			}
			server.Check(t, 1)
			if got := answers[0].Response; got.Key() != r.Key() || got.Path != r.Path || got.BodyBytes != int64(len("helloworld")) {
				t.Errorf("the answer is %+v", got)
			}
			audit, err := httpcheck.Counted(t.Context(), httpcheck.Server{Address: server.Target}, r, 5, 2, time.Now().Add(time.Minute))
			if err != nil || audit.Requests != 5 || audit.Failed+audit.WrongStatus+audit.WrongBody != 0 {
				t.Errorf("the audit is %+v, %v", audit, err)
			}
			server.Check(t, 6)
		})
	}
}

func TestASentenceNamesTheMethod(t *testing.T) {
	r := record.Request{Method: "POST", Path: "/orders", Expect: record.Expect{Status: 201}}
	server := testbed.NewAsked(t, r)
	if _, err := httpcheck.Check(t.Context(), httpcheck.Server{Address: server.Target}, []record.Request{r}); err == nil || err.Error() != "POST /orders answered 200 instead of 201" {
		t.Errorf("Check() = %v", err)
	}
}
