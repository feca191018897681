package controllers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/pods"
	"loadstone.dev/loadstone/controllers/reconciler"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/run/conduct"
)

const (
	// silencePatience is how long an agent may be silent after its deadline before the attempt ends. It covers two requests that time out, so
	// that a lost packet does not lose the measurement.
	silencePatience = 5 * time.Second
	askSilent       = time.Second
	// podPatience is how long the API server may take to show that a container ended: kubelets check once a second.
	podPatience = 3 * time.Second
)

// suspect records a failure that may pass, and returns how much longer it must last to end the attempt. The start is in the trial's status, so
// that another operator knows it.
func (s *trialScope) suspect(f *conduct.Failure, patience time.Duration) (left time.Duration) {
	since := s.now
	if why, _ := facts.Outcome(s.trial); s.trial.Status.SuspectSince != nil && why == f.Reason {
		since = s.trial.Status.SuspectSince.Time
	}
	s.suspectSince, s.why, s.waiting = &since, f.Reason, f.Message
	return since.Add(patience).Sub(s.now)
}

// recheck ends an attempt after a failed check. If the failure is permanent, it first rereads the pods: a killed server looks like a wrong
// one, and the pod's fate is then the cause.
func recheck(ctx context.Context, live client.Reader, s *trialScope, f *conduct.Failure) (reconciler.Step, error) {
	if f.Kind == conduct.Permanent {
		if left := s.suspect(f, podPatience); left > 0 {
			return reconciler.Again(left), nil
		}
		var err error
		if f, err = befallen(ctx, live, podFacts(s), f); err != nil {
			return reconciler.Halt, err
		}
	}
	s.fault = f
	return reconciler.Halt, nil
}

func befallen(ctx context.Context, live client.Reader, a pods.Attempt, found *conduct.Failure) (*conduct.Failure, error) {
	of := a.Pods[0]
	var there corev1.PodList
	if err := live.List(ctx, &there, client.InNamespace(of.Namespace), client.MatchingLabels{v1alpha1.LabelTrial: of.Labels[v1alpha1.LabelTrial]}); err != nil {
		return nil, fmt.Errorf("listing the pods of trial %s again: %w", of.Labels[v1alpha1.LabelTrial], err)
	}
	var now []*corev1.Pod
	for _, p := range a.Pods {
		i := slices.IndexFunc(there.Items, func(other corev1.Pod) bool { return other.Name == p.Name && other.UID == p.UID })
		if i < 0 {
			return conduct.TransientFailure(v1alpha1.ReasonPodLost, "another client deleted pod %s", p.Name), nil
		}
		now = append(now, &there.Items[i])
	}
	a.Pods = now
	return cmp.Or(a.Fault(), found), nil
}
