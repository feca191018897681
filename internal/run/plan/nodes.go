package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind"
	"loadstone.dev/loadstone/internal/trial/kind/kinds"
)

// Node holds the facts of a node that planning needs.
type Node struct {
	Name string
	// Role is the loadstone.dev/role label, or empty.
	Role string
	// MilliCPU is the allocatable CPU in thousandths.
	MilliCPU int64
	// MemoryBytes is the allocatable memory; 0 if unknown.
	MemoryBytes int64
	// Resources are other allocatable amounts, by name; bytes for huge pages.
	Resources map[string]int64
	Labels    map[string]string
	// Excluded: the run's node selector does not match the node.
	Excluded bool
	// Away: the node is cordoned or not ready and takes no pods now. It may come back.
	Away bool
	// NotReady: the node is unreachable or cannot run pods. Deleted pods stay there until it is back.
	NotReady bool
}

// Selector returns the node label for pods of a role: the role if any node carries a role, else none. Unavailable
// nodes count. All nodes of a role may be gone for a while; the run then waits and goes nowhere else.
func Selector(nodes []Node, role string) map[string]string {
	if slices.ContainsFunc(nodes, func(n Node) bool { return n.Role != "" }) {
		return map[string]string{v1alpha1.LabelRole: role}
	}
	return nil
}

// Select marks the nodes that a node selector excludes.
func Select(nodes []Node, selector map[string]string) []Node {
	out := slices.Clone(nodes)
	for i := range out {
		out[i].Excluded = !labels.SelectorFromSet(selector).Matches(labels.Set(out[i].Labels))
	}
	return out
}

// share is the members of a trial on one node.
type share struct {
	members  []kind.Member
	milliCPU int64
	subject  string
}

// Fits reports why the nodes cannot hold every trial of the plan (CPUs, memory, resources); nil if they can.
func Fits(p Plan, nodes []Node) *Violation {
	v := p.fits(nodes)
	excluded := 0
	for _, n := range nodes {
		if n.Excluded {
			excluded++
		}
	}
	if v != nil && excluded > 0 {
		v.Message += fmt.Sprintf("; nodeSelector of spec.placement.pods or of the chart value runs.pods excludes %d of %d nodes", excluded, len(nodes))
	}
	return v
}

func (p Plan) fits(nodes []Node) *Violation {
	trials := p.distinct()
	for _, line := range trials {
		if v := fitShares(p.shares(line, v1alpha1.RoleServer), nodes, v1alpha1.RoleServer); v != nil {
			return v
		}
	}
	// The servers' nodes are chosen for the largest server.
	apart := without(nodes, smallest(nodes, v1alpha1.RoleServer, LargestServer(p)))
	for _, line := range trials {
		shares := p.shares(line, v1alpha1.RoleGenerator)
		on := nodes
		if slices.ContainsFunc(shares, share.separate) {
			on = apart
		}
		if v := fitShares(shares, on, v1alpha1.RoleGenerator); v != nil {
			return v
		}
	}
	if v := p.fitsMemory(nodes); v != nil {
		return v
	}
	return p.fitsResources(nodes)
}

// Demand is the sum of pods' requests on one node.
type Demand struct {
	// MilliCPU is CPU in thousandths.
	MilliCPU int64
	// Resources are other amounts, by name; bytes for huge pages.
	Resources map[string]int64
}

// Has reports whether a node has the demand.
func (n Node) Has(d Demand) bool {
	for name, amount := range d.Resources {
		if n.Resources[name] < amount {
			return false
		}
	}
	return n.MilliCPU >= d.MilliCPU
}

// LargestServer returns the most that any trial's servers and their neighbors request of one node, for CPUs and each resource separately: all blocks
// share that node.
func LargestServer(p Plan) Demand {
	most := Demand{Resources: map[string]int64{}}
	for _, line := range p.distinct() {
		for _, s := range p.shares(line, v1alpha1.RoleServer) {
			most.MilliCPU = max(most.MilliCPU, s.milliCPU)
			for name, amount := range s.resources() {
				most.Resources[name] = max(most.Resources[name], amount)
			}
		}
	}
	return most
}

// distinct returns the first trial of each kind and set of implementations, in spec order. All others need the same.
func (p Plan) distinct() []record.PlannedTrial {
	seen := map[string]bool{}
	var first []record.PlannedTrial
	for _, line := range slices.Concat(p.Trials, p.Following) {
		key := string(line.Type) + " " + strings.Join(slices.Sorted(slices.Values(line.Servers)), " ")
		if !seen[key] {
			seen[key], first = true, append(first, line)
		}
	}
	slices.SortStableFunc(first, func(a, b record.PlannedTrial) int { return cmp.Compare(p.place(a), p.place(b)) })
	return first
}

func (p Plan) place(line record.PlannedTrial) int {
	return slices.IndexFunc(p.Implementations, func(i record.Implementation) bool { return slices.Contains(line.Servers, i.Name) })
}

// shares groups a trial's members of a role by node.
func (p Plan) shares(line record.PlannedTrial, role string) []share {
	var list []share
	for _, m := range kinds.Planned(p.Plan, line).Members() {
		if m.Role != role {
			continue
		}
		at := slices.IndexFunc(list, func(s share) bool { return s.holds(m.With) })
		if at < 0 {
			at, list = len(list), append(list, share{subject: p.subject(line, m)})
		}
		list[at].members = append(list[at].members, m)
		list[at].milliCPU += m.MilliCPU()
	}
	return list
}

