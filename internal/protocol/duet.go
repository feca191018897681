package protocol

import (
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// DuetSlice is how long a server of a duet has the load before the other gets it. On a shared virtual machine adjacent pairs differed
// by 4.7 % (standard deviation) at 0.1 s and by 3.8 % at 2 s: a short slice is hardly noisier, and there are twenty times as many.
const DuetSlice = 100 * time.Millisecond

// IsDuet says whether two servers share a cell's time.
func IsDuet(c v1alpha1.Cell) bool { return c.Order == v1alpha1.OrderSlicedDuet }

// Players is the number of servers that share a cell's time: 2 in a duet, else 1.
func Players(c v1alpha1.Cell) time.Duration {
	if IsDuet(c) {
		return 2
	}
	return 1
}

// RawFileBeside is the name of the file with the tool's raw output of a cell against the second server of a duet, such as
// "sweep-100.beside.wrk.txt".
func RawFileBeside(c v1alpha1.Cell) string {
	return CellName(c) + "." + RoleBeside + "." + string(c.Tool) + ".txt"
}
