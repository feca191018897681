package analysis

import (
	"cmp"
	"slices"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis/capacity"
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
)

// Coverage compares the plan with the measurements.
type Coverage struct {
	// Trials are those of blocks. A duet is one trial, with two cells at each level.
	PlannedTrials  int `json:"plannedTrials"`
	MeasuredTrials int `json:"measuredTrials"`
	PlannedCells   int `json:"plannedCells"`
	MeasuredCells  int `json:"measuredCells"`
	VoidCells      int `json:"voidCells"`
	SuspectCells   int `json:"suspectCells"`
	// SuspectLatencies are suspect by latencies only.
	SuspectLatencies int `json:"suspectLatencies"`
	PinnedCells      int `json:"pinnedCells"`
	// References are among the cells above. A reference is expected to outrun its load generators.
	References CellCount      `json:"references"`
	Missing    []MissingTrial `json:"missing"`
	// Repeated trials needed several attempts.
	Repeated []RepeatedTrial `json:"repeated"`
}

// CellCount counts cells; SuspectLatencies are among SuspectCells.
type CellCount struct {
	PlannedCells     int `json:"plannedCells"`
	MeasuredCells    int `json:"measuredCells"`
	VoidCells        int `json:"voidCells"`
	SuspectCells     int `json:"suspectCells"`
	SuspectLatencies int `json:"suspectLatencies"`
	PinnedCells      int `json:"pinnedCells"`
}

// Contenders returns the counts without the cells of references, which no verdict uses.
func (c Coverage) Contenders() CellCount {
	return CellCount{
		PlannedCells: c.PlannedCells - c.References.PlannedCells, MeasuredCells: c.MeasuredCells - c.References.MeasuredCells,
		VoidCells: c.VoidCells - c.References.VoidCells, SuspectCells: c.SuspectCells - c.References.SuspectCells,
		SuspectLatencies: c.SuspectLatencies - c.References.SuspectLatencies, PinnedCells: c.PinnedCells - c.References.PinnedCells,
	}
}

func (c *CellCount) plus(o CellCount) {
	c.PlannedCells += o.PlannedCells
	c.MeasuredCells += o.MeasuredCells
	c.VoidCells += o.VoidCells
	c.SuspectCells += o.SuspectCells
	c.SuspectLatencies += o.SuspectLatencies
	c.PinnedCells += o.PinnedCells
}

// MissingTrial was not measured. Reason is one of the API's, or NotStarted or NotRead.
type MissingTrial struct {
	Trial          string `json:"trial,omitempty"`
	Block          int32  `json:"block"`
	Implementation string `json:"implementation"`
	Reason         string `json:"reason"`
	Message        string `json:"message,omitempty"`
}

// RepeatedTrial has several attempts.
type RepeatedTrial struct {
	Trial          string   `json:"trial"`
	Block          int32    `json:"block"`
	Implementation string   `json:"implementation"`
	Attempt        int32    `json:"attempt"`
	Failures       []string `json:"failures"`
}

const (
	// ReasonNotStarted: the run ended before the trial.
	ReasonNotStarted = "NotStarted"
	// ReasonNotRead: the report did not get the trial's manifest.
	ReasonNotRead = "NotRead"
)

func coverage(data record.RunData, p planned.Run, groups []validity.Group) Coverage {
	c := Coverage{
		Missing: []MissingTrial{}, Repeated: []RepeatedTrial{},
	}
	c.PlannedTrials, c.MeasuredTrials = int(p.Blocks)*p.TrialsPerBlock, trialsOf(data)
	c.PlannedCells = int(p.Blocks) * len(p.Implementations) * len(p.Levels)
	for _, g := range groups {
		c.MeasuredCells += len(g.Cells)
		c.VoidCells += g.Void
		c.SuspectCells += g.Suspect
		c.SuspectLatencies += g.SuspectLatencies()
		c.PinnedCells += g.Pinned
		if g.Role == record.RoleReference {
			c.References.plus(CellCount{
				MeasuredCells: len(g.Cells), VoidCells: g.Void, SuspectCells: g.Suspect, SuspectLatencies: g.SuspectLatencies(), PinnedCells: g.Pinned,
			})
		}
	}
	for _, i := range p.Implementations {
		if i.Role == record.RoleReference {
			c.References.PlannedCells += int(p.Blocks) * len(p.Levels)
		}
	}
	for block := int32(1); block <= p.Blocks; block++ {
		for _, i := range p.Implementations {
			if m := missing(data, block, i.Name); m != nil {
				c.Missing = append(c.Missing, *m)
			}
		}
	}
	for _, t := range data.Trials {
		m := t.Manifest
		if m.Attempt > 1 || len(m.Failures) > 0 {
			c.Repeated = append(c.Repeated, RepeatedTrial{
				Trial: m.Name, Block: m.Block, Implementation: m.Servers[0], Attempt: m.Attempt, Failures: append([]string{}, m.Failures...),
			})
		}
	}
	slices.SortFunc(c.Repeated, func(a, b RepeatedTrial) int { return cmp.Compare(a.Trial, b.Trial) })
	return c
}

