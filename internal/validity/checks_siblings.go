package validity

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"loadstone.dev/loadstone/internal/cpuset"
	"loadstone.dev/loadstone/internal/record"
)

// siblings are the hardware threads that share a core with the server's CPUs without being its own; none if the kernel told nothing. An
// observer reads them once a trial, of the CPUs of its last cell: those of other CPUs say nothing.
func siblings(server record.ObserverResult, seen *record.CellObservation) []int {
	own, threads := cpuset.Parse(seen.CPUsAllowed), cpuset.Parse(server.Environment.SMTSiblings)
	if len(own) == 0 {
		return nil
	}
	for _, cpu := range own {
		if !slices.Contains(threads, cpu) {
			return nil
		}
	}
	return slices.DeleteFunc(threads, func(cpu int) bool { return slices.Contains(own, cpu) })
}

// checkSiblings finds a generator on the other hardware thread of the server's core. Two busy threads of a core have about 60 % of its
// speed each, and how much it is depends on what the other does: a server beside its own generator is measured on a CPU that is not its
// own, which weighs like a lack of pinning.
func checkSiblings(f *facts) []Reason {
	if f.seen == nil {
		return nil
	}
	threads := siblings(f.trial.Servers[0], f.seen)
	var out []Reason
	for i, r := range f.runs {
		if r == nil || f.trial.Servers[0].Environment.Node != f.trial.Generators[i].Environment.Node || !overlap(threads, cpuset.Parse(r.CPUsAllowed)) {
			continue
		}
		out = append(out, Reason{Code: SharedCore, Weight: weight(f.rules.pinning), Scope: ScopeCell, Subject: generator(i), Detail: r.CPUsAllowed})
	}
	return out
}

// UnseenSiblings says, as a sentence, that nobody has looked at who used the other threads of the server's cores; empty if there are none.
func UnseenSiblings(server record.ObserverResult, seen *record.CellObservation) string {
	var list []string
	for _, cpu := range siblings(server, seen) {
		list = append(list, strconv.Itoa(cpu))
	}
	if len(list) == 0 {
		return ""
	}
	return fmt.Sprintf("Who used the hardware threads that share a core with the server's CPUs (CPUs %s) is unknown.", strings.Join(list, ","))
}
