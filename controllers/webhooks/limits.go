package webhooks

import (
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// burst is how many requests of a suite are taken at once, and every how often another is: a round takes minutes, and only the newest counts.
	burst = 10
	every = 10 * time.Second
	// askBurst and askEvery are the same of those who ask what a request has come to, as each of many canaries does twice a minute.
	askBurst = 60
	askEvery = time.Second
)

// limits count the requests of each suite that were signed with its key, or show its token: nobody else can use them up, or make them grow.
type limits struct {
	burst   int
	every   time.Duration
	mu      sync.Mutex
	bySuite map[client.ObjectKey]*rate.Limiter
}

func newLimits(burst int, every time.Duration) *limits {
	return &limits{burst: burst, every: every, bySuite: map[client.ObjectKey]*rate.Limiter{}}
}

// refuse takes a request of a suite, or answers that there were too many.
func (l *limits) refuse(name client.ObjectKey, now time.Time) *answer {
	wait := l.wait(name, now)
	if wait == 0 {
		return nil
	}
	return &answer{status: http.StatusTooManyRequests, says: "the suite has had too many requests: try again later", after: wait}
}

// wait takes a request of a suite; if there were too many, it returns when another is taken.
func (l *limits) wait(name client.ObjectKey, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bySuite[name] == nil {
		l.bySuite[name] = rate.NewLimiter(rate.Every(l.every), l.burst)
	}
	r := l.bySuite[name].ReserveN(now, 1)
	delay := r.DelayFrom(now)
	if delay > 0 {
		r.CancelAt(now)
	}
	return delay
}
