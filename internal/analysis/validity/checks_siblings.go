package validity

import (
	"fmt"
	"strconv"
	"strings"

	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/record"
)

// checkSiblings finds a generator on the sibling hardware thread of the server's core. Two busy threads of a core
// have about 60 % of its speed each, depending on the other's work. So this weighs like missing pinning.
func checkSiblings(f *facts) []Reason {
	var out []Reason
	for _, g := range f.OnThreads() {
		out = append(out, Reason{Code: SharedCore, Weight: weight(f.rules.pinning), Scope: ScopeCell, Subject: g.Role, Detail: g.List})
	}
	return out
}

// UnseenSiblings returns a sentence if the sibling threads of the server's cores were not observed; empty if there
// are none.
func UnseenSiblings(server record.ObserverResult, seen *record.CellObservation) string {
	var list []string
	for _, cpu := range measured.Siblings(server, seen) {
		list = append(list, strconv.Itoa(cpu))
	}
	if len(list) == 0 {
		return ""
	}
	return fmt.Sprintf("The use of the hardware threads that share a core with the server's CPUs (CPUs %s) is unknown.", strings.Join(list, ","))
}
