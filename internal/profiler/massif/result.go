package massif

// Result is massif's result for one process. Sizes are in bytes.
type Result struct {
	Command string `json:"command"`
	Options string `json:"options,omitempty"`
	// TimeUnit is Time's unit: "i" for instructions, "ms", or "B" for bytes allocated and freed.
	TimeUnit  string     `json:"timeUnit"`
	Snapshots []Snapshot `json:"snapshots"`
}

// Snapshot is the memory at one moment.
type Snapshot struct {
	Time int64 `json:"time"`
	// HeapBytes were requested; ExtraBytes are the allocator's overhead.
	HeapBytes  int64 `json:"heapBytes"`
	ExtraBytes int64 `json:"extraBytes"`
	// StackBytes is 0 unless massif measured stacks.
	StackBytes int64 `json:"stackBytes"`
	Peak       bool  `json:"peak,omitempty"`
	// Tree is what allocated the heap; nil if not written.
	Tree *Node `json:"tree,omitempty"`
}

// Bytes returns a snapshot's total memory.
func (s Snapshot) Bytes() int64 { return s.HeapBytes + s.ExtraBytes + s.StackBytes }

// Node is a place that allocated, or a caller of one.
type Node struct {
	Bytes int64 `json:"bytes"`
	// Function is empty if symbols are missing, and massif's sentence if the node is not a function.
	Function string `json:"function"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	// Callers divide the memory, largest first.
	Callers []Node `json:"callers,omitempty"`
}

// HeapSeen reports whether massif saw any allocation.
func (r Result) HeapSeen() bool { return r.PeakHeap() > 0 }

// PeakHeap returns the most requested bytes in any snapshot. With stacks, the peak snapshot may be that of a deep stack, and the heap's own
// peak may lie between snapshots.
func (r Result) PeakHeap() int64 {
	var most int64
	for _, s := range r.Snapshots {
		most = max(most, s.HeapBytes)
	}
	return most
}

// PeakStacks returns the largest stacks in any snapshot; 0 if not measured.
func (r Result) PeakStacks() int64 {
	var most int64
	for _, s := range r.Snapshots {
		most = max(most, s.StackBytes)
	}
	return most
}

// Peak returns the snapshot with the most memory, or nil. It prefers massif's own: only that has a tree, and it is at most 1 % below the true
// peak.
func (r Result) Peak() *Snapshot {
	var most *Snapshot
	for i := range r.Snapshots {
		s := &r.Snapshots[i]
		if s.Peak {
			return s
		}
		if most == nil || s.Bytes() > most.Bytes() {
			most = s
		}
	}
	return most
}
