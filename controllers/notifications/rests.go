package notifications

import (
	"crypto/sha256"
	"errors"
	"maps"
	"sync"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/suite/notify"
)

// longestRest bounds for how long all sinks of a token leave a forge alone that one of them was asked to: it lets in within an hour.
const longestRest = time.Hour

// allowance is what a forge counts as one: a token at an API, whatever is told with it. It shows no token.
type allowance [sha256.Size]byte

func allowanceOf(at notify.Place, token string) allowance {
	return sha256.Sum256([]byte(at.API + "\n" + token))
}

// rests are until when forges are left alone by all who have an allowance, since one of them was asked to wait. They are lost with the operator, which then
// asks once more.
type rests struct {
	mu    sync.Mutex
	until map[allowance]time.Time
}

// refuses is the answer to who asks before a forge may be asked again; nil if it may.
func (r *rests) refuses(a allowance, to notify.Forge, now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	left := r.until[a].Sub(now)
	if left <= 0 {
		return nil
	}
	return failure{notify.Answer{
		Reason: v1alpha1.ReasonSinkRefused, After: left + time.Second, // The suite's status knows no parts of a second.
		Message: "is left alone for as long as it wants: it has said so to another notification with the token of " + to.Kind + ".secretRef",
	}}
}

// note takes down how long a forge asks to be left alone, if that is why it was not told.
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
