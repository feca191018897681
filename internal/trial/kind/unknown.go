package kind

import (
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/protocol"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

// Unknown is the work of a trial that is not in the plan of its run, as this version compiles it: it has no members and takes no time.
type Unknown struct{}

var _ Work = Unknown{}

// Servers implements Work.
func (Unknown) Servers() []record.Implementation { return nil }

// Members implements Work.
func (Unknown) Members() []Member { return nil }

// Slots implements Work.
func (Unknown) Slots() []timetable.Slot { return nil }

// EndsItself implements Work.
func (Unknown) EndsItself() bool { return false }

// Check implements Work.
func (Unknown) Check([]string, []protocol.Script) *protocol.Check { return nil }

// Describe implements Work.
func (Unknown) Describe(*record.TrialManifest) {}
