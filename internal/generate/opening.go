package generate

import (
	"context"
	"time"

	"loadstone.dev/loadstone/internal/kernel"
	"loadstone.dev/loadstone/internal/timing"
)

const (
	// openingFine is the pause between two looks for a tool's first connection during openingFineFor; after that it is openingCoarse,
	// until openingLimit.
	//
	// A look is one pread of /proc/self/net/snmp, 10 to 20 µs. wrk and ab open their first connection within a few milliseconds, so
	// that they are looked at some ten times; k6 takes some hundred, in which nothing is measured yet. The looks end with the first
	// connection: they cost nothing while load runs.
	openingFine    = 200 * time.Microsecond
	openingFineFor = 30 * time.Millisecond
	openingCoarse  = time.Millisecond
	openingLimit   = 3 * time.Second
)

// opening looks for the first connection that a tool opens.
type opening struct {
	cancel context.CancelFunc
	// over is closed when nobody looks any more, and then at is when the connection was seen; nil if it was not.
	over chan struct{}
	at   *time.Time
}

// lookForOpening begins to look in a namespace that nobody else reads meanwhile. opened is what it counted before the tool began.
func lookForOpening(ctx context.Context, n *kernel.Network, opened int64) *opening {
	ctx, cancel := context.WithCancel(ctx)
	o := &opening{cancel: cancel, over: make(chan struct{})}
	go func() {
		defer close(o.over)
		o.at = firstOpening(ctx, n, opened)
	}()
	return o
}

// end ends the look and returns when the first connection was seen; nil if it was not, or nobody looked.
func (o *opening) end() *time.Time {
	if o == nil {
		return nil
	}
	o.cancel()
	<-o.over
	return o.at
}

// wait returns when the first connection was seen, as soon as it was; nil if it is not seen before ctx ends.
func (o *opening) wait(ctx context.Context) *time.Time {
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

func firstOpening(ctx context.Context, n *kernel.Network, opened int64) *time.Time {
	began := time.Now()
	for {
		now, err := n.ActiveOpens()
		at := time.Now()
		if err == nil && now > opened {
			return &at
		}
		passed := at.Sub(began)
		if err != nil || ctx.Err() != nil || passed > openingLimit {
			return nil
		}
		if passed > openingFineFor {
			timing.Nap(openingCoarse)
		} else {
			timing.Nap(openingFine)
		}
	}
}
