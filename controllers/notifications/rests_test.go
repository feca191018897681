package notifications

import (
	"net/http"
	"testing"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/suite/notify"
)

// GitHub counts requests by token: a sink that ignores another sink's pause prolongs it for both.
func TestWhatAskedOneSinkToWaitIsAskedByNoOtherOfTheToken(t *testing.T) {
	const alone = "is paused: another notification exceeded the rate limit of the token in gitHub.secretRef"
	h := newHubbub(t)
	limits(http.StatusTooManyRequests, `{}`, "Retry-After", "90")(h)
	now := noon
	g := h.forges(h.way)
	g.Now = func() time.Time { return now }
	tell := func(what string, want notify.Answer, asked ...string) {
		t.Helper()
		a, err := h.says(g)
		if err != nil || a.Reason != want.Reason || a.Message != want.Message || a.After != want.After {
			t.Errorf("%s: the answer is %+v, %v, want %+v", what, a, err, want)
		}
		h.wantAsked(asked...)
	}
	tell("at first", notify.Answer{
		Reason: v1alpha1.ReasonSinkRefused, Message: "answers 429 Too Many Requests: rate limit exceeded; retried when the limit is reset", After: 91 * time.Second,
	}, setsStatus)
	h.first = nil
	now = noon.Add(time.Minute)
	h.sink.Name = "another"
	tell("of another notification", notify.Answer{Reason: v1alpha1.ReasonSinkRefused, Message: alone, After: 32 * time.Second})
	h.secret.Data["token"] = []byte("ghs_other")
	g.Live = h.forges(h.way).Live
	tell("with another token", notify.Answer{
		Reason: v1alpha1.ReasonSinkRefused, Message: "answers 401 Unauthorized: the token of gitHub.secretRef is invalid or expired: put a new one into the Secret checkout-github",
	}, setsStatus)
	h.secret.Data["token"] = []byte(token)
	g.Live = h.forges(h.way).Live
	now = noon.Add(91 * time.Second)
	tell("when it has waited", notify.Answer{}, setsStatus, listsFirst, comments)
}
