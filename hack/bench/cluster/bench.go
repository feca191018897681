package cluster

import (
	"context"
	"time"

	"loadstone.dev/loadstone/hack/bench/progress"
	"loadstone.dev/loadstone/internal/record"
)

// Bench measures on a cluster. It must be connected before it measures.
type Bench struct {
	sizes   Sizes
	log     *progress.Log
	cluster *cluster
	// data are the records of all runs so far.
	data []record.RunData
}

// New is a benchmark of some sizes, which tells a log what it does.
func New(log *progress.Log, sizes Sizes) *Bench { return &Bench{log: log, sizes: sizes} }

// Connect finds the cluster of the current kubeconfig, and Loadstone's object store in it.
func (b *Bench) Connect(ctx context.Context) (err error) {
	b.cluster, err = connect(ctx)
	return err
}

// Close ends the connection.
func (b *Bench) Close() { b.cluster.close() }

// Times are about how long each measurement takes.
type Times struct{ Start, Sweep, Pairs, Generators, Memory time.Duration }

// Times are reckoned from the runs that are to be made.
func (b *Bench) Times() Times {
	s := b.sizes
	return Times{
		Start:      time.Duration(s.starts) * reckoned(s.startRun()),
		Sweep:      reckoned(s.sweepRun()),
		Pairs:      reckoned(s.pairsRun()) + time.Duration(s.pairs)*b.byHandTakes(),
		Generators: reckoned(s.generatorsRun()),
		Memory:     s.rest + memorySamples*memoryEvery,
	}
}
