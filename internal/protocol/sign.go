package protocol

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
)

// Envelope is a signed Order.
type Envelope struct {
	// Order is the order in JSON, byte for byte as it was signed.
	Order []byte `json:"order"`
	// Signature is the Ed25519 signature of Order.
	Signature []byte `json:"signature"`
}

// ErrSignature says that an envelope was not signed by the operator.
var ErrSignature = errors.New("the order is not signed by this installation's operator")

// Seal signs an order.
func Seal(key ed25519.PrivateKey, o Order) (Envelope, error) {
	body, err := json.Marshal(o)
	if err != nil {
		return Envelope{}, fmt.Errorf("encoding order: %w", err)
	}
	return Envelope{Order: body, Signature: ed25519.Sign(key, body)}, nil
}

// Open checks the signature and that the order is meant for this agent.
func Open(key ed25519.PublicKey, e Envelope, trial string, attempt int32, member string) (Order, error) {
	var o Order
	if len(key) != ed25519.PublicKeySize || !ed25519.Verify(key, e.Order, e.Signature) {
		return o, ErrSignature
	}
	if err := json.Unmarshal(e.Order, &o); err != nil {
		return o, fmt.Errorf("decoding order: %w", err)
	}
	if o.Trial != trial || o.Attempt != attempt || o.Member != member {
		return o, fmt.Errorf("the order is for %s attempt %d as %s, this agent is %s attempt %d as %s", o.Trial, o.Attempt, o.Member, trial, attempt, member)
	}
	return o, nil
}
