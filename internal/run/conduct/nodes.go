package conduct

import "fmt"

// AwaitsNode is a part of what a trial says that waits for the nodes to which its run is bound.
const AwaitsNode = " is waiting for node "

// Binding is the trial to whose nodes a run is bound: the first that is stored. One that was lost has left nothing with which others would
// have to be compared. It is nil as long as there is none.
func (l Trials) Binding() *Trial {
	sorted := l.inOrder()
	for i := range sorted {
		if t := &sorted[i]; t.Stored != nil && len(t.Nodes) > 0 {
			return t
		}
	}
	return nil
}

// Bound are the nodes to which the members of every further trial of a block are bound, by their names; nil if they may still be chosen. A trial that
// follows the blocks is compared with nothing that they have measured, and goes where it has room.
func (l Trials) Bound(follows bool) map[string]string {
	first := l.Binding()
	if first == nil || follows {
		return nil
	}
	nodes := make(map[string]string, len(first.Nodes))
	for _, n := range first.Nodes {
		nodes[n.Member] = n.Node
	}
	return nodes
}

// nodesNote returns a sentence about the nodes to which the run was bound.
func nodesNote(first *Trial) string {
	note := fmt.Sprintf("all trials of blocks after %s were bound to its nodes:", first.Name)
	for i, n := range first.Nodes {
		if i > 0 {
			note += ","
		}
		note += fmt.Sprintf(" %s on %s", n.Member, n.Node)
	}
	return note
}
