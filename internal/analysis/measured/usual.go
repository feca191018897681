package measured

import (
	"cmp"
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
)

// factOf names a fact of the machine of a role.
type factOf struct{ role, name string }

// machine are the known facts of the machines of a trial, in their order.
type machine struct {
	names  []factOf
	values map[factOf]string
}

// Usual is what all trials of a run must share to be compared: the machine of the server and of each generator, the image of each
// implementation, and the script of each load. Of machines and images it is what most trials have, or of two that are equally
// frequent the one that came first; of scripts it is what the run froze at its start.
type Usual struct {
	// images is by implementation, scripts by load. What nobody knows is in none of them.
	machine         map[factOf]string
	images, scripts map[string]string
}

// NewUsual finds what most trials share. The facts are settled one after the other, each among the trials that agree on those before
// it, so that at least one trial agrees on all of them: majorities of single facts may be of machines that exclude each other.
func NewUsual(data record.RunData) *Usual {
	u := &Usual{machine: map[factOf]string{}, images: map[string]string{}, scripts: map[string]string{}}
	trials := inOrder(data.Trials)
	machines := map[*record.TrialData]machine{}
	var names []factOf
	for _, t := range trials {
		machines[t] = machineOf(t, len(t.Generators))
		for _, name := range machines[t].names {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	agreeing := slices.Clone(trials)
	for _, name := range names {
		of := func(t *record.TrialData) string { return machines[t].values[name] }
		value := mostFrequent(agreeing, of)
		u.machine[name] = value
		agreeing = slices.DeleteFunc(agreeing, func(t *record.TrialData) bool { return of(t) != "" && of(t) != value })
	}
	for _, i := range data.Manifest.Plan.Implementations {
		of := func(t *record.TrialData) string {
			if t.Manifest.Servers[0] != i.Name {
				return ""
			}
			return imageOf(t)
		}
		// It is settled among the trials on the usual machine, unless the implementation has none there.
		u.images[i.Name] = cmp.Or(mostFrequent(agreeing, of), mostFrequent(trials, of))
	}
	for _, s := range data.Manifest.Scripts {
		u.scripts[s.Load] = s.SHA256
	}
	return u
}

// inOrder are trials in the order in which they were measured.
func inOrder(all []record.TrialData) []*record.TrialData {
	var trials []*record.TrialData
	for i := range all {
		trials = append(trials, &all[i])
	}
	slices.SortStableFunc(trials, func(a, b *record.TrialData) int {
		return cmp.Or(cmp.Compare(a.Manifest.Block, b.Manifest.Block), cmp.Compare(a.Manifest.Index, b.Manifest.Index))
	})
	return trials
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

// machineOf are the facts of the server's machine and of those of the first generators. What a record does not have, or its agent could
// not read, is left out: it accuses nobody.
func machineOf(t *record.TrialData, generators int) machine {
	m := machine{values: map[factOf]string{}}
	own, _ := t.Server(0)
	m.add(t, SubjectServer, own.Environment)
	for i := range min(generators, len(t.Generators)) {
		m.add(t, record.MemberGenerator(i), t.Generators[i].Environment)
	}
	return m
}

func (m *machine) add(t *record.TrialData, role string, e record.Environment) {
	for _, f := range []struct{ name, value string }{
		{"node", cmp.Or(nodeOf(t, role), e.Node)},
		{"CPU", e.CPUModel},
		{"kernel", e.Kernel},
		{"frequency governor", e.Governor},
		{"microcode", e.Microcode},
		{"load generator", e.ToolVersion},
	} {
		if f.value == "" || strings.Contains(f.value, record.Unknown) {
			continue
		}
		name := factOf{role, f.name}
		m.names, m.values[name] = append(m.names, name), f.value
	}
}

// nodeOf is where Kubernetes has put a pod of a trial; empty if that is not known.
func nodeOf(t *record.TrialData, subject string) string {
	member := subject
	if subject == SubjectServer {
		member = record.MemberServer(0)
	}
	if p := util.First(t.Manifest.Pods, func(p *record.PodRecord) bool { return p.Member == member }); p != nil {
		return p.Node
	}
	return ""
}

// imageOf is the digest of the image that ran as the server of a trial, without the name under which it was pulled: one image may have
// several. It is empty if it is not known.
func imageOf(t *record.TrialData) string {
	p := util.First(t.Manifest.Pods, func(p *record.PodRecord) bool { return p.Member == record.MemberServer(0) })
	if p == nil {
		return ""
	}
	return p.ImageID[strings.LastIndex(p.ImageID, "@")+1:]
}

// Difference is a fact of a machine that is not what most trials have.
type Difference struct {
	// Role says whose machine it is, Fact what differs.
	Role, Fact string
	Own, Usual string
}

// OtherMachine lists what differs between a cell's machines and the usual ones, by role.
func (u *Usual) OtherMachine(f *Facts) []Difference {
	own := machineOf(f.Trial, len(f.Runs))
	var out []Difference
	for _, name := range own.names {
		if value, want := own.values[name], u.machine[name]; value != want {
			out = append(out, Difference{Role: name.role, Fact: name.name, Own: value, Usual: want})
		}
	}
	return out
}

// OtherImage reports whether the cell's server ran from another image than in the implementation's other trials, and gives both digests. One
// that is not known is no other.
func (u *Usual) OtherImage(f *Facts) (own, want string, other bool) {
	own, want = imageOf(f.Trial), u.images[f.Trial.Manifest.Servers[0]]
	return own, want, own != "" && own != want
}

// Script is the SHA-256 of the script that the run froze for a load; empty if the load has none.
func (u *Usual) Script(load string) string { return u.scripts[load] }
