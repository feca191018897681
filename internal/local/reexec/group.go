package reexec

import (
	"encoding/json"

	"loadstone.dev/loadstone/internal/agent/cgroup"
)

// groupFlag is a cgroup in the arguments of a helper; nil if it was not given.
type groupFlag struct{ *cgroup.Group }

// String implements flag.Value.
func (g *groupFlag) String() string { return "" }

// Set implements flag.Value.
func (g *groupFlag) Set(text string) error { return json.Unmarshal([]byte(text), &g.Group) }

// GroupArgs are the arguments with which a helper is told of a cgroup; empty if there is none.
func GroupArgs(name string, g *cgroup.Group) []string {
	if g == nil {
		return nil
	}
	text, err := json.Marshal(g)
	if err != nil {
		return nil // A group holds nothing that JSON cannot.
	}
	return []string{"--" + name, string(text)}
}
