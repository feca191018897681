package protocol

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
)

// Envelope is a signed Command.
type Envelope struct {
	// Command is the command in JSON, byte for byte as it was signed.
	Command []byte `json:"command"`
	// Signature is the Ed25519 signature of Command.
	Signature []byte `json:"signature"`
}

// ErrSignature is the error of an envelope that the operator did not sign.
var ErrSignature = errors.New("the command is not signed by this installation's operator")

// Seal signs a command.
func Seal(key ed25519.PrivateKey, o Command) (Envelope, error) {
	body, err := json.Marshal(o)
	if err != nil {
		return Envelope{}, fmt.Errorf("encoding command: %w", err)
	}
	return Envelope{Command: body, Signature: ed25519.Sign(key, body)}, nil
}

// Open checks the signature and that the command is meant for this agent.
func Open(key ed25519.PublicKey, e Envelope, trial string, attempt int32, member string) (Command, error) {
	var o Command
	if len(key) != ed25519.PublicKeySize || !ed25519.Verify(key, e.Command, e.Signature) {
		return o, ErrSignature
	}
	if err := json.Unmarshal(e.Command, &o); err != nil {
		return o, fmt.Errorf("decoding command: %w", err)
	}
	if o.Trial != trial || o.Attempt != attempt || o.Member != member {
		return o, fmt.Errorf("the command is for %s attempt %d as %s, this agent is %s attempt %d as %s", o.Trial, o.Attempt, o.Member, trial, attempt, member)
	}
	return o, nil
}
