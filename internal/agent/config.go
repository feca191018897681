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

// Config is an agent's configuration.
type Config struct {
	// Commands for another Trial or Attempt are refused.
	Trial   string
	Attempt int32
	Member  string
	Key     ed25519.PublicKey
	// Node is the node's name, or "unknown".
	Node string
	// Dir holds the agent's files; it must exist.
	Dir     string
	Sandbox Sandbox
}

// Sandbox describes the environment of an agent.
type Sandbox struct {
	Address string
	// FindServer finds the observed server's first process, or the parent of a launched program.
	FindServer func(kernel.Proc) (pid int, err error)
	// Keeper is the process that started the server and adopts its orphans; 0 in a pod.
	Keeper int
	// Cgroup is the folder where a process sees its container's cgroup. Everything in it counts as the generator's or the server's. Empty:
	// processes have no separate cgroup.
	Cgroup string
	// Network is the folder with the counters of a network namespace without other loads: all traffic in it counts as the generator's. Empty:
	// no such namespace. The server's counters are those of its process's namespace.
	Network string
	// SharedNetwork: other programs use these namespaces; then connection counts are omitted.
	SharedNetwork bool
}

// Generator returns the configuration of a generator. It fails if the agent is not a generator.
func (c Config) Generator() (generate.Config, error) {
	index, err := record.GeneratorIndex(c.Member)
	if err != nil {
		return generate.Config{}, fmt.Errorf("reading %s: %w", protocol.EnvMember, err)
	}
	return generate.Config{Trial: c.Trial, Index: int32(index), Node: c.Node, Dir: c.Dir, Cgroup: c.Sandbox.Cgroup, Network: c.Sandbox.Network, SharedNetwork: c.Sandbox.SharedNetwork}, nil
}

// Observer returns the configuration of an observer of the server on a port. It fails if the agent is not an observer.
func (c Config) Observer(port int) (observe.Config, error) {
	index, err := record.ServerIndex(c.Member)
	if err != nil {
		return observe.Config{}, fmt.Errorf("reading %s: %w", protocol.EnvMember, err)
	}
	return observe.Config{
		Server: index, Node: c.Node, Dir: c.Dir, Port: port, FindServer: c.Sandbox.FindServer, Keeper: c.Sandbox.Keeper, Cgroup: c.Sandbox.Cgroup, SharedNetwork: c.Sandbox.SharedNetwork,
	}, nil
}

// Launched returns the configuration of a collector or monitor. It fails if the agent is neither.
func (c Config) Launched(x launch.Exchange) (launch.Config, error) {
	index, err := record.ServerIndex(c.Member)
	if err != nil {
		return launch.Config{}, fmt.Errorf("reading %s: %w", protocol.EnvMember, err)
	}
	return launch.Config{Server: index, Node: c.Node, Dir: c.Dir, FindParent: c.Sandbox.FindServer, Exchange: x}, nil
}

// ConfigFromEnv reads an agent's configuration from environment variables; the caller provides folder and sandbox.
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
