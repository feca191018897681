package suite

import (
	"cmp"
	"slices"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/suite/notify"
	"loadstone.dev/loadstone/internal/suite/webhook"
)

// call is an unanswered request with values, by webhook or by hand, and its inputs.
type call struct {
	webhook.Request
	in      inputs
	problem *Problem
}

// calls returns the unanswered request with values; false if none. A request to a removed webhook does not count.
func calls(s *v1alpha1.BenchmarkSuite, rounds []*round) (webhook.Request, bool) {
	r := webhook.Read(s.Annotations[v1alpha1.AnnotationWebhook])
	if r.ID == "" || r.ID == s.Status.LastHandledWebhook || s.Spec.Triggers.Webhook.SecretRef.Name == "" && !r.ByHand {
		return webhook.Request{}, false
	}
	return r, !slices.ContainsFunc(rounds, func(other *round) bool { return other.Webhook == r.ID })
}

func (f Facts) call(rounds []*round) *call {
	r, open := calls(f.Suite, rounds)
	if !open {
		return nil
	}
	c := &call{Request: r}
	if c.in, c.problem = inputsOf(f.Suite, r.Parameters, f.Images); c.problem == nil {
		c.problem = c.in.compile(runsOf(f.Suite, c.in, f.answering(c, roundRecord{}), 1, nil))
	}
	return c
}

// answering returns the record of the round that answers a request, and also what another round would have answered.
func (f Facts) answering(c *call, other roundRecord) roundRecord {
	record := f.change(c.in)
	record.Trigger, record.Webhook, record.Parameters = c.Trigger(), c.ID, c.Parameters
	record.Scheduled, record.Requested, record.Reconcile = other.Scheduled, other.Requested, other.Reconcile
	record.PullRequest = notify.PullRequest(f.Suite.Spec, c.Parameters)
	record.ID = roundID(f.Suite, record)
	return record
}

// Refuse records that the API server refuses a run, for the next decision.
func (f *Facts) Refuse(run v1alpha1.BenchmarkRun, p *Problem) {
	if rounds := roundsOf([]v1alpha1.BenchmarkRun{run}); len(rounds) > 0 && rounds[0].Webhook != "" {
		f.RefusedCall = cmp.Or(f.RefusedCall, p)
		return
	}
	f.Refused = cmp.Or(f.Refused, p)
}

func (d *decision) readCall() {
	r := webhook.Read(d.Suite.Annotations[v1alpha1.AnnotationWebhook])
	if slices.ContainsFunc(d.rounds, func(other *round) bool { return r.ID != "" && other.Webhook == r.ID }) {
		d.Status.LastHandledWebhook = r.ID
	}
	if d.call = d.Facts.call(d.rounds); d.call != nil {
		d.call.problem = cmp.Or(d.call.problem, d.RefusedCall, d.call.in.unresolved)
	}
}

// skips reports whether the request is dropped: a pull request's, under Skip, while any round is in progress.
func (d *decision) skips() bool {
	can := d.call.problem == nil && d.callable() && d.Suite.Spec.Concurrency == v1alpha1.ConcurrencySkip
	return can && d.open != nil && notify.PullRequest(d.Suite.Spec, d.call.Parameters) != ""
}

// Problems of the suite's own images do not matter, since the request may give others.
func (d *decision) callable() bool {
	return (d.problem == nil || d.problem == d.in.unresolved) && !d.suspended()
}

// completes returns the current inputs of a round that lacks a run, and why they cannot be measured now; nil if they
// can. False if waiting does not help: the inputs changed or are invalid.
func (d *decision) completes(r roundRecord) (in inputs, waits *Problem, ok bool) {
	in, waits = d.in, d.problem
	if r.Webhook != "" {
		if in, waits = inputsOf(d.Suite, r.Parameters, d.Images); d.problem != nil && d.problem != d.in.unresolved {
			waits = d.problem
		}
		waits = cmp.Or(waits, d.RefusedCall)
	}
	if waits = cmp.Or(waits, in.unresolved); waits == nil && d.suspended() {
		waits = &Problem{v1alpha1.ReasonSuspended, "spec.suspend is true"}
	}
	same := r.Inputs == in.hash || in.hash == "" && waits == in.unresolved // Without a digest this is unknown.
	return in, waits, same && (waits == nil || waits.Reason != v1alpha1.ReasonInvalidSpec)
}
