package agent

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"strconv"

	"loadstone.dev/loadstone/internal/protocol"
	"loadstone.dev/loadstone/internal/record"
)

// Config is what an agent is told when it starts.
type Config struct {
	// Trial and Attempt are the agent's own: orders for others are refused.
	Trial   string
	Attempt int32
	// Index is a generator's place among those of its trial, from 0.
	Index int32
	// Beside is true of the observer of the second server of a duet.
	Beside bool
	// Key is the operator's public key.
	Key ed25519.PublicKey
	// Node is the name of the node, or "unknown".
	Node string
	// Dir is where the agent's files lie; it must exist.
	Dir string
}

// ConfigFromEnv reads a configuration from environment variables.
func ConfigFromEnv(getenv func(string) string, dir string) (Config, error) {
	c := Config{Trial: getenv(protocol.EnvTrial), Beside: getenv(protocol.EnvBeside) != "", Node: getenv(protocol.EnvNode), Dir: dir}
	if c.Trial == "" {
		return c, fmt.Errorf("reading the configuration: %s is not set", protocol.EnvTrial)
	}
	attempt, err := strconv.ParseInt(getenv(protocol.EnvAttempt), 10, 32)
	if err != nil {
		return c, fmt.Errorf("reading %s: %w", protocol.EnvAttempt, err)
	}
	c.Attempt = int32(attempt)
	if text := getenv(protocol.EnvGenerator); text != "" {
		index, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return c, fmt.Errorf("reading %s: %w", protocol.EnvGenerator, err)
		}
		c.Index = int32(index)
	}
	key, err := base64.StdEncoding.DecodeString(getenv(protocol.EnvKey))
	if err != nil {
		return c, fmt.Errorf("reading %s: %w", protocol.EnvKey, err)
	}
	if len(key) != ed25519.PublicKeySize {
		return c, fmt.Errorf("reading %s: it has %d bytes, an Ed25519 public key has %d", protocol.EnvKey, len(key), ed25519.PublicKeySize)
	}
	c.Key = key
	if c.Node == "" {
		c.Node = record.Unknown
	}
	return c, nil
}
