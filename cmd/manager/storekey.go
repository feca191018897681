package main

import (
	"context"
	"crypto/rand"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The fields of the Secret that holds the key of the object store, and what the operator puts there.
const (
	accessField = "access-key"
	secretField = "secret-key"
	accessName  = "loadstone"
	// secretLength is the longest that S3's own secret keys are.
	secretLength = 40
)

// storeKey reads the object store's key from the Secret that the chart ships empty, where the environment has none. It draws one at the first
// start, so that rendering the chart draws none. The chart's MinIO waits for the Secret to be filled, and takes the key from it.
func storeKey(ctx context.Context, c client.Client, o *options) error {
	if o.storeSecret == "" || o.store.AccessKey != "" && o.store.SecretKey != "" {
		return nil
	}
	name := client.ObjectKey{Namespace: o.namespace, Name: o.storeSecret}
	var s corev1.Secret
	if err := c.Get(ctx, name, &s); err != nil {
		return fmt.Errorf("reading Secret %s, which the chart installs: %w", name, err)
	}
	if len(s.Data[accessField]) == 0 || len(s.Data[secretField]) == 0 {
		before := s.DeepCopy()
		s.Data = map[string][]byte{accessField: []byte(accessName), secretField: []byte((rand.Text() + rand.Text())[:secretLength])}
		// Of two operators that start at once, the second fails here, starts again, and reads the first one's key.
		if err := c.Patch(ctx, &s, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
			return fmt.Errorf("writing Secret %s: %w", name, err)
		}
	}
	o.store.AccessKey, o.store.SecretKey = string(s.Data[accessField]), string(s.Data[secretField])
	return nil
}
