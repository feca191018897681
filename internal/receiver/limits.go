package receiver

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// burst is how many requests of a suite are taken at once, and every how often another is: a round takes minutes, and only the newest counts.
	burst = 10
	every = 10 * time.Second
)

// limits count the requests of each suite that were signed with its key: nobody else can use them up, or make them grow.
type limits struct {
	mu      sync.Mutex
	bySuite map[client.ObjectKey]*rate.Limiter
}

// wait takes a request of a suite; if there were too many, it returns when another is taken.
func (l *limits) wait(name client.ObjectKey, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bySuite == nil {
		l.bySuite = map[client.ObjectKey]*rate.Limiter{}
	}
	if l.bySuite[name] == nil {
		l.bySuite[name] = rate.NewLimiter(rate.Every(every), burst)
	}
	r := l.bySuite[name].ReserveN(now, 1)
	delay := r.DelayFrom(now)
	if delay > 0 {
		r.CancelAt(now)
	}
	return delay
}
