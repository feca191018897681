package validity

import (
	"slices"

	"loadstone.dev/loadstone/internal/cpuset"
)

// checkTogether wants the two servers of a duet to be allowed on the same CPUs: what disturbs one shall disturb the other.
func checkTogether(f *facts) []Reason {
	if len(f.trial.Manifest.Servers) < 2 || f.seen == nil {
		return nil
	}
	list := ""
	if f.peer != nil {
		list = f.peer.CPUsAllowed
	}
	own := cpuset.Parse(f.seen.CPUsAllowed)
	node := f.trial.Servers[0].Environment.Node == f.trial.Servers[1].Environment.Node
	if len(own) > 0 && node && slices.Equal(own, cpuset.Parse(list)) {
		return nil
	}
	return []Reason{{Code: NotTogether, Weight: weight(f.rules.pinning), Scope: ScopeCell, Subject: SubjectServer, Detail: list}}
}

// peerNanos is the CPU time of the other server of a duet, who is no stranger; 0 outside one.
func (f *facts) peerNanos() int64 {
	if f.peer == nil {
		return 0
	}
	return f.peer.CPUNanos
}