func (s share) holds(member string) bool {
	return slices.ContainsFunc(s.members, func(m kind.Member) bool { return m.Name == member })
}

// separate reports whether the members must avoid the servers' nodes.
func (s share) separate() bool {
	return slices.ContainsFunc(s.members, func(m kind.Member) bool { return m.Apart == record.Required })
}

func (p Plan) subject(line record.PlannedTrial, m kind.Member) string {
	if m.Words.CPUs != "" {
		return m.Words.CPUs
	}
	if index, err := record.ServerIndex(m.Name); err == nil && index < len(line.Servers) {
		i := slices.IndexFunc(p.Implementations, func(i record.Implementation) bool { return i.Name == line.Servers[index] })
		return fmt.Sprintf("spec.implementations[%d].cpus is %d%s: its pod needs", i, p.Implementations[i].CPUs, beside(p.Implementations[i]))
	}
	return fmt.Sprintf("the pod of %s needs", m.Name)
}

func beside(own record.Implementation) string {
	var sum int64
	for _, d := range own.Dependencies {
		sum += d.MilliCPU
	}
	if sum == 0 {
		return ""
	}
	return fmt.Sprintf(", with %dm of dependencies", sum)
}

func fitShares(shares []share, nodes []Node, role string) *Violation {
	if len(shares) == 0 {
		return nil
	}
	nodes = ofRole(nodes, role)
	largest := slices.MaxFunc(shares, func(a, b share) int { return cmp.Compare(a.milliCPU, b.milliCPU) })
	var best Node
	for _, n := range nodes {
		if n.MilliCPU > best.MilliCPU {
			best = n
		}
	}
	if best.MilliCPU < largest.milliCPU {
		return tooSmall(largest, role, best)
	}
	if room := rooms(nodes, shares); room < len(shares) {
		return tooFew(shares, largest, role, room)
	}
	return nil
}

func ofRole(nodes []Node, role string) []Node {
	labelled := Selector(nodes, role) != nil
	return slices.DeleteFunc(slices.Clone(nodes), func(n Node) bool { return n.Away || n.Excluded || labelled && n.Role != role })
}

// Awaits returns the unavailable nodes that would make the plan fit; empty if they would not.
func Awaits(p Plan, nodes []Node) string {
	back := slices.Clone(nodes)
	var names []string
	for i := range back {
		if back[i].Away {
			names = append(names, back[i].Name)
		}
		back[i].Away = false
	}
	if len(names) == 0 || Fits(p, back) != nil {
		return ""
	}
	return "waiting for nodes that are cordoned or not ready: " + strings.Join(names, ", ")
}

// rooms counts the shares that fit on the nodes, largest first.
func rooms(nodes []Node, shares []share) int {
	free := slices.Clone(nodes)
	found := 0
	for _, s := range slices.SortedStableFunc(slices.Values(shares), func(a, b share) int { return cmp.Compare(b.milliCPU, a.milliCPU) }) {
		at := slices.IndexFunc(free, func(n Node) bool { return n.MilliCPU >= s.milliCPU })
		if at >= 0 {
			free[at].MilliCPU -= s.milliCPU
			found++
		}
	}
	return found
}

func smallest(nodes []Node, role string, need Demand) string {
	var best Node
	for _, n := range ofRole(nodes, role) {
		if n.Has(need) && (best.Name == "" || n.MilliCPU < best.MilliCPU) {
			best = n
		}
	}
	return best.Name
}

func without(nodes []Node, name string) []Node {
	return slices.DeleteFunc(slices.Clone(nodes), func(n Node) bool { return n.Name == name })
}

func tooSmall(s share, role string, best Node) *Violation {
	if s.separate() {
		role += " apart from the servers"
	}
	label := fmt.Sprintf("%s=%s", v1alpha1.LabelRole, s.members[0].Role)
	text := fmt.Sprintf("%s %dm CPU on one node, and ", s.subject, s.milliCPU)
	if best.Name == "" {
		return notEnough(text+"no node may run a %s: label one with %s", role, label)
	}
	ways := []string{"add a larger node labelled " + label}
	if len(s.members) == 1 {
		ways = slices.Insert(ways, 0, "ask for fewer CPUs")
	}
	return notEnough(text+"the largest node for a %s, %s, has %dm allocatable: %s", role, best.Name, best.MilliCPU, either(ways, s.members[0].Words.Way))
}

func tooFew(shares []share, largest share, role string, room int) *Violation {
	words := largest.members[0].Words
	subject := words.Number
	if subject == "" {
		subject = fmt.Sprintf("a trial has %d pods on separate nodes", len(shares))
	}
	nodes := "the nodes for " + role + "s"
	if largest.separate() {
		nodes += " apart from the servers"
	}
	return notEnough("%s: with %dm CPU each, %s have room for %d: %s", subject, largest.milliCPU, nodes, room, either([]string{"ask for fewer", "add nodes"}, words.Way))
}

func either(ways []string, another string) string {
	if another != "" {
		ways = append(ways, another)
	}
	last := len(ways) - 1
	switch last {
	case 0:
		return ways[0]
	case 1:
		return ways[0] + " or " + ways[1]
	}
	return strings.Join(ways[:last], ", ") + ", or " + ways[last]
}

func notEnough(format string, args ...any) *Violation {
	return &Violation{Reason: v1alpha1.ReasonNotEnoughCPUs, Message: fmt.Sprintf(format, args...)}
}
