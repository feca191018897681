package kind

import (
	"encoding/json"
	"fmt"

	"loadstone.dev/loadstone/internal/record"
)

// DecodeAlone reads the result of a trial that has one member, whose measured processes a kind calls by a plural. A result that does not hold
// what the kind is about is refused, as one of nothing of it.
func DecodeAlone(results map[string]json.RawMessage, into *record.TrialData, plural, about string, holds func(record.ObserverResult) bool) error {
	if n := len(into.Manifest.Servers); n != 1 {
		return fmt.Errorf("its trial has %d %s: want 1", n, plural)
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
	if !holds(into.Servers[0]) {
		return fmt.Errorf("reading the result of %s: it holds nothing of %s", member, about)
	}
	return nil
}
