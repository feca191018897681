package controllers

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"loadstone.dev/loadstone/controllers/inputs"
	"loadstone.dev/loadstone/controllers/reconciler"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/run/publish"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

// store sends each agent presigned URLs for its files, and waits until all are uploaded.
func (r *TrialReconciler) store(ctx context.Context, s *trialScope) (reconciler.Step, error) {
	if s.fault = s.blame(attemptFacts(s).TooLarge(len(s.plan.Trials), s.agentStates()...)); s.fault != nil {
		return reconciler.Halt, nil
	}
	if step, err := s.announce(); step.Stop || err != nil {
		return step, err
	}
	done, pause := true, attemptFacts(s).StorePause()
	s.waiting = "storing artifacts"
	for _, a := range s.members {
		state := *a.state
		if state.Phase == protocol.Stored {
			if s.fault = conduct.ProgramFailed(s.planned(), state, s.keys(a)); s.fault != nil {
				return reconciler.Halt, nil
			}
			continue
		}
		done = false
		if s.fault = s.blame(attemptFacts(s).NotUploaded(a.Name, state)); s.fault != nil {
			return reconciler.Halt, nil
		}
		if state.Uploading {
			continue
		}
		if err := r.tellToStore(ctx, s, a); err != nil {
			if s.fault = s.blame(refusal(a.pod, err)); s.fault != nil {
				return reconciler.Halt, nil
			}
			return r.storeTrouble(s, err)
		}
		if state.StoreError != "" {
			// It was just told to retry; its error is of the last try.
			s.await(fmt.Sprintf("artifacts of %s are not stored yet: %s", a.Name, state.StoreError))
			pause = retryStore
		}
	}
	if !done {
		return reconciler.Again(pause), nil
	}
	return reconciler.GoOn, nil
}

// announce records the files of the attempt before the first upload, and ends it if they change later: limits apply to each list.
func (s *trialScope) announce() (reconciler.Step, error) {
	announced, err := protocol.Announced(s.agentStates()...)
	switch first := s.trial.Status.FilesSHA256; {
	case err != nil:
		return reconciler.Halt, err
	case first == "":
		s.announced = announced
		return reconciler.Halt, nil // Its own status write wakes the next pass.
	case first != announced:
		s.fault = s.blame(conduct.FilesChanged())
		return reconciler.Halt, nil
	}
	return reconciler.GoOn, nil
}

func (s *trialScope) keys(a *member) []string {
	var out []string
	for _, f := range a.state.Files {
		out = append(out, s.key(a.Name, f.Name))
	}
	return out
}

// blame is the failure of an attempt whose files cannot be stored. A failed program stays the cause.
func (s *trialScope) blame(f *conduct.Failure) *conduct.Failure {
	for _, a := range s.members {
		if f != nil && a.state != nil {
			f = cmp.Or(conduct.ProgramFailed(s.planned(), *a.state, nil), f)
		}
	}
	return f
}

func (r *TrialReconciler) tellToStore(ctx context.Context, s *trialScope, a *member) error {
	o := s.command(a.Name)
	o.Store = &protocol.Store{CA: r.StoreCA}
	for _, f := range a.state.Files {
		url, headers, err := r.Store.Destination(ctx, record.Artifact{Key: s.key(a.Name, f.Name), Bytes: f.Bytes, SHA256: f.SHA256}, addressLife)
		if err != nil {
			return err
		}
		o.Store.Files = append(o.Store.Files, protocol.Destination{Name: f.Name, URL: url, Headers: headers})
	}
	if _, err := r.Agents.Command(ctx, a.pod.Status.PodIP, o); err != nil {
		return fmt.Errorf("sending the store command to %s: %w", a.pod.Name, err)
	}
	return nil
}

// storeTrouble waits for an unavailable store until the deadline.
func (r *TrialReconciler) storeTrouble(s *trialScope, err error) (reconciler.Step, error) {
	if s.fault = s.blame(attemptFacts(s).StoreAway(err)); s.fault != nil {
		return reconciler.Halt, nil
	}
	s.await(err.Error())
	return reconciler.Again(time.Second), nil
}

// writeManifest verifies every object, then writes the manifest: the trial counts from then on.
func (r *TrialReconciler) writeManifest(ctx context.Context, s *trialScope) (_ reconciler.Step, err error) {
	// The kubelet updates a server's files during measurement, so compare before and after.
	if s.fault, err = inputs.Changed(ctx, r.Live, s.run, s.plan.Implementations, s.work().Servers()); s.fault != nil || err != nil {
		return reconciler.Halt, err
	}
	if err := r.readBodies(ctx, s); err != nil {
		return r.storeTrouble(s, err)
	}
	m := s.newManifest(r.Version)
	for _, a := range s.members {
		for _, f := range a.state.Files {
			file := record.Artifact{Member: a.Name, Name: f.Name, Key: s.key(a.Name, f.Name), Bytes: f.Bytes, SHA256: f.SHA256}
			if err := r.Store.Verify(ctx, file); err != nil {
				return r.storeTrouble(s, err)
			}
			m.Artifacts = append(m.Artifacts, file)
		}
		clock, err := r.Agents.Clock(ctx, a.pod.Status.PodIP)
		if err != nil {
			return silent(s, a.pod, err)
		}
		m.Clocks = append(m.Clocks, record.AgentClock{Member: a.Name, OffsetNanos: clock.Offset.Nanoseconds(), RoundTripNanos: clock.RoundTrip.Nanoseconds()})
	}
	stored, err := publish.Once(ctx, r.Store, s.manifestKey(), m)
	if err != nil {
		return r.storeTrouble(s, err)
	}
	s.manifest = &stored
	return reconciler.Halt, nil
}
