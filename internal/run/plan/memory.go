package plan

import (
	"fmt"
	"slices"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind/kinds"
)

// fitsMemory says whether a node for each pod of the plan that has CPUs enough has memory enough, too; nil if there is one. Each profile is asked
// about, since each profiler needs memory of its own besides.
func (p Plan) fitsMemory(nodes []Node) *Violation {
	for _, line := range slices.Concat(p.distinct(), p.Following) {
		for _, role := range []string{v1alpha1.RoleServer, v1alpha1.RoleGenerator} {
			for _, s := range p.shares(line, role) {
				if best, found := s.roomiest(ofRole(nodes, role)); found && best.MemoryBytes < s.memoryBytes() {
					return p.tooLittle(line, s, best)
				}
			}
		}
	}
	return nil
}

// memoryBytes is what the members of a share ask for together.
func (s share) memoryBytes() int64 {
	var sum int64
	for _, m := range s.members {
		sum += m.MemoryBytes()
	}
	return sum
}

// roomiest is the node with the most memory that has CPUs enough; none is found if there is none, or the memory of one is unknown.
func (s share) roomiest(nodes []Node) (best Node, found bool) {
	for _, n := range nodes {
		switch {
		case n.MilliCPU < s.milliCPU:
		case n.MemoryBytes == 0:
			return Node{}, false
		case n.MemoryBytes > best.MemoryBytes:
			best = n
		}
	}
	return best, best.Name != ""
}

// tooLittle says that no node has memory enough for a share.
func (p Plan) tooLittle(line record.PlannedTrial, s share, best Node) *Violation {
	first := s.members[0]
	subject, way := "the pod of "+first.Name, ""
	if server, err := record.ServerIndex(first.Name); err == nil && server < len(line.Servers) {
		i := slices.IndexFunc(p.Implementations, func(i record.Implementation) bool { return i.Name == line.Servers[server] })
		subject, way = fmt.Sprintf("spec.implementations[%d].memory is %s: its pod", i, Memory(p.Implementations[i].MemoryBytes)), "lower it, or "
		if field := kinds.Field(line); field != "" {
			subject = fmt.Sprintf("%s under %s, with what is needed besides,", subject, field)
		}
	}
	return &Violation{Reason: v1alpha1.ReasonNotEnoughMemory, Message: fmt.Sprintf(
		"%s needs %s of memory on one node, and the largest node for a %s with CPUs enough, %s, has %s allocatable: %sadd a larger node labelled %s=%s",
		subject, Memory(s.memoryBytes()), first.Role, best.Name, mebibytes(best.MemoryBytes), way, v1alpha1.LabelRole, first.Role)}
}

// mebibytes prints an amount of memory in whole mebibytes: nodes have odd amounts.
func mebibytes(bytes int64) string { return fmt.Sprintf("%dMi", bytes>>20) }
