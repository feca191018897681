package profile

import (
	"encoding/json"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind"
)

// Decode implements kind.Kind: a trial has one member, and its monitor has left a result.
func (Kind) Decode(results map[string]json.RawMessage, into *record.TrialData) error {
	return kind.DecodeAlone(results, into, "servers", "a profile", func(r record.ObserverResult) bool { return r.Profiled != nil && into.Manifest.Profiling != nil })
}

// Rows implements kind.Kind: what a profile finds is deterministic, or nearly so, and no sample of anything. It is compared by rules of its own.
func (Kind) Rows(record.TrialData) []record.Row { return nil }
