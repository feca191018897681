package generate

import (
	"context"
	"time"

	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/base/timing"
)

const (
	// pollFine is the pause between two polls for a tool's first connection during pollFineFor; after that it is pollCoarse,
	// until pollLimit.
	//
	// A poll is one pread of /proc/self/net/snmp, 10 to 20 µs. wrk and ab open their first connection within a few milliseconds, so
	// that they are polled some ten times; k6 takes some hundred, in which nothing is measured yet. The polls end with the first
	// connection: they cost nothing while load runs.
	pollFine    = 200 * time.Microsecond
	pollFineFor = 30 * time.Millisecond
	pollCoarse  = time.Millisecond
	pollLimit   = 3 * time.Second
)

// connectionProbe watches for the first connection that a tool opens.
type connectionProbe struct {
	cancel context.CancelFunc
	// over is closed when the polls have ended; at is then when the connection was seen; nil if it was not.
	over chan struct{}
	at   *time.Time
}

// probeConnections starts a probe in a namespace that nobody else reads meanwhile. opened is what it counted before the tool began.
func probeConnections(ctx context.Context, n *kernel.Network, opened int64) *connectionProbe {
	ctx, cancel := context.WithCancel(ctx)
	o := &connectionProbe{cancel: cancel, over: make(chan struct{})}
	go func() {
		defer close(o.over)
		o.at = pollConnections(ctx, n, opened)
	}()
	return o
}

// end ends the probe and returns when the first connection was seen; nil if it was not, or there is no probe.
func (o *connectionProbe) end() *time.Time {
	if o == nil {
		return nil
	}
	o.cancel()
	<-o.over
	return o.at
}

// wait returns when the first connection was seen, as soon as it was; nil if it is not seen before ctx ends.
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
