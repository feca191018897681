package validity

import (
	"slices"

	"loadstone.dev/loadstone/internal/analysis/measured"
)

// implementationCodes are the reasons that the implementation itself causes.
var implementationCodes = []Code{
	WrongStatus, WrongBody, WrongAnswers, AuditFailed, NotEquivalent, AnswerSize, Errors, Starved, NoRequests, Unanswered, MissingConnections, KeepAliveLost,
	Hung, QueueOverflows,
}

// ImplementationFailure reports whether the implementation made the cell void. A missed rate counts unless a
// generator was busy; reasons in mayFollow do not count next to an external disturbance.
func (c Cell) ImplementationFailure() bool {
	outside := c.HasExternalReason()
	return slices.ContainsFunc(c.Reasons, func(r Reason) bool {
		if r.Weight != Void || outside && slices.Contains(mayFollow, r.Code) {
			return false
		}
		return slices.Contains(implementationCodes, r.Code) || r.Code == RateMissed && r.Subject == measured.SubjectServer
	})
}

var externalCodes = []Code{NoisyNeighbours, Steal, GeneratorLost, GeneratorLate, DifferentMachine, DifferentImage, DifferentScript}

// HasExternalReason reports whether an external disturbance voids the cell.
func (c Cell) HasExternalReason() bool { return slices.ContainsFunc(c.Reasons, Reason.External) }

// External reports whether the reason voids a cell and is not the implementation's fault.
func (r Reason) External() bool { return r.Weight == Void && slices.Contains(externalCodes, r.Code) }

// mayFollow are reasons that an external disturbance can cause. Next to one they are no failure of the
// implementation. A server that got a sixth of its CPU for a second left 14 of 20 ab connections unanswered for more
// than half of it (Hung), although it answers correctly.
var mayFollow = []Code{RateMissed, Starved, MissingConnections, QueueOverflows, SlowHandshakes, Hung, Unanswered, NoRequests, AuditFailed}

// Disturbed reports whether only external disturbances, and what may follow, void the cell.
func (c Cell) Disturbed() bool {
	return c.HasExternalReason() && !slices.ContainsFunc(c.Reasons, func(r Reason) bool {
		return r.Weight == Void && !slices.Contains(externalCodes, r.Code) && !slices.Contains(mayFollow, r.Code)
	})
}

// SuspectLatencies counts the cells whose latencies alone are suspect.
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

// ImplementationFailures counts the cells that the implementation made void. With imposed set, it skips missed rates,
// which are judged per level.
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

// MissedRate reports whether the server missed an imposed rate by far, not just by the tool's pauses.
func (c Cell) MissedRate() bool {
	other := slices.ContainsFunc(c.Reasons, func(r Reason) bool {
		return r.Weight == Void && r.Code != RateMissed && !slices.Contains(implementationCodes, r.Code)
	})
	return !other && slices.ContainsFunc(c.Reasons, func(r Reason) bool {
		return r.Code == RateMissed && r.Weight == Void && r.Subject == measured.SubjectServer
	})
}

// SustainedRate reports whether a valid or suspect cell reached its imposed rate.
func (c Cell) SustainedRate() bool { return c.Validity != Void && !c.has(RateMissed) }

// NearlySustainedRate reports whether less than a tenth was missed, whatever the cause.
func (c Cell) NearlySustainedRate() bool { return c.Validity != Void && c.has(RateMissed) }

// Waited reports whether requests may have waited in the generator; false for a void cell.
func (c Cell) Waited() bool {
	return c.Validity != Void && slices.ContainsFunc(c.Reasons, func(r Reason) bool { return r.Code == GeneratorLimited || r.Code == GeneratorBusy })
}
