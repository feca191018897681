package artifact

import "context"

// ProofKey is the object that the operator writes at its first start. No namespace has a dot in its name, so no run has this key.
const ProofKey = "loadstone.store-check"

// Prove stores an object and checks what results depend on: the store reports the digest, and refuses to overwrite it.
func Prove(ctx context.Context, b Bucket, key, contentType string, body []byte) error {
	stored, err := b.Put(ctx, key, contentType, body)
	if err != nil {
		return err
	}
	if err := b.Verify(ctx, stored); err != nil {
		return err
	}
	return b.CheckWriteOnce(ctx, stored.Key, contentType, body)
}
