package validity

import (
	"slices"

	"loadstone.dev/loadstone/internal/analysis/measured"
)

// implementationCodes are the reasons that are of the implementation's own making.
var implementationCodes = []Code{
	WrongStatus, WrongBody, WrongAnswers, AuditFailed, NotEquivalent, AnswerSize, Errors, Starved, NoRequests, Unanswered, MissingConnections, KeepAliveLost,
	Hung, QueueOverflows,
}

// ImplementationFailure reports whether the cell is void because of an implementation failure. A rate that was missed is one unless a
// generator was busy, and neither that nor a connection left waiting is one where the machine was at fault.
func (c Cell) ImplementationFailure() bool {
	outside := c.HasExternalReason()
	return slices.ContainsFunc(c.Reasons, func(r Reason) bool {
		if r.Weight != Void || outside && slices.Contains(mayFollow, r.Code) {
			return false
		}
		return slices.Contains(implementationCodes, r.Code) || r.Code == RateMissed && r.Subject == measured.SubjectServer
	})
}

// externalCodes are the reasons that void a cell without a failure of what was measured.
var externalCodes = []Code{NoisyNeighbours, Steal, GeneratorLost, GeneratorLate, DifferentMachine, DifferentImage, DifferentScript}

// HasExternalReason reports whether a cell is void because of an external disturbance, whatever else voids it.
func (c Cell) HasExternalReason() bool { return slices.ContainsFunc(c.Reasons, Reason.External) }

// External reports whether this voids a cell without being a failure of what was measured.
func (r Reason) External() bool { return r.Weight == Void && slices.Contains(externalCodes, r.Code) }

// mayFollow are the reasons that an external disturbance can bring about: next to one, they are no failure of the implementation. A server
// that got a sixth of its CPU for a second has left 14 of 20 connections of ab without an answer for longer than half of it (Hung), and
// answers rightly.
var mayFollow = []Code{RateMissed, Starved, MissingConnections, QueueOverflows, SlowHandshakes, Hung, Unanswered, NoRequests, AuditFailed}

// Disturbed reports whether a cell is void for nothing but external disturbances and what may follow from them.
func (c Cell) Disturbed() bool {
	return c.HasExternalReason() && !slices.ContainsFunc(c.Reasons, func(r Reason) bool {
		return r.Weight == Void && !slices.Contains(externalCodes, r.Code) && !slices.Contains(mayFollow, r.Code)
	})
}

// SuspectLatencies counts the suspect cells of which only the latencies are.
func (g *Group) SuspectLatencies() int {
	n := 0
	for _, c := range g.Cells {
		beyond := func(r Reason) bool { return r.Scope != ScopeLatency }
		if c.Validity == Suspect && !slices.ContainsFunc(c.Reasons, beyond) {
			n++
		}
	}
	return n
}

// ImplementationFailures counts the cells that are void because of an implementation failure. A rate that it did not sustain is judged
// level by level and counted there, if the level has one.
func (g *Group) ImplementationFailures(imposed bool) int {
	n := 0
	for _, c := range g.Cells {
		if imposed {
			c.Reasons = slices.DeleteFunc(slices.Clone(c.Reasons), func(r Reason) bool { return r.Code == RateMissed })
		}
		if c.ImplementationFailure() {
			n++
		}
	}
	return n
}

// MissedRate reports whether the server did not sustain an imposed rate by far: a few arrivals in a hundred may be lost to the tool's own
// pauses, and accuse nobody.
func (c Cell) MissedRate() bool {
	other := slices.ContainsFunc(c.Reasons, func(r Reason) bool {
		return r.Weight == Void && r.Code != RateMissed && !slices.Contains(implementationCodes, r.Code)
	})
	return !other && slices.ContainsFunc(c.Reasons, func(r Reason) bool {
		return r.Code == RateMissed && r.Weight == Void && r.Subject == measured.SubjectServer
	})
}

// SustainedRate reports whether the server sustained an imposed rate, in a cell that counts.
func (c Cell) SustainedRate() bool { return c.Validity != Void && !c.has(RateMissed) }

// NearlySustainedRate reports whether less than a tenth of an imposed rate was missed, in a cell that counts, whatever the cause.
func (c Cell) NearlySustainedRate() bool { return c.Validity != Void && c.has(RateMissed) }

// Waited reports whether requests of the cell may have waited in the generator. A void cell says nothing of that.
func (c Cell) Waited() bool {
	return c.Validity != Void && slices.ContainsFunc(c.Reasons, func(r Reason) bool { return r.Code == GeneratorLimited || r.Code == GeneratorBusy })
}
