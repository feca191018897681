package stats

import (
	"cmp"
	"slices"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
)

// Coverage is what was planned against what was measured.
type Coverage struct {
	PlannedTrials  int `json:"plannedTrials"`
	MeasuredTrials int `json:"measuredTrials"`
	PlannedCells   int `json:"plannedCells"`
	// MeasuredCells are those with a record; VoidCells and SuspectCells are among them.
	MeasuredCells int `json:"measuredCells"`
	VoidCells     int `json:"voidCells"`
	SuspectCells  int `json:"suspectCells"`
	// SuspectLatencies are the suspect cells of which only the latencies are.
	SuspectLatencies int `json:"suspectLatencies"`
	PinnedCells      int `json:"pinnedCells"`
	// Limits are those of the cells above that are of a Limit, which is meant to be faster than its load generators.
	Limits CellCount `json:"limits"`
	// Missing are the trials without a record.
	Missing []MissingTrial `json:"missing"`
	// Repeated are the trials that were measured only after faults from outside.
	Repeated []RepeatedTrial `json:"repeated"`
}

// CellCount counts cells: VoidCells, SuspectCells and PinnedCells are among the measured ones, SuspectLatencies among SuspectCells.
type CellCount struct {
	PlannedCells     int `json:"plannedCells"`
	MeasuredCells    int `json:"measuredCells"`
	VoidCells        int `json:"voidCells"`
	SuspectCells     int `json:"suspectCells"`
	SuspectLatencies int `json:"suspectLatencies"`
	PinnedCells      int `json:"pinnedCells"`
}

// Contenders counts the cells that verdicts can rest on: all but a limit's.
func (c Coverage) Contenders() CellCount {
	return CellCount{
		PlannedCells: c.PlannedCells - c.Limits.PlannedCells, MeasuredCells: c.MeasuredCells - c.Limits.MeasuredCells,
		VoidCells: c.VoidCells - c.Limits.VoidCells, SuspectCells: c.SuspectCells - c.Limits.SuspectCells,
		SuspectLatencies: c.SuspectLatencies - c.Limits.SuspectLatencies, PinnedCells: c.PinnedCells - c.Limits.PinnedCells,
	}
}

// plus adds another count.
func (c *CellCount) plus(o CellCount) {
	c.PlannedCells += o.PlannedCells
	c.MeasuredCells += o.MeasuredCells
	c.VoidCells += o.VoidCells
	c.SuspectCells += o.SuspectCells
	c.SuspectLatencies += o.SuspectLatencies
	c.PinnedCells += o.PinnedCells
}

// MissingTrial is a planned trial that was not measured. Reason is one of the API's, or NotStarted or NotRead.
type MissingTrial struct {
	Trial          string `json:"trial,omitempty"`
	Block          int32  `json:"block"`
	Implementation string `json:"implementation"`
	Reason         string `json:"reason"`
	Message        string `json:"message,omitempty"`
}

// RepeatedTrial is a trial with more than one attempt.
type RepeatedTrial struct {
	Trial          string   `json:"trial"`
	Block          int32    `json:"block"`
	Implementation string   `json:"implementation"`
	Attempt        int32    `json:"attempt"`
	Faults         []string `json:"faults"`
}

const (
	// ReasonNotStarted says that the run ended before the trial's turn.
	ReasonNotStarted = "NotStarted"
	// ReasonNotRead says that the trial has a manifest, and the report was not given it.
	ReasonNotRead = "NotRead"
)

// ownFaultReasons are those reasons of a failed trial that are of the implementation's own making.
var ownFaultReasons = []string{v1alpha1.ReasonServerNotListening, v1alpha1.ReasonServerExited, v1alpha1.ReasonWrongResponse}

// coverage compares plan and record.
func coverage(data record.RunData, p planned, groups []Group) Coverage {
	c := Coverage{
		PlannedTrials: int(p.blocks) * len(p.implementations), MeasuredTrials: len(data.Trials),
		Missing: []MissingTrial{}, Repeated: []RepeatedTrial{},
	}
	c.PlannedCells = c.PlannedTrials * len(p.levels)
	for _, g := range groups {
		c.MeasuredCells += len(g.Cells)
		c.VoidCells += g.Void
		c.SuspectCells += g.Suspect
		c.SuspectLatencies += g.suspectLatencies()
		c.PinnedCells += g.Pinned
		if g.Role == v1alpha1.RoleLimit {
			c.Limits.plus(CellCount{
				MeasuredCells: len(g.Cells), VoidCells: g.Void, SuspectCells: g.Suspect, SuspectLatencies: g.suspectLatencies(), PinnedCells: g.Pinned,
			})
		}
	}
	for _, i := range p.implementations {
		if i.Role == v1alpha1.RoleLimit {
			c.Limits.PlannedCells += int(p.blocks) * len(p.levels)
		}
	}
	for block := int32(1); block <= p.blocks; block++ {
		for _, i := range p.implementations {
			if m := missing(data, block, i.Name); m != nil {
				c.Missing = append(c.Missing, *m)
			}
		}
	}
	for _, t := range data.Trials {
		m := t.Manifest
		if m.Attempt > 1 || len(m.Faults) > 0 {
			c.Repeated = append(c.Repeated, RepeatedTrial{
				Trial: m.Trial, Block: m.Block, Implementation: m.Implementation, Attempt: m.Attempt, Faults: append([]string{}, m.Faults...),
			})
		}
	}
	slices.SortFunc(c.Repeated, func(a, b RepeatedTrial) int { return cmp.Compare(a.Trial, b.Trial) })
	return c
}

