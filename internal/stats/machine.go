package stats

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/protocol"
	"loadstone.dev/loadstone/internal/record"
)

// machineFact is one fact of the machine of a role.
type machineFact struct{ role, name, value string }

// usual is what all trials of a run must share to be compared: the machine of the server and of each generator, the image of each
// implementation, and the script of each load. Of machines and images it is what most trials have, or of two that are equally
// frequent the one that came first; of scripts it is what the run froze at its start.
type usual struct {
	// machines is by role and name of the fact, images by implementation, scripts by load. What nobody knows is in none of them.
	machines        map[[2]string]string
	images, scripts map[string]string
}

// newUsual finds what most trials share. The facts are settled one after the other, each among the trials that agree on those before
// it, so that at least one trial agrees on all of them: majorities of single facts may be of machines that exclude each other.
func newUsual(data record.RunData) *usual {
	u := &usual{machines: map[[2]string]string{}, images: map[string]string{}, scripts: map[string]string{}}
	var trials []*record.TrialData
	for i := range data.Trials {
		trials = append(trials, &data.Trials[i])
	}
	slices.SortStableFunc(trials, func(a, b *record.TrialData) int {
		return cmp.Or(cmp.Compare(a.Manifest.Block, b.Manifest.Block), cmp.Compare(a.Manifest.Index, b.Manifest.Index))
	})
	var keys [][2]string
	for _, t := range trials {
		for _, f := range machineOf(t) {
			if key := [2]string{f.role, f.name}; !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	agreeing := trials
	for _, key := range keys {
		of := func(t *record.TrialData) string { return valueOf(t, key) }
		value := mostFrequent(agreeing, of)
		u.machines[key] = value
		agreeing = slices.DeleteFunc(slices.Clone(agreeing), func(t *record.TrialData) bool { return of(t) != "" && of(t) != value })
	}
	// An image is settled among the trials on the usual machine, unless its implementation has none.
	for _, list := range [][]*record.TrialData{agreeing, trials} {
		for _, t := range list {
			if name := t.Manifest.Implementation; u.images[name] == "" {
				u.images[name] = mostFrequent(list, func(o *record.TrialData) string {
					if o.Manifest.Implementation != name {
						return ""
					}
					return imageOf(o)
				})
			}
		}
	}
	for _, s := range data.Manifest.Scripts {
		u.scripts[s.Load] = s.SHA256
	}
	return u
}

// mostFrequent is the most frequent value of trials, of two the one that comes first; empty if none is known.
func mostFrequent(trials []*record.TrialData, of func(*record.TrialData) string) string {
	counts, best := map[string]int{}, ""
	for _, t := range trials {
		if v := of(t); v != "" {
			counts[v]++
		}
	}
	for _, t := range trials {
		if v := of(t); counts[v] > counts[best] {
			best = v
		}
	}
	return best
}

// machineOf are the known facts of the machines of a trial. What a record does not have, or its agent could not read, is left out: it
// accuses nobody.
func machineOf(t *record.TrialData) []machineFact {
	out := machineFacts(record.RoleServer, nodeOf(t, record.RoleServer), t.Server.Environment)
	for i, g := range t.Generators {
		role := protocol.RoleGenerator(int32(i))
		out = append(out, machineFacts(role, nodeOf(t, role), g.Environment)...)
	}
	return out
}

func machineFacts(role, node string, e record.Environment) []machineFact {
	all := []machineFact{
		{role, "node", cmp.Or(node, e.Node)}, {role, "CPU", e.CPUModel}, {role, "kernel", e.Kernel},
		{role, "frequency governor", e.Governor}, {role, "microcode", e.Microcode}, {role, "load generator", e.ToolVersion},
	}
	return slices.DeleteFunc(all, func(f machineFact) bool { return f.value == "" || strings.Contains(f.value, record.Unknown) })
}

// nodeOf is where Kubernetes has put a pod of a trial; empty if that is not known.
func nodeOf(t *record.TrialData, role string) string {
	if p := find(t.Manifest.Pods, func(p *record.PodRecord) bool { return p.Role == role }); p != nil {
		return p.Node
	}
	return ""
}

// imageOf is the digest of the image that ran as the server of a trial, without the name under which it was pulled: one image may have
// several. It is empty if it is not known.
func imageOf(t *record.TrialData) string {
	p := find(t.Manifest.Pods, func(p *record.PodRecord) bool { return p.Role == record.RoleServer })
	if p == nil {
		return ""
	}
	return p.ImageID[strings.LastIndex(p.ImageID, "@")+1:]
}

func valueOf(t *record.TrialData, key [2]string) string {
	for _, f := range machineOf(t) {
		if f.role == key[0] && f.name == key[1] {
			return f.value
		}
	}
	return ""
}

// checkMachine voids a cell whose server or generators were not on the machines of the run, or whose tools were not those of the run:
// then a difference is the machine's as likely as the implementation's.
func checkMachine(f *facts) []Reason {
	var out []Reason
	for _, fact := range machineOf(f.trial) {
		want := f.rules.usual.machines[[2]string{fact.role, fact.name}]
		if fact.value == want {
			continue
		}
		if n := len(out); n == 0 || out[n-1].Subject != fact.role {
			out = append(out, Reason{Code: DifferentMachine, Weight: Void, Scope: ScopeCell, Subject: fact.role})
		}
		last := &out[len(out)-1]
		if last.Detail != "" {
			last.Detail += ", "
		}
		last.Detail += fmt.Sprintf("%s %s instead of %s", fact.name, fact.value, want)
	}
	return out
}

// checkImage voids a cell whose implementation ran from another image than in the other trials: it is another implementation then.
func checkImage(f *facts) []Reason {
	own, want := imageOf(f.trial), f.rules.usual.images[f.trial.Manifest.Implementation]
	if own == "" || own == want {
		return nil
	}
	return []Reason{{Code: DifferentImage, Weight: Void, Scope: ScopeCell, Subject: record.RoleServer, Detail: fmt.Sprintf("%s instead of %s", own, want)}}
}

// checkScript voids a cell of which a generator ran another script than the one that the run froze at its start: it is another load.
func checkScript(f *facts) []Reason {
	want := f.rules.usual.scripts[f.level.Load]
	if want == "" {
		return nil
	}
	var out []Reason
	for i, g := range f.trial.Generators {
		own := find(g.Scripts, func(s *record.ScriptRun) bool { return s.Load == f.level.Load })
		if own != nil && own.SHA256 != want {
			out = append(out, Reason{
				Code: DifferentScript, Weight: Void, Scope: ScopeCell, Subject: protocol.RoleGenerator(int32(i)),
				Detail: fmt.Sprintf("SHA-256 %s instead of %s", own.SHA256, want),
			})
		}
	}
	return out
}

// sameScript says why two runs cannot be compared at a level of one load by its script; empty if they can. A run that has frozen no
// script does not say which one it was, and is believed.
func sameScript(now, then *record.RunData, before, l Level) (why ObjectiveReason, detail string) {
	if before.Scripted != l.Scripted {
		return LoadDiffers, fmt.Sprintf("script of load %s is set in one of the runs only", l.Load)
	}
	a, b := scriptOf(then.Manifest, l.Load), scriptOf(now.Manifest, l.Load)
	if a != "" && b != "" && a != b {
		return LoadDiffers, fmt.Sprintf("script of load %s had SHA-256 %s and has %s", l.Load, a, b)
	}
	return "", ""
}

// scriptOf is the digest of the script of a load, as a run has frozen it; empty if it has frozen none.
func scriptOf(m record.RunManifest, load string) string {
	if s := find(m.Scripts, func(s *record.FrozenScript) bool { return s.Load == load }); s != nil {
		return s.SHA256
	}
	return ""
}
