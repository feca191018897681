package measured

import (
	"cmp"
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
)

type factOf struct{ role, name string }

type machine struct {
	names  []factOf
	values map[factOf]string
}

// Usual is what a run's trials must share: machines, images and scripts. Machines and images are those of most
// trials, scripts those frozen at the start.
type Usual struct {
	machine         map[factOf]string
	images, scripts map[string]string
}

// NewUsual settles one fact after another, each among the trials that agree on the earlier ones. So at least one
// trial agrees on all; separate majorities may exclude each other.
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
		// Only trials on the usual machine count, unless the implementation has none there.
		u.images[i.Name] = cmp.Or(mostFrequent(agreeing, of), mostFrequent(trials, of))
	}
	for _, s := range data.Manifest.Scripts {
		u.scripts[s.Load] = s.SHA256
	}
	return u
}

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

// machineOf leaves out missing or unreadable facts, so they do not count against it.
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

// imageOf returns the server's digest without the image's name, since one image may have several.
func imageOf(t *record.TrialData) string {
	p := util.First(t.Manifest.Pods, func(p *record.PodRecord) bool { return p.Member == record.MemberServer(0) })
	if p == nil {
		return ""
	}
	return p.ImageID[strings.LastIndex(p.ImageID, "@")+1:]
}

// Difference is a fact that most trials do not share.
type Difference struct {
	Role, Fact string
	Own, Usual string
}

// OtherMachine lists how a cell's machines differ from the usual ones.
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

// OtherImage reports whether the server's known image is unusual, with both digests.
func (u *Usual) OtherImage(f *Facts) (own, want string, other bool) {
	own, want = imageOf(f.Trial), u.images[f.Trial.Manifest.Servers[0]]
	return own, want, own != "" && own != want
}

// Script returns the SHA-256 of a load's frozen script.
func (u *Usual) Script(load string) string { return u.scripts[load] }
