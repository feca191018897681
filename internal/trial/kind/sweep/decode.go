package sweep

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"loadstone.dev/loadstone/internal/record"
)

// Decode implements kind.Kind. A generator that is missing leaves an empty record in its place, and so does a server.
func (Kind) Decode(results map[string]json.RawMessage, into *record.TrialData) error {
	if n := len(into.Manifest.Servers); n < 1 || n > record.MaxServers {
		return fmt.Errorf("its trial has %d servers: want 1 to %d", n, record.MaxServers)
	}
	into.Servers = make([]record.ObserverResult, len(into.Manifest.Servers))
	for _, member := range slices.Sorted(maps.Keys(results)) {
		read := decodeGenerator
		if record.IsServer(member) {
			read = decodeServer
		}
		if err := read(member, results[member], into); err != nil {
			return fmt.Errorf("reading the result of %s: %w", member, err)
		}
	}
	return nil
}

func decodeServer(member string, result json.RawMessage, into *record.TrialData) error {
	i, err := record.ServerIndex(member)
	if err != nil {
		return err
	}
	if i >= len(into.Servers) {
		return fmt.Errorf("the trial has %d servers", len(into.Servers))
	}
	return json.Unmarshal(result, &into.Servers[i])
}

func decodeGenerator(member string, result json.RawMessage, into *record.TrialData) error {
	i, err := record.GeneratorIndex(member)
	if err != nil {
		return err
	}
	into.Generators = append(into.Generators, make([]record.GeneratorResult, max(i+1-len(into.Generators), 0))...)
	return json.Unmarshal(result, &into.Generators[i])
}
