package generate

import (
	"context"
	"time"

	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/base/timing"
)

const (
	// pollFine is the pause between polls for a tool's first connection during pollFineFor; then pollCoarse until pollLimit.
	//
	// A poll is one pread of /proc/self/net/snmp: 10 to 20 µs. wrk and ab connect within a few milliseconds (about ten polls), k6 takes some
	// hundred. Polls end with the first connection, so they cost nothing under load.
	pollFine    = 200 * time.Microsecond
	pollFineFor = 30 * time.Millisecond
	pollCoarse  = time.Millisecond
	pollLimit   = 3 * time.Second
)

type connectionProbe struct {
	cancel context.CancelFunc
	// over is closed when polling has ended; at is then the time of the connection, or nil.
	over chan struct{}
	at   *time.Time
}

// probeConnections starts a probe in a namespace that has no other reader. opened is the count before the tool began.
func probeConnections(ctx context.Context, n *kernel.Network, opened int64) *connectionProbe {
	ctx, cancel := context.WithCancel(ctx)
	o := &connectionProbe{cancel: cancel, over: make(chan struct{})}
	go func() {
		defer close(o.over)
		o.at = pollConnections(ctx, n, opened)
	}()
	return o
}

// end ends the probe and returns the time of the first connection; nil if none was seen or there is no probe.
func (o *connectionProbe) end() *time.Time {
	if o == nil {
		return nil
	}
	o.cancel()
	<-o.over
	return o.at
}

// wait waits for the first connection and returns its time; nil if none is seen before ctx ends.
func (o *connectionProbe) wait(ctx context.Context) *time.Time {
	if o == nil {
		return nil
	}
	select {
	case <-o.over:
		return o.at
	case <-ctx.Done():
		return nil
	}
}

func pollConnections(ctx context.Context, n *kernel.Network, opened int64) *time.Time {
	began := time.Now()
	for {
		now, err := n.ActiveOpens()
		at := time.Now()
		if err == nil && now > opened {
			return &at
		}
		passed := at.Sub(began)
		if err != nil || ctx.Err() != nil || passed > pollLimit {
			return nil
		}
		if passed > pollFineFor {
			timing.Nap(pollCoarse)
		} else {
			timing.Nap(pollFine)
		}
	}
}
