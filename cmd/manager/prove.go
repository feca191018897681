package main

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"loadstone.dev/loadstone/internal/store/artifact"
)

const (
	// proofDeadline bounds one check of the store, proofPause is between two.
	proofDeadline = 2 * time.Minute
	proofPause    = 15 * time.Second
)

// prove checks the object store at the start, until it is usable. Each new complaint is logged once.
func prove(store artifact.Bucket) func(context.Context) error {
	return func(ctx context.Context) error {
		told, tick := "", time.NewTicker(proofPause)
		defer tick.Stop()
		for {
			err := proveOnce(ctx, store)
			if err == nil {
				log.FromContext(ctx).Info("the object store is usable: it writes once and reports digests")
				return nil
			}
			if told != err.Error() && ctx.Err() == nil {
				told = err.Error()
				log.FromContext(ctx).Error(err, "the object store is not usable yet")
			}
			select {
			case <-ctx.Done():
				return nil
			case <-tick.C:
			}
		}
	}
}

// proveOnce uses a key and a text that never change: another text would be refused.
func proveOnce(ctx context.Context, store artifact.Bucket) error {
	ctx, cancel := context.WithTimeout(ctx, proofDeadline)
	defer cancel()
	return artifact.Prove(ctx, store, artifact.ProofKey, "text/plain", []byte("Loadstone checks with this object that the store writes once and reports digests.\n"))
}
