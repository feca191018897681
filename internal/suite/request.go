package suite

import (
	"cmp"
	"slices"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/suite/notify"
	"loadstone.dev/loadstone/internal/suite/webhook"
)

// call is a request with values, to the webhook or by hand, that no round has answered, and what it asks to be measured.
type call struct {
	webhook.Request
	in inputs
	// problem is why its round cannot begin, besides what keeps all rounds from beginning; nil if there is nothing.
	problem *Problem
}

// calls returns the request with values that no round has answered; false if there is none. One to a webhook that was taken away asks for nothing.
func calls(s *v1alpha1.BenchmarkSuite, rounds []*round) (webhook.Request, bool) {
	r := webhook.Read(s.Annotations[v1alpha1.AnnotationWebhook])
	if r.ID == "" || r.ID == s.Status.LastHandledWebhook || s.Spec.Triggers.Webhook.SecretRef.Name == "" && !r.ByHand {
		return webhook.Request{}, false
	}
	return r, !slices.ContainsFunc(rounds, func(other *round) bool { return other.Webhook == r.ID })
}

// call is what the request to the webhook asks to be measured; nil if there is none.
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

// answering is the record of the round that answers a request, and with it what another round would have answered.
func (f Facts) answering(c *call, other roundRecord) roundRecord {
	record := f.change(c.in)
	record.Trigger, record.Webhook, record.Parameters = c.Trigger(), c.ID, c.Parameters
	record.Scheduled, record.Requested, record.Reconcile = other.Scheduled, other.Requested, other.Reconcile
	record.PullRequest = notify.PullRequest(f.Suite.Spec, c.Parameters)
	record.ID = roundID(f.Suite, record)
	return record
}

// Refuse notes that the API server refuses a run of a round, for the next decision.
func (f *Facts) Refuse(run v1alpha1.BenchmarkRun, p *Problem) {
	if rounds := roundsOf([]v1alpha1.BenchmarkRun{run}); len(rounds) > 0 && rounds[0].Webhook != "" {
		f.RefusedCall = cmp.Or(f.RefusedCall, p)
		return
	}
	f.Refused = cmp.Or(f.Refused, p)
}

// readCall finds out what the webhook asks for.
func (d *decision) readCall() {
	r := webhook.Read(d.Suite.Annotations[v1alpha1.AnnotationWebhook])
	if slices.ContainsFunc(d.rounds, func(other *round) bool { return r.ID != "" && other.Webhook == r.ID }) {
		d.Status.LastHandledWebhook = r.ID
	}
	if d.call = d.Facts.call(d.rounds); d.call != nil {
		d.call.problem = cmp.Or(d.call.problem, d.RefusedCall, d.call.in.unresolved)
	}
}

// skips reports whether the request is dropped whatever else waits: that of a pull request, with Skip, if any round is in progress.
func (d *decision) skips() bool {
	can := d.call.problem == nil && d.callable() && d.Suite.Spec.Concurrency == v1alpha1.ConcurrencySkip
	return can && d.open != nil && notify.PullRequest(d.Suite.Spec, d.call.Parameters) != ""
}

// callable reports whether a round could begin that answers a request: what is wrong with the suite's own images is no matter of one that gives
// others.
func (d *decision) callable() bool {
	return (d.problem == nil || d.problem == d.in.unresolved) && !d.suspended()
}

// completes are the inputs of a round that lacks a run, as they would be measured now, and why they cannot be for now; nil if they can. It is false if
// that will not pass by itself: they are others than those of the round, or at fault.
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
	same := r.Inputs == in.hash || in.hash == "" && waits == in.unresolved // Without a digest nobody knows.
	return in, waits, same && (waits == nil || waits.Reason != v1alpha1.ReasonInvalidSpec)
}
