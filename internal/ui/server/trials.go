package server

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/ui"
)

const (
	trialsDeadline = 10 * time.Second
	// lookedAtFor is how long a run's trials are followed after a request: an open page asks each minute.
	lookedAtFor = 3 * time.Minute
	// mostLookedAt limits the followed runs, since each costs the API server a watch. The one viewed longest ago is followed no longer: its page
	// follows it again at the next request.
	mostLookedAt = 32
)

// trials are followed for viewed runs only, with one watch per run.
type trials struct {
	ctx  context.Context
	make func(r *v1alpha1.BenchmarkRun) *mirror

	mu       sync.Mutex
	lookedAt map[types.UID]*lookedAt
}

// lookedAt are one run's trials. unseen ends the watch when no viewer is left. seen is the time of the last request.
type lookedAt struct {
	mirror *mirror
	unseen *time.Timer
	end    context.CancelFunc
	seen   time.Time
}

func (a *trials) of(ctx context.Context, r *v1alpha1.BenchmarkRun) ui.Trials {
	ctx, cancel := context.WithTimeout(ctx, trialsDeadline)
	defer cancel()
	m := a.mirror(r)
	all, err := seen[v1alpha1.Trial](ctx, m)
	if err == nil {
		err = m.failure()
	}
	slices.SortFunc(all, func(a, b v1alpha1.Trial) int { return strings.Compare(a.Name, b.Name) })
	return ui.Trials{All: all, Err: m.explain(err)}
}

func (a *trials) mirror(r *v1alpha1.BenchmarkRun) *mirror {
	a.mu.Lock()
	defer a.mu.Unlock()
	if l := a.lookedAt[r.UID]; l != nil && l.unseen.Reset(lookedAtFor) {
		l.seen = time.Now()
		return l.mirror
	}
	a.makeRoom()
	ctx, end := context.WithCancel(a.ctx)
	l := &lookedAt{mirror: a.make(r), end: end, seen: time.Now()}
	l.unseen = time.AfterFunc(lookedAtFor, func() {
		end()
		a.forget(r.UID, l)
	})
	if a.lookedAt == nil {
		a.lookedAt = map[types.UID]*lookedAt{}
	}
	a.lookedAt[r.UID] = l
	go l.mirror.follow(ctx)
	return l.mirror
}

// makeRoom ends the watch that was viewed longest ago, if there are too many. The mutex must be held.
func (a *trials) makeRoom() {
	if len(a.lookedAt) < mostLookedAt {
		return
	}
	var oldest types.UID
	for uid, l := range a.lookedAt {
		if oldest == "" || l.seen.Before(a.lookedAt[oldest].seen) {
			oldest = uid
		}
	}
	l := a.lookedAt[oldest]
	l.unseen.Stop()
	l.end()
	delete(a.lookedAt, oldest)
}

func (a *trials) forget(uid types.UID, l *lookedAt) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.lookedAt[uid] == l {
		delete(a.lookedAt, uid)
	}
}

func selectTrials(r *v1alpha1.BenchmarkRun) client.MatchingLabels {
	return client.MatchingLabels{v1alpha1.LabelRunUID: string(r.UID)}
}
