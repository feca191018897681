package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/namespaces"
)

// lookForMissing is how often namespaces are looked for that the operator is to lead and that were not there when it started.
const lookForMissing = time.Minute

// errThereNow ends an operator that has to start anew, since what it keeps in memory it decides at its start.
var errThereNow = errors.New("a namespace is there now that the operator is to lead: it starts anew")

// leaveOut takes out of what is led the namespaces that are not there, and returns who looks for them: memory of them would be waited for, and never
// come, and nothing else be led.
func (o *options) leaveOut(ctx context.Context, dial func() (client.Client, error)) (*missing, error) {
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
	o.led, m.names, m.ask = there, names, ask
	return m, nil
}

// missing looks for namespaces that are not there. An operator that does not lead does so, too: it would lead with the memory of its start.
type missing struct {
	names namespaces.Led
	ask   client.Reader
	every time.Duration
	log   logr.Logger
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (*missing) NeedLeaderElection() bool { return false }

// Start says which namespaces are missing, and returns errThereNow when one of them can be led.
func (m *missing) Start(ctx context.Context) error {
	if len(m.names) == 0 {
		return nil
	}
	m.log.Info("Leaving out namespaces that are not there: take them out of the chart value runs.namespaces, or create them and upgrade", "namespaces", m.names)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(m.every):
		}
		for _, name := range m.names {
			if m.listable(ctx, name) {
				return fmt.Errorf("%w: %s", errThereNow, name)
			}
		}
	}
}

// listable reports whether a namespace is there, and its runs may be listed.
func (m *missing) listable(ctx context.Context, name string) bool {
	there, _, err := namespaces.Led{name}.Split(ctx, m.ask)
	if err != nil || len(there) == 0 {
		return false
	}
	return m.ask.List(ctx, &v1alpha1.BenchmarkRunList{}, client.InNamespace(name), client.Limit(1)) == nil
}
