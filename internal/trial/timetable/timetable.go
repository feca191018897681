package timetable

import (
	"fmt"
	"time"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool/tools"
)

// Slot is one cell in the timetable. Instants are offsets from the start of the first slot.
type Slot struct {
	// Cell is the whole level; a generator makes its Share.
	Cell record.Cell `json:"cell"`
	// Warmup is the start of the warm-up; Measure that of the measured tool. At Measured the measured time is over, and at End its tool must have
	// ended.
	Warmup   time.Duration `json:"warmup"`
	Measure  time.Duration `json:"measure"`
	Measured time.Duration `json:"measured"`
	End      time.Duration `json:"end"`
}

// WarmupGap separates warm-up and measurement: the warm-up's tool is killed and its connections close.
const WarmupGap = 40 * time.Millisecond

// Of lays out cells one after another, with gaps for the tools. In a duet each server gets the whole times, so a cell
// takes twice as long.
func Of(cells []record.Cell) []Slot {
	slots := make([]Slot, 0, len(cells))
	var at time.Duration
	for _, c := range cells {
		whole := Whole(c)
		s := Slot{Cell: c, Warmup: at, Measure: at}
		if whole.WarmupSeconds > 0 {
			s.Measure += time.Duration(whole.WarmupSeconds)*time.Second + WarmupGap
		}
		s.Measured = s.Measure + time.Duration(whole.DurationSeconds)*time.Second
		s.End = s.Measured + time.Duration(Servers(c))*tools.Needs(Share(c, 0)).Gap
		at = s.End
		slots = append(slots, s)
	}
	return slots
}

// End returns the end of the last cell, from the start of the first; 0 without cells.
func End(slots []Slot) time.Duration {
	if len(slots) == 0 {
		return 0
	}
	return slots[len(slots)-1].End
}

const (
	// SocketsLead is how long before the end of the measured time connections are read, while tools still hold
	// theirs. Reading one takes about 1.5 µs; socketsEach is added per connection.
	SocketsLead = 50 * time.Millisecond
	socketsEach = 3 * time.Microsecond
)

// SocketsAt returns when the observer reads the server's connections. All connections outside the load are closed by
// then.
func (s Slot) SocketsAt() time.Duration {
	return s.Measured - SocketsLead - time.Duration(s.Cell.Connections)*socketsEach
}

// DuetSlice is how long each server of a duet has the load. On a shared virtual machine adjacent pairs differed by 4.7 % (standard deviation) at 0.1
// s and 3.8 % at 2 s. So a short slice is hardly noisier, and gives twenty times as many.
const DuetSlice = 100 * time.Millisecond

// IsDuet reports whether two servers share a cell's time.
func IsDuet(c record.Cell) bool { return c.Order == record.OrderSlicedDuet }

// Servers returns how many servers share a cell's time: 2 in a duet, else 1.
func Servers(c record.Cell) int {
	if IsDuet(c) {
		return 2
	}
	return 1
}

// Whole returns a cell with the times of all its servers, which is how long the tool exists.
func Whole(c record.Cell) record.Cell {
	c.DurationSeconds *= int32(Servers(c))
	c.WarmupSeconds *= int32(Servers(c))
	return c
}

// Share returns one generator's part of a cell: equal parts of connections and rate. Remainders go to the first
// generators, nothing to unneeded ones.
func Share(c record.Cell, generator int32) record.Cell {
	part := func(whole int32) int32 {
		switch n := c.Generators; {
		case generator >= n:
			return 0
		case generator < whole%n:
			return whole/n + 1
		default:
			return whole / n
		}
	}
	c.Connections, c.RequestsPerSecond, c.RampToRequestsPerSecond = part(c.Connections), part(c.RequestsPerSecond), part(c.RampToRequestsPerSecond)
	return c
}

// CellName names a cell in files and artifacts, such as "sweep-100".
func CellName(c record.Cell) string { return record.PointOf(c).Name() }

// RawFile names the raw output of a cell's tool, such as "sweep-100.wrk.txt" for the first server and
// "sweep-100.server-1.wrk.txt" for the second.
func RawFile(c record.Cell, server int) string {
	name := CellName(c)
	if server > 0 {
		name += "." + record.MemberServer(server)
	}
	return fmt.Sprintf("%s.%s.txt", name, c.Tool)
}
