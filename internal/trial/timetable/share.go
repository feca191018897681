package timetable

import (
	"fmt"

	"loadstone.dev/loadstone/internal/record"
)

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
