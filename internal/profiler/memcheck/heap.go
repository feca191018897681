package memcheck

import (
	"fmt"
	"io"
	"strings"

	"loadstone.dev/loadstone/internal/profiler/lines"
)

// Heap is what memcheck saw of the heap until the program ended. It does not see static programs, runtimes and custom allocators.
type Heap struct {
	InUseBytes     int64 `json:"inUseBytes"`
	InUseBlocks    int64 `json:"inUseBlocks"`
	AllocatedBytes int64 `json:"allocatedBytes"`
	Allocations    int64 `json:"allocations"`
	FreedBytes     int64 `json:"freedBytes"`
	Frees          int64 `json:"frees"`
}

// Seen reports whether memcheck saw any allocation.
func (h Heap) Seen() bool { return h.Allocations > 0 }

// Plus adds the heaps of two processes.
func (h Heap) Plus(o Heap) Heap {
	return Heap{
		InUseBytes: lines.Sum(h.InUseBytes, o.InUseBytes), InUseBlocks: lines.Sum(h.InUseBlocks, o.InUseBlocks),
		AllocatedBytes: lines.Sum(h.AllocatedBytes, o.AllocatedBytes), Allocations: lines.Sum(h.Allocations, o.Allocations),
		FreedBytes: lines.Sum(h.FreedBytes, o.FreedBytes), Frees: lines.Sum(h.Frees, o.Frees),
	}
}

// events are the columns of the tree of allocations.
const events = "curB curBk totB totBk totFdB totFdBk"

// ParseHeap parses the totals of memcheck's tree of allocations (--xtree-memory=full).
func ParseHeap(r io.Reader) (Heap, error) {
	heap, err := readHeap(lines.NewReader(r))
	if err != nil {
		return Heap{}, fmt.Errorf("reading memcheck's tree of allocations: %w", err)
	}
	return heap, nil
}

func readHeap(r *lines.Reader) (Heap, error) {
	known := false
	for r.Next() {
		key, value, _ := strings.Cut(r.Line(), ":")
		fields := strings.Fields(value)
		switch key {
		case "events":
			if known = strings.Join(fields, " ") == events; !known {
				return Heap{}, r.Wrong("events: " + events)
			}
		case "totals":
			if !known {
				return Heap{}, r.Wrong("the events before their totals")
			}
			return totals(r, fields)
		}
	}
	switch {
	case r.Err() != nil:
		return Heap{}, r.Err()
	case r.Empty():
		return Heap{}, lines.ErrEmpty
	case !known:
		return Heap{}, fmt.Errorf("%w: it has no line of events", lines.ErrForeign)
	}
	return Heap{}, fmt.Errorf("%w: it has no totals", lines.ErrCut)
}

// totals reads the totals; "(null)" means no allocation.
func totals(r *lines.Reader, fields []string) (Heap, error) {
	if len(fields) == 1 && fields[0] == "(null)" {
		return Heap{}, nil
	}
	var h Heap
	into := []*int64{&h.InUseBytes, &h.InUseBlocks, &h.AllocatedBytes, &h.Allocations, &h.FreedBytes, &h.Frees}
	if len(fields) != len(into) {
		return Heap{}, r.Wrong("six totals")
	}
	for i, p := range into {
		n, err := lines.Count(fields[i])
		if err != nil {
			return Heap{}, err
		}
		*p = n
	}
	return h, nil
}
