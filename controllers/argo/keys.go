package argo

import (
	"context"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/controllers/render"
)

const (
	// KeySecret is created empty by the installation, so that the operator needs no right to create Secrets.
	KeySecret = "loadstone-signing-key"
	keyField  = "ed25519-seed"
)

// SigningKey reads the installation's key, or generates it at the first start. It signs commands to agents. Tokens of runs are derived from
// it, so that a restarted operator knows them.
func SigningKey(ctx context.Context, c client.Client, namespace string) (ed25519.PrivateKey, error) {
	name := client.ObjectKey{Namespace: namespace, Name: KeySecret}
	var s corev1.Secret
	if err := c.Get(ctx, name, &s); err != nil {
		return nil, fmt.Errorf("reading Secret %s, which the chart creates: %w", name, err)
	}
	if len(s.Data[keyField]) == 0 {
		seed := make([]byte, ed25519.SeedSize)
		if _, err := rand.Read(seed); err != nil {
			return nil, fmt.Errorf("generating a signing key: %w", err)
		}
		before := s.DeepCopy()
		s.Data = map[string][]byte{keyField: seed}
		if err := c.Patch(ctx, &s, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
			return nil, fmt.Errorf("writing Secret %s: %w", name, err)
		}
	}
	if n := len(s.Data[keyField]); n != ed25519.SeedSize {
		return nil, fmt.Errorf("reading Secret %s: its field %s has %d bytes instead of %d: remove the field and restart the operator", name, keyField, n, ed25519.SeedSize)
	}
	return ed25519.NewKeyFromSeed(s.Data[keyField]), nil
}

// Token is the one token of a run.
func Token(key ed25519.PrivateKey, runUID string) string {
	m := hmac.New(sha256.New, key.Seed())
	m.Write([]byte("run-token/" + runUID))
	return hex.EncodeToString(m.Sum(nil))
}

// SetToken stores a run's token for the steps of its workflow.
func SetToken(ctx context.Context, c client.Client, namespace, workflow, token string) error {
	return writeTokens(ctx, c, namespace, map[string]any{workflow: []byte(token)})
}

// RemoveTokens removes the tokens of workflows. Missing ones are ignored.
func RemoveTokens(ctx context.Context, c client.Client, namespace string, workflows ...string) error {
	none := map[string]any{}
	for _, name := range workflows {
		none[name] = nil
	}
	return writeTokens(ctx, c, namespace, none)
}

func writeTokens(ctx context.Context, c client.Client, namespace string, tokens map[string]any) error {
	patch, err := json.Marshal(map[string]any{"data": tokens})
	if err != nil {
		return fmt.Errorf("encoding tokens: %w", err)
	}
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: render.TokensSecret}}
	if err := c.Patch(ctx, s, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return fmt.Errorf("writing Secret %s: %w", render.TokensSecret, err)
	}
	return nil
}
