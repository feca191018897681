package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/cluster/namespaces"
)

// lookForMissing is the interval of checks for namespaces that could not be led at the start.
const lookForMissing = time.Minute

// At the start, a namespace is left out only after several refusals with pauses. A just started API server, which also ends the operator's
// lease, may not know its Roles yet, and a trial may be measuring in a refused namespace. All pauses together are half of the start-up probe's
// time.
const (
	refusals    = 7
	refusedWait = 5 * time.Second
)

// The operator's cache is fixed at its start, so changes require a restart.
var (
	// errThereNow: a namespace that was left out can be led now.
	errThereNow = errors.New("a namespace is there now that the operator is to lead: it starts anew")
	// errLocked: a led namespace became unreadable, so the queue is unknown and no run would begin anywhere.
	errLocked = errors.New("a namespace may not be read any more that the operator leads: it starts anew without it")
)

// leaveOut removes missing and unreadable namespaces from those led, and returns a watcher for them: their caches would wait forever and block
// all others. The operator's own namespace stays: without rights there, nothing works. Refused namespaces are asked again after wait.
func (o *options) leaveOut(ctx context.Context, dial func() (client.Client, error), wait time.Duration) (*missing, error) {
	m := &missing{every: lookForMissing, log: ctrl.Log.WithName("namespaces")}
	if len(o.led) == 0 {
		return m, nil
	}
	ask, err := dial()
	if err != nil {
		return nil, err
	}
	there, names, err := o.led.Split(ctx, ask)
	if err != nil {
		return nil, err
	}
	others := slices.DeleteFunc(slices.Clone(there), func(name string) bool { return name == o.namespace })
	if m.locked, err = refused(ctx, ask, others, wait); err != nil {
		return nil, err
	}
	m.led = slices.DeleteFunc(there, func(name string) bool { return slices.Contains(m.locked, name) })
	o.led, m.names, m.ask = m.led, names, ask
	return m, nil
}

func refused(ctx context.Context, ask client.Reader, of namespaces.Led, wait time.Duration) (namespaces.Led, error) {
	for try := 1; ; try++ {
		_, locked, err := of.Readable(ctx, ask, &v1alpha1.BenchmarkRunList{})
		if err != nil || len(locked) == 0 || try == refusals {
			return locked, err
		}
		of = locked
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(wait):
		}
	}
}

// missing checks namespaces that were left out, and led ones that became unreadable. It also runs without leadership, since a later leader
// would use the cache of its start.
type missing struct {
	// names do not exist, locked exist but are unreadable, led are the others.
	names, locked, led namespaces.Led
	ask                client.Reader
	every              time.Duration
	log                logr.Logger
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (*missing) NeedLeaderElection() bool { return false }

// Start logs the omitted namespaces. It returns errThereNow when one can be led, or errLocked when a led one became unreadable.
func (m *missing) Start(ctx context.Context) error {
	if m.ask == nil {
		return nil
	}
	m.say(ctx)
	var refused namespaces.Led
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(m.every):
		}
		var err error
		if refused, err = m.look(ctx, refused); err != nil {
			return err
		}
	}
}

func (m *missing) say(ctx context.Context) {
	if len(m.names) > 0 {
		m.log.Info("Leaving out namespaces that are not there: take them out of the chart value runs.namespaces, or create them and upgrade", "namespaces", m.names)
	}
	var ending, lacking namespaces.Led
	for _, name := range m.locked {
		var n corev1.Namespace
		if err := m.ask.Get(ctx, client.ObjectKey{Name: name}, &n); err == nil && n.DeletionTimestamp != nil {
			ending = append(ending, name)
		} else {
			lacking = append(lacking, name)
		}
	}
	if len(lacking) > 0 {
		m.log.Info("Leaving out namespaces in which the operator may not list BenchmarkRuns: they have no Role and RoleBinding loadstone-runs, as one that was made again, "+
			"or the API server does not know them yet. If they are missing, upgrade the chart, which makes them: the namespaces are led within two minutes then", "namespaces", lacking)
	}
	if len(ending) > 0 {
		m.log.Info("Leaving out namespaces that are being deleted and whose rights went before what is in them: take the finalizers of the BenchmarkRuns and Trials "+
			"that are left there by hand, where nothing measures any more", "namespaces", ending)
	}
}

// look returns the led namespaces that are unreadable. It fails if an omitted one can be led now, or if a led one was already unreadable
// before: a just started API server may not know its Roles yet.
func (m *missing) look(ctx context.Context, before namespaces.Led) (namespaces.Led, error) {
	for _, name := range slices.Concat(m.names, m.locked) {
		if m.listable(ctx, name) {
			return nil, fmt.Errorf("%w: %s", errThereNow, name)
		}
	}
	_, refused, err := m.led.Readable(ctx, m.ask, &v1alpha1.BenchmarkRunList{})
	if err != nil {
		return nil, nil //nolint:nilerr // Of an API server that is away, nothing is known: it is asked again.
	}
	// A deleted namespace blocks nothing.
	refused, _, err = refused.Split(ctx, m.ask)
	if err != nil {
		return nil, nil //nolint:nilerr // Likewise.
	}
	for _, name := range refused {
		if slices.Contains(before, name) {
			return nil, fmt.Errorf("%w: %s", errLocked, name)
		}
	}
	return refused, nil
}

func (m *missing) listable(ctx context.Context, name string) bool {
	there, _, err := namespaces.Led{name}.Split(ctx, m.ask)
	if err != nil || len(there) == 0 {
		return false
	}
	open, _, err := there.Readable(ctx, m.ask, &v1alpha1.BenchmarkRunList{})
	return err == nil && len(open) > 0
}
