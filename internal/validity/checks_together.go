package validity

import (
	"slices"

	"loadstone.dev/loadstone/internal/cpuset"
	"loadstone.dev/loadstone/internal/record"
)

// checkTogether wants the two servers of a duet to be allowed on the same CPUs: what disturbs one shall disturb the other.
func checkTogether(f *facts) []Reason {
	if f.trial.Manifest.Beside == "" || f.seen == nil {
		return nil
	}
	list := ""
	if f.beside != nil {
		list = f.beside.CPUsAllowed
	}
	own := cpuset.Parse(f.seen.CPUsAllowed)
	node := f.trial.Server.Environment.Node == f.trial.Beside.Environment.Node
	if len(own) > 0 && node && slices.Equal(own, cpuset.Parse(list)) {
		return nil
	}
	return []Reason{{Code: NotTogether, Weight: weight(f.rules.pinning), Scope: ScopeCell, Subject: record.RoleServer, Detail: list}}
}

// besideNanos is the CPU time of the other server of a duet, who is no stranger; 0 outside one.
func (f *facts) besideNanos() int64 {
	if f.beside == nil {
		return 0
	}
	return f.beside.CPUNanos
}
