package massif

// Result is what massif saw of one process. Sizes are in bytes.
type Result struct {
	Command string `json:"command"`
	// Options are those that massif was given.
	Options string `json:"options,omitempty"`
	// TimeUnit is what Time counts: "i" for instructions, "ms", or "B" for bytes allocated and freed.
	TimeUnit  string     `json:"timeUnit"`
	Snapshots []Snapshot `json:"snapshots"`
}

// Snapshot is the memory at one moment.
type Snapshot struct {
	Time int64 `json:"time"`
	// HeapBytes were asked for, ExtraBytes are what the allocator adds to them.
	HeapBytes  int64 `json:"heapBytes"`
	ExtraBytes int64 `json:"extraBytes"`
	// StackBytes is 0 unless massif was told to look at stacks.
	StackBytes int64 `json:"stackBytes"`
	// Peak reports whether massif chose the snapshot as that of the peak.
	Peak bool `json:"peak,omitempty"`
	// Tree is what allocated the heap; nil where massif did not write it.
	Tree *Node `json:"tree,omitempty"`
}

// Bytes is all memory of a snapshot.
func (s Snapshot) Bytes() int64 { return s.HeapBytes + s.ExtraBytes + s.StackBytes }

// Node is a place that allocated, or that called what did.
type Node struct {
	Bytes int64 `json:"bytes"`
	// Function is empty where symbols are missing, and a sentence of massif's where the node is no function.
	Function string `json:"function"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	// Callers are the nodes that the memory divides into, the largest first.
	Callers []Node `json:"callers,omitempty"`
}

// HeapSeen reports whether massif saw any allocation at all.
func (r Result) HeapSeen() bool { return r.PeakHeap() > 0 }

// PeakHeap is the most bytes that the program had asked for in any snapshot. Where massif looks at stacks, too, the snapshot of the peak may
// be that of a deep stack, and the heap's own peak may lie between two snapshots.
func (r Result) PeakHeap() int64 {
	var most int64
	for _, s := range r.Snapshots {
		most = max(most, s.HeapBytes)
	}
	return most
}

// PeakStacks is the most bytes that the stacks had in any snapshot; 0 unless massif was told to look at stacks.
func (r Result) PeakStacks() int64 {
	var most int64
	for _, s := range r.Snapshots {
		most = max(most, s.StackBytes)
	}
	return most
}

// Peak is the snapshot with the most memory, heap and stacks; nil if there is none. Massif's own choice comes first: it is the one with a tree, and at most 1 %
// below the true peak.
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
