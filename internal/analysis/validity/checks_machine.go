package validity

import (
	"fmt"

	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
)

// checkMachine voids a cell whose server, or one of whose generators, was not on the machine of most trials, or had not their tools:
// then a difference is the machine's as likely as the implementation's.
func checkMachine(f *facts) []Reason {
	var out []Reason
	for _, d := range f.rules.usual.OtherMachine(f.Facts) {
		if n := len(out); n == 0 || out[n-1].Subject != d.Role {
			out = append(out, Reason{Code: DifferentMachine, Weight: Void, Scope: ScopeCell, Subject: d.Role})
		}
		last := &out[len(out)-1]
		if last.Detail != "" {
			last.Detail += ", "
		}
		last.Detail += fmt.Sprintf("%s %s instead of %s", d.Fact, d.Own, d.Usual)
	}
	return out
}

// checkImage voids a cell whose implementation ran from another image than in the other trials: it is another implementation then.
func checkImage(f *facts) []Reason {
	own, want, other := f.rules.usual.OtherImage(f.Facts)
	if !other {
		return nil
	}
	return []Reason{{Code: DifferentImage, Weight: Void, Scope: ScopeCell, Subject: measured.SubjectServer, Detail: fmt.Sprintf("%s instead of %s", own, want)}}
}

// checkScript voids a cell of which a generator ran another script than the one that the run froze at its start: it is another load.
func checkScript(f *facts) []Reason {
	want := f.rules.usual.Script(f.Level.Load)
	if want == "" {
		return nil
	}
	var out []Reason
	for i, g := range f.Trial.Generators {
		own := util.First(g.Scripts, func(s *record.ScriptRun) bool { return s.Load == f.Level.Load })
		if own != nil && own.SHA256 != want {
			out = append(out, Reason{
				Code: DifferentScript, Weight: Void, Scope: ScopeCell, Subject: record.MemberGenerator(i),
				Detail: fmt.Sprintf("SHA-256 %s instead of %s", own.SHA256, want),
			})
		}
	}
	return out
}
