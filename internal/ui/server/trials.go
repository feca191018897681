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
)

// trials are followed for viewed runs only, with one watch per run.
type trials struct {
	ctx  context.Context
	make func(r *v1alpha1.BenchmarkRun) *mirror

	mu       sync.Mutex
	lookedAt map[types.UID]*lookedAt
}

// lookedAt are one run's trials. unseen ends the watch when no viewer is left.
type lookedAt struct {
	mirror *mirror
	unseen *time.Timer
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
		return l.mirror
	}
	ctx, end := context.WithCancel(a.ctx)
	l := &lookedAt{mirror: a.make(r)}
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
