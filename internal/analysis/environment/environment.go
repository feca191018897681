package environment

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
)

// Key names one fact of the environment.
type Key string

// The facts, in listing order.
const (
	Node         Key = "node"
	Kernel       Key = "kernel"
	OS           Key = "os"
	CPUModel     Key = "cpuModel"
	OnlineCPUs   Key = "onlineCPUs"
	CPUs         Key = "cpus"
	SMTSiblings  Key = "smtSiblings"
	Governor     Key = "governor"
	Microcode    Key = "microcode"
	Memory       Key = "memoryBytes"
	Cgroup       Key = "cgroupVersion"
	QOSClass     Key = "qosClass"
	Image        Key = "image"
	ImageID      Key = "imageID"
	ToolVersion  Key = "toolVersion"
	AgentVersion Key = "agentVersion"
	Headers      Key = "responseHeaderBytes"
	TLS          Key = "tls"
	Certificate  Key = "certificate"
	Operator     Key = "operatorVersion"
)

// Fact is one property. Implementation is set if it is an implementation's own.
type Fact struct {
	Role           string  `json:"role"`
	Key            Key     `json:"key"`
	Implementation string  `json:"implementation,omitempty"`
	Values         []Value `json:"values"`
	// Differs: trials had unequal conditions.
	Differs bool `json:"differs"`
}

// Value is a value and its number of trials.
type Value struct {
	Value  string `json:"value"`
	Trials int    `json:"trials"`
}

type factBook struct {
	facts []Fact
}

func (b *factBook) note(role string, key Key, implementation, value string) {
	if value == "" {
		return
	}
	f := util.First(b.facts, func(f *Fact) bool { return f.Role == role && f.Key == key && f.Implementation == implementation })
	if f == nil {
		b.facts = append(b.facts, Fact{Role: role, Key: key, Implementation: implementation})
		f = &b.facts[len(b.facts)-1]
	}
	if v := util.First(f.Values, func(v *Value) bool { return v.Value == value }); v != nil {
		v.Trials++
		return
	}
	f.Values = append(f.Values, Value{Value: value, Trials: 1})
}

const (
	roleServer    = "server"
	roleGenerator = "generator"
)

// Of lists what the trials ran on, and where they differ.
func Of(data record.RunData, p planned.Run) []Fact {
	var b factBook
	for _, i := range p.Implementations {
		for _, t := range data.Trials {
			if t.Manifest.Servers[0] == i.Name {
				b.trial(t)
			}
		}
	}
	roles := []string{roleServer, roleGenerator, ""}
	slices.SortStableFunc(b.facts, func(a, c Fact) int {
		return cmp.Compare(slices.Index(roles, a.Role), slices.Index(roles, c.Role))
	})
	out := []Fact{}
	for _, f := range b.facts {
		slices.SortStableFunc(f.Values, func(a, c Value) int {
			return cmp.Or(cmp.Compare(c.Trials, a.Trials), cmp.Compare(a.Value, c.Value))
		})
		f.Differs = len(f.Values) > 1
		out = append(out, f)
	}
	return out
}

// trial notes one trial's facts. The generators' facts form one value, so several nodes in a trial are no difference
// between trials.
func (b *factBook) trial(t record.TrialData) {
	own, _ := t.Server(0)
	b.machine(roleServer, own.Environment)
	var generators factBook
	for _, g := range t.Generators {
		generators.machine(roleGenerator, g.Environment)
	}
	b.processes(t, &generators)
	b.together(generators)
	b.note(roleServer, Headers, t.Manifest.Servers[0], headers(measured.Responses(&t)))
	b.encryption(t)
	for _, p := range t.Manifest.Pods {
		role, implementation := roleGenerator, ""
		if record.IsServer(p.Member) {
			role, implementation = roleServer, t.Manifest.Servers[0]
		}
		b.note(role, QOSClass, "", p.QOSClass)
		b.note(role, Image, implementation, p.Image)
		b.note(role, ImageID, implementation, p.ImageID)
	}
	b.note("", Operator, "", t.Manifest.Operator)
}

// headers lists the header bytes of each answer, work that no body shows. It skips HTTP/2, where compression makes
// them depend on the time of day.
func headers(responses []record.Response) string {
	var out []string
	for _, r := range responses {
		if strings.HasSuffix(r.Key(), " "+record.InHTTP2) {
			continue
		}
		out = append(out, r.Key()+" "+strconv.FormatInt(r.HeaderBytes, 10))
	}
	return strings.Join(out, ", ")
}

