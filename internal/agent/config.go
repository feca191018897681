package agent

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"strconv"

	"loadstone.dev/loadstone/internal/agent/generate"
	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/agent/launch"
	"loadstone.dev/loadstone/internal/agent/observe"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

// Config is what an agent is told when it starts.
type Config struct {
	// Trial and Attempt are the agent's own: commands for others are refused.
	Trial   string
	Attempt int32
	// Member is the member of the trial that the agent is.
	Member string
	// Key is the operator's public key.
	Key ed25519.PublicKey
	// Node is the name of the node, or "unknown".
	Node string
	// Dir is where the agent's files lie; it must exist.
	Dir string
	// Sandbox is the place where the agent runs.
	Sandbox Sandbox
}

// Sandbox is what an agent takes for granted about the place where it runs.
type Sandbox struct {
	// Address is where the agent listens for commands.
	Address string
	// FindServer finds the first process of the server that is observed, or the parent of the program that is launched.
	FindServer func(kernel.Proc) (pid int, err error)
	// Cgroup is the folder in which a process sees the cgroup of its container. All that ran in it is taken for the generator's, or for
	// the server's. It is empty where processes have no cgroup of their own.
	Cgroup string
	// Network is the folder with the counters of the network namespace that the agent shares with nobody else's load: all that they
	// count is taken for the generator's traffic. It is empty where there is no such namespace. The server's are those of its own
	// process's namespace.
	Network string
	// SharedNetwork is true if other programs use these namespaces: the connections that they count are then left out.
	SharedNetwork bool
}

// Generator is what of it a generator needs. The error says that the agent is none.
func (c Config) Generator() (generate.Config, error) {
	index, err := record.GeneratorIndex(c.Member)
	if err != nil {
		return generate.Config{}, fmt.Errorf("reading %s: %w", protocol.EnvMember, err)
	}
	return generate.Config{Trial: c.Trial, Index: int32(index), Node: c.Node, Dir: c.Dir, Cgroup: c.Sandbox.Cgroup, Network: c.Sandbox.Network, SharedNetwork: c.Sandbox.SharedNetwork}, nil
}

// Observer is what of it an observer of the server on a port needs. The error says that the agent is none.
func (c Config) Observer(port int) (observe.Config, error) {
	index, err := record.ServerIndex(c.Member)
	if err != nil {
		return observe.Config{}, fmt.Errorf("reading %s: %w", protocol.EnvMember, err)
	}
	return observe.Config{
		Server: index, Node: c.Node, Dir: c.Dir, Port: port, FindServer: c.Sandbox.FindServer, Cgroup: c.Sandbox.Cgroup, SharedNetwork: c.Sandbox.SharedNetwork,
	}, nil
}

// Launched is what of it a collector or a monitor needs of the program beside whose parent it works. The error says that the agent is neither.
func (c Config) Launched(x launch.Exchange) (launch.Config, error) {
	index, err := record.ServerIndex(c.Member)
	if err != nil {
		return launch.Config{}, fmt.Errorf("reading %s: %w", protocol.EnvMember, err)
	}
	return launch.Config{Server: index, Node: c.Node, Dir: c.Dir, FindParent: c.Sandbox.FindServer, Exchange: x}, nil
}

// ConfigFromEnv reads from environment variables what an agent is told of its trial; folder and sandbox are the caller's.
func ConfigFromEnv(getenv func(string) string, dir string, s Sandbox) (Config, error) {
	c := Config{Trial: getenv(protocol.EnvTrial), Member: getenv(protocol.EnvMember), Node: getenv(protocol.EnvNode), Dir: dir, Sandbox: s}
	if c.Trial == "" {
		return c, fmt.Errorf("reading the configuration: %s is not set", protocol.EnvTrial)
	}
	attempt, err := strconv.ParseInt(getenv(protocol.EnvAttempt), 10, 32)
	if err != nil {
		return c, fmt.Errorf("reading %s: %w", protocol.EnvAttempt, err)
	}
	c.Attempt = int32(attempt)
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