// trialsOf counts both halves of a duet as one trial.
func trialsOf(data record.RunData) int {
	names := map[string]bool{}
	for _, t := range data.Trials {
		names[t.Manifest.Name] = true
	}
	return len(names)
}

// addPrograms counts each process as its trial's only cell.
func (c *Coverage) addPrograms(p planned.Run, programs []validity.Program) {
	if !p.WholeTrials {
		return
	}
	for _, i := range p.Implementations {
		n := CellCount{PlannedCells: int(p.Blocks)}
		for _, one := range programs {
			if one.Implementation != i.Name {
				continue
			}
			n.MeasuredCells++
			n.VoidCells += asInt(one.Validity == validity.Void)
			n.SuspectCells += asInt(one.Validity == validity.Suspect)
			n.PinnedCells += asInt(one.Pinning.ServerPinned)
		}
		c.add(i.Role, n)
	}
}

func (c *Coverage) add(role record.Role, n CellCount) {
	c.PlannedCells += n.PlannedCells
	c.MeasuredCells += n.MeasuredCells
	c.VoidCells += n.VoidCells
	c.SuspectCells += n.SuspectCells
	c.SuspectLatencies += n.SuspectLatencies
	c.PinnedCells += n.PinnedCells
	if role == record.RoleReference {
		c.References.plus(n)
	}
}

func asInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func missing(data record.RunData, block int32, implementation string) *MissingTrial {
	if util.First(data.Trials, func(t *record.TrialData) bool {
		return t.Manifest.Block == block && t.Manifest.Servers[0] == implementation
	}) != nil {
		return nil
	}
	m := MissingTrial{Block: block, Implementation: implementation, Reason: ReasonNotStarted}
	e := util.First(data.Manifest.Trials, func(e *record.TrialEntry) bool { return e.Block == block && e.Servers[0] == implementation })
	if e == nil {
		return &m
	}
	m.Trial, m.Message = e.Name, e.Message
	switch {
	case e.Reason != "":
		m.Reason = e.Reason
	case e.Manifest != nil:
		m.Reason = ReasonNotRead
	}
	return &m
}

func (c Coverage) failures() map[string]int {
	out := map[string]int{}
	for _, m := range c.Missing {
		if v1alpha1.OriginOf(m.Reason) == v1alpha1.OriginImplementation {
			out[m.Implementation]++
		}
	}
	return out
}

// disturbedSearch reports whether an external disturbance left a search without an exact number.
func disturbedSearch(t capacity.Trial) bool {
	return (t.Unusable || t.Bound == capacity.Disturbed) && slices.ContainsFunc(t.Steps, func(s validity.Step) bool {
		return slices.ContainsFunc(s.Reasons, validity.Reason.External)
	})
}

// DisturbedBlocks returns the blocks with an externally disturbed cell or search, without those of references.
func (t Table) DisturbedBlocks() []int32 {
	var blocks []int32
	for _, g := range t.Groups {
		for _, c := range g.Cells {
			if g.Role != record.RoleReference && c.Disturbed() {
				blocks = append(blocks, c.Block)
			}
		}
	}
	for _, c := range t.Capacities {
		for _, trial := range c.Trials {
			if c.Role != record.RoleReference && disturbedSearch(trial) {
				blocks = append(blocks, trial.Block)
			}
		}
	}
	for _, p := range t.Programs {
		if !t.isReference(p.Implementation) && p.Disturbed() {
			blocks = append(blocks, p.Block)
		}
	}
	slices.Sort(blocks)
	return slices.Compact(blocks)
}

func (t Table) isReference(name string) bool {
	return slices.ContainsFunc(t.Implementations, func(i planned.Implementation) bool { return i.Name == name && i.Role == record.RoleReference })
}

// addSteps counts steps as cells; a search plans as many as it tried.
func (c *Coverage) addSteps(all []capacity.Capacity) {
	for _, one := range all {
		c.add(one.Role, stepsOf(one))
	}
}

func stepsOf(c capacity.Capacity) CellCount {
	var n CellCount
	for _, t := range c.Trials {
		n.PlannedCells += len(t.Steps)
		n.MeasuredCells += len(t.Steps)
		for _, s := range t.Steps {
			switch s.Validity {
			case validity.Void:
				n.VoidCells++
			case validity.Suspect:
				n.SuspectCells++
			case validity.Valid:
			}
			if s.Pinned {
				n.PinnedCells++
			}
		}
	}
	return n
}
