package profile

import (
	"encoding/json"
	"fmt"

	"loadstone.dev/loadstone/internal/record"
)

// Decode implements kind.Kind: a trial has one member, and its monitor has left a result.
func (Kind) Decode(results map[string]json.RawMessage, into *record.TrialData) error {
	if n := len(into.Manifest.Servers); n != 1 {
		return fmt.Errorf("its trial has %d servers: want 1", n)
	}
	member := record.MemberServer(0)
	body, ok := results[member]
	if !ok || len(results) > 1 {
		return fmt.Errorf("its trial has the results of %d members: want that of %s alone", len(results), member)
	}
	into.Servers = make([]record.ObserverResult, 1)
	if err := json.Unmarshal(body, &into.Servers[0]); err != nil {
		return fmt.Errorf("reading the result of %s: %w", member, err)
	}
	if into.Servers[0].Profiled == nil || into.Manifest.Profiling == nil {
		return fmt.Errorf("reading the result of %s: it holds nothing of a profile", member)
	}
	return nil
}

// Rows implements kind.Kind: what a profile finds is deterministic, or nearly so, and no sample of anything. It is compared by rules of its own.
func (Kind) Rows(record.TrialData) []record.Row { return nil }
