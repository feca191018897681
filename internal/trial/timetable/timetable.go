package timetable

import (
	"fmt"
	"time"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool/tools"
)

// Slot is one cell in the timetable. The instants are offsets from the start of the first slot.
type Slot struct {
	// Cell is the whole level; a generator makes its Share of it.
	Cell record.Cell `json:"cell"`
	// Warmup is when warm-up load begins; Measure when the warm-up's tool is ended and the measured tool starts; Measured when the
	// measured time is over; End when the measured tool must have ended.
	Warmup   time.Duration `json:"warmup"`
	Measure  time.Duration `json:"measure"`
	Measured time.Duration `json:"measured"`
	End      time.Duration `json:"end"`
}

// WarmupGap separates a warm-up from the time that is measured: its tool is killed and its connections close.
const WarmupGap = 40 * time.Millisecond

// Of lays cells one after the other. Between two of them lies what the tool needs beside the measured time. In a duet each server gets
// the whole of each time, so that it takes twice as long.
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

// End is when the last of the cells ends, as an offset from the start of the first; 0 if there is none.
func End(slots []Slot) time.Duration {
	if len(slots) == 0 {
		return 0
	}
	return slots[len(slots)-1].End
}

const (
	// SocketsLead is how much before the end of the measured time the connections are read, when no tool has closed its own yet.
	// Each takes about 1.5 µs to read; socketsEach is added for each of the cell.
	SocketsLead = 50 * time.Millisecond
	socketsEach = 3 * time.Microsecond
)

// SocketsAt is when the observer reads the server's connections, as an offset like the slot's own. What is no part of the load has
// closed its connections by then.
func (s Slot) SocketsAt() time.Duration {
	return s.Measured - SocketsLead - time.Duration(s.Cell.Connections)*socketsEach
}

// DuetSlice is how long a server of a duet has the load before the other gets it. On a shared virtual machine adjacent pairs differed
// by 4.7 % (standard deviation) at 0.1 s and by 3.8 % at 2 s: a short slice is hardly noisier, and there are twenty times as many.
const DuetSlice = 100 * time.Millisecond

// IsDuet reports whether two servers share a cell's time.
func IsDuet(c record.Cell) bool { return c.Order == record.OrderSlicedDuet }

// Servers is the number of servers that share a cell's time: 2 in a duet, else 1.
func Servers(c record.Cell) int {
	if IsDuet(c) {
		return 2
	}
	return 1
}

// Whole is a cell with the times of all its servers together, which is how long a tool lasts that is let run in turns.
func Whole(c record.Cell) record.Cell {
	c.DurationSeconds *= int32(Servers(c))
	c.WarmupSeconds *= int32(Servers(c))
	return c
}

// Share is what one of the cell's generators makes of it: an equal part of its connections and of its rate. Whatever does not
// divide goes to the first ones, and nothing to a generator that the cell does not need.
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

// CellName names a cell in file names and artifacts, such as "sweep-100".
func CellName(c record.Cell) string { return record.PointOf(c).Name() }

// RawFile is the name of the file with the tool's raw output of a cell against a server of the trial, such as "sweep-100.wrk.txt" of the
// first and "sweep-100.server-1.wrk.txt" of the second.
func RawFile(c record.Cell, server int) string {
	name := CellName(c)
	if server > 0 {
		name += "." + record.MemberServer(server)
	}
	return fmt.Sprintf("%s.%s.txt", name, c.Tool)
}