func (b *factBook) machine(role string, e record.Environment) {
	b.note(role, Node, "", e.Node)
	b.note(role, Kernel, "", e.Kernel)
	b.note(role, OS, "", e.OS)
	b.note(role, CPUModel, "", e.CPUModel)
	b.note(role, OnlineCPUs, "", e.OnlineCPUs)
	b.note(role, SMTSiblings, "", e.SMTSiblings)
	b.note(role, Governor, "", e.Governor)
	b.note(role, Microcode, "", e.Microcode)
	if e.MemoryBytes > 0 {
		b.note(role, Memory, "", strconv.FormatInt(e.MemoryBytes, 10))
	}
	b.note(role, Cgroup, "", e.CgroupVersion)
	b.note(role, ToolVersion, "", e.ToolVersion)
	b.note(role, AgentVersion, "", e.AgentVersion)
}

func (b *factBook) together(of factBook) {
	for _, f := range of.facts {
		var values []string
		for _, v := range f.Values {
			values = append(values, v.Value)
		}
		b.note(f.Role, f.Key, f.Implementation, strings.Join(values, ", "))
	}
}

func (b *factBook) processes(t record.TrialData, generators *factBook) {
	var server []string
	own, _ := t.Server(0)
	for _, c := range own.Cells {
		server = append(server, c.CPUsAllowed)
	}
	for _, v := range util.Distinct(server) {
		b.note(roleServer, CPUs, "", v)
	}
	for _, g := range t.Generators {
		var generator []string
		for _, c := range g.Cells {
			generator = append(generator, c.CPUsAllowed)
		}
		for _, v := range util.Distinct(generator) {
			generators.note(roleGenerator, CPUs, "", v)
		}
	}
}

// Unknowns returns what agents could not read, with the number of cells that lack it.
func Unknowns(data record.RunData, p planned.Run) []Unknown {
	out := []Unknown{}
	note := func(implementation, sentence string) {
		u := util.First(out, func(u *Unknown) bool { return u.Implementation == implementation && u.Sentence == sentence })
		if u != nil {
			u.Cells++
			return
		}
		out = append(out, Unknown{Implementation: implementation, Sentence: sentence, Cells: 1})
	}
	for _, i := range p.Implementations {
		for _, t := range data.Trials {
			if t.Manifest.Servers[0] == i.Name {
				eachUnknown(t, func(s string) { note(i.Name, s) })
			}
		}
	}
	return out
}

func eachUnknown(t record.TrialData, visit func(string)) {
	own, _ := t.Server(0)
	for _, c := range own.Cells {
		for _, s := range c.Unknown {
			visit(s)
		}
		if s := validity.UnseenSiblings(own, &c); s != "" {
			visit(s)
		}
	}
	for _, g := range t.Generators {
		for _, c := range g.Cells {
			if c.Measurement == nil {
				continue
			}
			for _, s := range c.Measurement.Unknown {
				visit(s)
			}
		}
	}
}

// Unknown is a fact that a tool or observer could not determine.
type Unknown struct {
	Implementation string `json:"implementation"`
	Sentence       string `json:"sentence"`
	Cells          int    `json:"cells"`
}

// Fingerprint digests what shapes a machine's noise: nodes, kernels, CPU models, online CPUs, SMT siblings,
// governors, cgroup versions, and whether the run was a duet. Images and the kubelet's choice of CPUs are left out.
// Empty if no trial recorded a machine.
func Fingerprint(data record.RunData) string {
	var facts []string
	note := func(role string, e record.Environment) {
		if e.Kernel == "" {
			return
		}
		facts = append(facts, strings.Join([]string{role, e.Node, e.Kernel, e.CPUModel, e.OnlineCPUs, e.SMTSiblings, e.Governor, e.CgroupVersion}, "\x00"))
	}
	for _, t := range data.Trials {
		role := roleServer
		if len(t.Servers) > 1 {
			role = "server of a duet"
		}
		for _, s := range t.Servers {
			note(role, s.Environment)
		}
		for _, g := range t.Generators {
			note(roleGenerator, g.Environment)
		}
	}
	if len(facts) == 0 {
		return ""
	}
	sum := sha256.Sum256([]byte(strings.Join(util.Distinct(facts), "\n")))
	return hex.EncodeToString(sum[:8])
}
