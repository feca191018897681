package analysis

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"loadstone.dev/loadstone/internal/measured"
	"loadstone.dev/loadstone/internal/pick"
	"loadstone.dev/loadstone/internal/planned"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/validity"
)

// FactKey names one fact of the environment.
type FactKey string

// The facts, in the order in which they are listed.
const (
	FactNode         FactKey = "node"
	FactKernel       FactKey = "kernel"
	FactOS           FactKey = "os"
	FactCPUModel     FactKey = "cpuModel"
	FactOnlineCPUs   FactKey = "onlineCPUs"
	FactCPUs         FactKey = "cpus"
	FactSMTSiblings  FactKey = "smtSiblings"
	FactGovernor     FactKey = "governor"
	FactMicrocode    FactKey = "microcode"
	FactMemory       FactKey = "memoryBytes"
	FactCgroup       FactKey = "cgroupVersion"
	FactQOSClass     FactKey = "qosClass"
	FactImage        FactKey = "image"
	FactImageID      FactKey = "imageID"
	FactToolVersion  FactKey = "toolVersion"
	FactAgentVersion FactKey = "agentVersion"
	FactHeaders      FactKey = "responseHeaderBytes"
	FactOperator     FactKey = "operatorVersion"
)

// Fact is one property of what took part. Implementation is set where the property is the implementation's own.
type Fact struct {
	Role           string  `json:"role"`
	Key            FactKey `json:"key"`
	Implementation string  `json:"implementation,omitempty"`
	// Values are the distinct values, the most frequent first.
	Values []FactValue `json:"values"`
	// Differs is true if the trials do not agree: then they were not measured under equal conditions.
	Differs bool `json:"differs"`
}

// FactValue is a value and the number of trials that have it.
type FactValue struct {
	Value  string `json:"value"`
	Trials int    `json:"trials"`
}

// factBook collects facts in the order in which they are first seen.
type factBook struct {
	facts []Fact
}

// note counts one trial's value; an empty one is not known and not counted.
func (b *factBook) note(role string, key FactKey, implementation, value string) {
	if value == "" {
		return
	}
	f := pick.First(b.facts, func(f *Fact) bool { return f.Role == role && f.Key == key && f.Implementation == implementation })
	if f == nil {
		b.facts = append(b.facts, Fact{Role: role, Key: key, Implementation: implementation})
		f = &b.facts[len(b.facts)-1]
	}
	if v := pick.First(f.Values, func(v *FactValue) bool { return v.Value == value }); v != nil {
		v.Trials++
		return
	}
	f.Values = append(f.Values, FactValue{Value: value, Trials: 1})
}

// Roles of facts: whose they are.
const (
	roleServer    = "server"
	roleGenerator = "generator"
)

// environment lists what the trials ran on, and where they differ.
func environment(data record.RunData, p planned.Run) []Fact {
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
		slices.SortStableFunc(f.Values, func(a, c FactValue) int {
			return cmp.Or(cmp.Compare(c.Trials, a.Trials), cmp.Compare(a.Value, c.Value))
		})
		f.Differs = len(f.Values) > 1
		out = append(out, f)
	}
	return out
}

// trial notes all facts of one trial. Generators share a role, and what they are together is one value: several nodes of one trial do
// not differ between trials.
func (b *factBook) trial(t record.TrialData) {
	b.machine(roleServer, t.Servers[0].Environment)
	var generators factBook
	for _, g := range t.Generators {
		generators.machine(roleGenerator, g.Environment)
	}
	b.processes(t, &generators)
	b.together(generators)
	b.note(roleServer, FactHeaders, t.Manifest.Servers[0], headers(measured.Responses(&t)))
	for _, p := range t.Manifest.Pods {
		role, implementation := roleGenerator, ""
		if record.IsServer(p.Member) {
			role, implementation = roleServer, t.Manifest.Servers[0]
		}
		b.note(role, FactQOSClass, "", p.QOSClass)
		b.note(role, FactImage, implementation, p.Image)
		b.note(role, FactImageID, implementation, p.ImageID)
	}
	b.note("", FactOperator, "", t.Manifest.Operator)
}

// headers lists how many bytes of headers the server sends with each answer: more of them are more work that no body shows.
func headers(responses []record.Response) string {
	var out []string
	for _, r := range responses {
		out = append(out, r.Path+" "+strconv.FormatInt(r.HeaderBytes, 10))
	}
	return strings.Join(out, ", ")
}

func (b *factBook) machine(role string, e record.Environment) {
	b.note(role, FactNode, "", e.Node)
	b.note(role, FactKernel, "", e.Kernel)
	b.note(role, FactOS, "", e.OS)
	b.note(role, FactCPUModel, "", e.CPUModel)
	b.note(role, FactOnlineCPUs, "", e.OnlineCPUs)
	b.note(role, FactSMTSiblings, "", e.SMTSiblings)
	b.note(role, FactGovernor, "", e.Governor)
	b.note(role, FactMicrocode, "", e.Microcode)
	if e.MemoryBytes > 0 {
		b.note(role, FactMemory, "", strconv.FormatInt(e.MemoryBytes, 10))
	}
	b.note(role, FactCgroup, "", e.CgroupVersion)
	b.note(role, FactToolVersion, "", e.ToolVersion)
	b.note(role, FactAgentVersion, "", e.AgentVersion)
}

// together notes each fact of another book as one value.
func (b *factBook) together(of factBook) {
	for _, f := range of.facts {
		var values []string
		for _, v := range f.Values {
			values = append(values, v.Value)
		}
		b.note(f.Role, f.Key, f.Implementation, strings.Join(values, ", "))
	}
}

// processes notes on which CPUs the measured processes themselves were allowed: one value a trial, unless its cells differ.
func (b *factBook) processes(t record.TrialData, generators *factBook) {
	var server []string
	for _, c := range t.Servers[0].Cells {
		server = append(server, c.CPUsAllowed)
	}
	for _, v := range pick.Distinct(server) {
		b.note(roleServer, FactCPUs, "", v)
	}
	for _, g := range t.Generators {
		var generator []string
		for _, c := range g.Cells {
			generator = append(generator, c.CPUsAllowed)
		}
		for _, v := range pick.Distinct(generator) {
			generators.note(roleGenerator, FactCPUs, "", v)
		}
	}
}

// unknowns counts what tools and observers said that they could not tell.
func unknowns(data record.RunData, p planned.Run) []Unknown {
	out := []Unknown{}
	note := func(implementation, sentence string) {
		u := pick.First(out, func(u *Unknown) bool { return u.Implementation == implementation && u.Sentence == sentence })
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
	for _, c := range t.Servers[0].Cells {
		for _, s := range c.Unknown {
			visit(s)
		}
		if s := validity.UnseenSiblings(t.Servers[0], &c); s != "" {
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
