package controllers

import (
	"context"

	"loadstone.dev/loadstone/internal/artifact"
	"loadstone.dev/loadstone/internal/pass"
	"loadstone.dev/loadstone/internal/protocol"
)

// readScripts reads what the run has frozen, once a pass, with its digests checked.
func (r *TrialReconciler) readScripts(ctx context.Context, s *trialScope) error {
	if len(s.scripts) == len(s.run.Status.Scripts) {
		return nil
	}
	s.scripts = nil
	for _, f := range s.run.Status.Scripts {
		text, err := r.Store.Get(ctx, artifact.ScriptKey(s.runPrefix(), f.Load), f.SHA256)
		if err != nil {
			return err
		}
		s.scripts = append(s.scripts, protocol.Script{Load: f.Load, Text: text})
	}
	return nil
}

// scriptsAway waits for a store that may come back.
func (r *TrialReconciler) scriptsAway(s *trialScope, err error) (pass.Step, error) {
	if s.fault = attemptFacts(s).ScriptsAway(err); s.fault != nil {
		return pass.Halt, nil
	}
	s.waiting = pass.Clip(err.Error(), pass.MaxMessage)
	return pass.Again(retryStore), nil
}