// suspectLatencies counts the suspect cells of which only the latencies are.
func (g *Group) suspectLatencies() int {
	n := 0
	for _, c := range g.Cells {
		beyond := func(r Reason) bool { return r.Scope != ScopeLatency }
		if c.Validity == Suspect && !slices.ContainsFunc(c.Reasons, beyond) {
			n++
		}
	}
	return n
}

// missing says why an implementation has no trial in a block; nil if it has one.
func missing(data record.RunData, block int32, implementation string) *MissingTrial {
	if find(data.Trials, func(t *record.TrialData) bool {
		return t.Manifest.Block == block && t.Manifest.Implementation == implementation
	}) != nil {
		return nil
	}
	m := MissingTrial{Block: block, Implementation: implementation, Reason: ReasonNotStarted}
	e := find(data.Manifest.Trials, func(e *record.TrialEntry) bool { return e.Block == block && e.Implementation == implementation })
	if e == nil {
		return &m
	}
	m.Trial, m.Message = e.Trial, e.Message
	switch {
	case e.Reason != "":
		m.Reason = e.Reason
	case e.Manifest != nil:
		m.Reason = ReasonNotRead
	}
	return &m
}

// ownFaults counts the trials that an implementation lost by its own fault.
func (c Coverage) ownFaults(implementation string) int {
	n := 0
	for _, m := range c.Missing {
		if m.Implementation == implementation && slices.Contains(ownFaultReasons, m.Reason) {
			n++
		}
	}
	return n
}

// outsideCodes are the reasons for which a cell can be void through no fault of what was measured.
var outsideCodes = []ReasonCode{Strangers, Stolen, GeneratorLost, GeneratorLate, DifferentMachine, DifferentImage, DifferentScript}

// HitFromOutside says whether a cell is void by a fault from outside, whatever else it is void by.
func (c Cell) HitFromOutside() bool { return slices.ContainsFunc(c.Reasons, fromOutside) }

func fromOutside(r Reason) bool { return r.Weight == Void && slices.Contains(outsideCodes, r.Code) }

// mayFollow are the reasons that a fault from outside can bring about: beside one, they accuse nobody. A server that got a sixth of its
// CPU for a second has left 14 of 20 connections of ab without an answer for longer than half of it (Hung), and answers rightly.
var mayFollow = []ReasonCode{RateMissed, Starved, MissingConnections, QueueOverflows, SlowHandshakes, Hung, Unanswered, NoRequests, AuditFailed}

// spoiled says whether a cell is void for nothing but faults from outside and what may follow from them.
func (c Cell) spoiled() bool {
	return c.HitFromOutside() && !slices.ContainsFunc(c.Reasons, func(r Reason) bool {
		return r.Weight == Void && !slices.Contains(outsideCodes, r.Code) && !slices.Contains(mayFollow, r.Code)
	})
}

// spoiled says whether a fault from outside has cost a search its number, or left it a bound.
func (t CapacityTrial) spoiled() bool {
	return (t.Unusable || t.Bound == BoundDisturbed) && slices.ContainsFunc(t.Steps, func(s CapacityStep) bool {
		return slices.ContainsFunc(s.Reasons, fromOutside)
	})
}

// SpoiledBlocks are the blocks, in order, in which a fault from outside has spoiled a cell or a search. A limit's do not matter:
// nothing is compared with them.
func (t Table) SpoiledBlocks() []int32 {
	var blocks []int32
	for _, g := range t.Groups {
		for _, c := range g.Cells {
			if g.Role != v1alpha1.RoleLimit && c.spoiled() {
				blocks = append(blocks, c.Block)
			}
		}
	}
	for _, c := range t.Capacities {
		for _, trial := range c.Trials {
			if c.Role != v1alpha1.RoleLimit && trial.spoiled() {
				blocks = append(blocks, trial.Block)
			}
		}
	}
	slices.Sort(blocks)
	return slices.Compact(blocks)
}
