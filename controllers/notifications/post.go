package notifications

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/leader"
	"loadstone.dev/loadstone/controllers/outbound"
	"loadstone.dev/loadstone/internal/suite/notify"
)

// maxAnswer limits the read part of an answer, which is never shown.
const maxAnswer = 4 << 10

// Poster posts events. Only the status of an answer is shown, because the operator can reach hosts that users cannot. Redirects are not
// followed, for the same reason. The only error is leader.ErrLost.
func Poster(way http.RoundTripper) func(ctx context.Context, address string, event []byte) (notify.Answer, error) {
	c := outbound.Client(way)
	return func(ctx context.Context, address string, event []byte) (notify.Answer, error) {
		q, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(event))
		if err != nil {
			//nolint:nilerr // The error quotes the address, which may hold a token.
			return notify.Answer{Reason: v1alpha1.ReasonSinkUnavailable, Message: "was not notified: its url is not valid"}, nil
		}
		q.Header.Set("Content-Type", notify.ContentType)
		q.Header.Set("User-Agent", "loadstone")
		answer, err := c.Do(q)
		if errors.Is(err, leader.ErrLost) {
			return notify.Answer{}, leader.ErrLost
		}
		if err != nil {
			return notify.Answer{Reason: v1alpha1.ReasonSinkUnavailable, Message: "does not answer: " + outbound.Cause(err)}, nil
		}
		_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, maxAnswer)) // Its status has said it all.
		_ = answer.Body.Close()
		if answer.StatusCode/100 == 2 {
			return notify.Answer{}, nil
		}
		return refusal(answer), nil
	}
}

func refusal(answer *http.Response) notify.Answer {
	says := strings.TrimSpace(fmt.Sprintf("answers %d %s", answer.StatusCode, http.StatusText(answer.StatusCode)))
	a := notify.Answer{Reason: v1alpha1.ReasonSinkRefused, Message: says}
	if answer.StatusCode/100 == 3 {
		a.Message += "; redirects are not followed: set url to the new address"
	}
	if seconds, err := strconv.ParseUint(answer.Header.Get("Retry-After"), 10, 16); err == nil {
		a.After = time.Duration(seconds) * time.Second
	}
	return a
}

// longestRest limits how long all sinks with one token are paused after a rate limit.
const longestRest = time.Hour

// allowance identifies a rate limit: a token at an API. It does not contain the token.
type allowance [sha256.Size]byte

func allowanceOf(at notify.Place, token string) allowance {
	return sha256.Sum256([]byte(at.API + "\n" + token))
}

// They are lost at a restart.
type rests struct {
	mu    sync.Mutex
	until map[allowance]time.Time
}

// refuses returns the failure while an allowance is paused; nil otherwise.
func (r *rests) refuses(a allowance, to notify.Forge, now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	left := r.until[a].Sub(now)
	if left <= 0 {
		return nil
	}
	return failure{notify.Answer{
		Reason: v1alpha1.ReasonSinkRefused, After: left + time.Second, // The suite's status knows no parts of a second.
		Message: "is paused: another notification exceeded the rate limit of the token in " + to.Kind + ".secretRef",
	}}
}

func (r *rests) note(a allowance, told error, now time.Time) {
	var f failure
	if !errors.As(told, &f) || f.After <= 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.until, func(_ allowance, until time.Time) bool { return !until.After(now) })
	if r.until == nil {
		r.until = map[allowance]time.Time{}
	}
	r.until[a] = now.Add(min(f.After, longestRest)).Truncate(time.Second) // As the suite's status has it: the sink that was asked is let through.
}
