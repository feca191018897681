package plan

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind"
	"loadstone.dev/loadstone/internal/trial/kind/kinds"
)

// HugePagesFolder begins the folder with a container's huge pages; their name follows.
const HugePagesFolder = "/dev/"

// ownFields are resources with dedicated fields, and those fields.
var ownFields = map[string]string{
	"cpu":               "set cpus, or cpu of a dependency",
	"memory":            "set memory",
	"ephemeral-storage": "set the size of a folder of scratch",
}

var extended = regexp.MustCompile(`^[a-z0-9]([-.a-z0-9]*[a-z0-9])?/[A-Za-z0-9]([-._A-Za-z0-9]*[A-Za-z0-9])?$`)

// Askable reports whether a name may occur in resources.
func Askable(name string) bool {
	return extended.MatchString(name) || strings.HasPrefix(name, record.HugePages)
}

func checkResources(container string, list []v1alpha1.ResourceAmount) *Violation {
	for n, r := range list {
		field := fmt.Sprintf("%s.resources[%d]", container, n)
		switch {
		case ownFields[r.Name] != "":
			return kind.Invalid("%s.name is %s, which has a dedicated field: %s", field, r.Name, ownFields[r.Name])
		case !Askable(r.Name):
			return kind.Invalid("%s.name is %q, which no node offers: give hugepages- and a size, such as hugepages-2Mi, or a name with a domain, such as nvidia.com/gpu", field, r.Name)
		}
		amount := resource.MustParse("1")
		if r.Amount != nil {
			amount = *r.Amount
		}
		if size, huge := strings.CutPrefix(r.Name, record.HugePages); huge {
			if v := checkHuge(field, size, amount); v != nil {
				return v
			}
		}
		if whole := resource.NewQuantity(amount.Value(), resource.DecimalSI); amount.Sign() <= 0 || whole.Cmp(amount) != 0 {
			return kind.Invalid("%s.amount is %s, and a container gets a whole number of %s: give 1 or more", field, &amount, r.Name)
		}
	}
	return nil
}

func checkHuge(field, size string, amount resource.Quantity) *Violation {
	page, err := resource.ParseQuantity(size)
	if err != nil || page.Value() < 1 {
		return kind.Invalid("%s.name ends in %q, which is no size of pages: give one that nodes have, such as hugepages-2Mi or hugepages-1Gi", field, size)
	}
	if amount.Value() < 1 || amount.Value()%page.Value() != 0 {
		return kind.Invalid("%s.amount is %s, and huge pages have %s each: give a multiple of it", field, &amount, size)
	}
	return nil
}

// fitsResources reports why no node has each pod's resources and CPUs, or why no single node has the largest amounts (all blocks share one); nil if
// there are such nodes.
func (p Plan) fitsResources(nodes []Node) *Violation {
	nodes = ofRole(nodes, v1alpha1.RoleServer)
	var asking []string
	for _, line := range p.distinct() {
		for _, s := range p.shares(line, v1alpha1.RoleServer) {
			fields := p.asking(line, s)
			if len(fields) == 0 {
				continue
			}
			subject := fields[0] + ": its pod needs"
			if len(fields) > 1 {
				subject = strings.Join(fields, " and ") + ": together they need"
			}
			if v := lacking(subject, "with CPUs enough", Demand{s.milliCPU, s.resources()}, nodes); v != nil {
				return v
			}
			asking = append(asking, slices.DeleteFunc(fields, func(f string) bool { return slices.Contains(asking, f) })...)
		}
	}
	if len(asking) == 0 {
		return nil
	}
	all := LargestServer(p)
	return lacking(strings.Join(asking, " and ")+": the run needs", fmt.Sprintf("with %dm CPU, where all its blocks are measured", all.MilliCPU), all, nodes)
}

func (p Plan) asking(line record.PlannedTrial, s share) []string {
	var fields []string
	for _, m := range s.members {
		server, err := record.ServerIndex(m.Name)
		if err != nil || server >= len(line.Servers) {
			continue
		}
		i := slices.IndexFunc(p.Implementations, func(i record.Implementation) bool { return i.Name == line.Servers[server] })
		for _, process := range m.Processes {
			if len(process.Container.Resources) == 0 {
				continue
			}
			field := fmt.Sprintf("spec.implementations[%d]", i)
			if process.Dependency != "" {
				n := slices.IndexFunc(p.Implementations[i].Dependencies, func(d record.Dependency) bool { return d.Name == process.Dependency })
				field += fmt.Sprintf(".dependencies[%d]", n)
			}
			fields = append(fields, field+".resources")
		}
	}
	return fields
}

func (s share) resources() map[string]int64 {
	sum := map[string]int64{}
	for _, m := range s.members {
		for _, own := range m.Processes {
			for _, r := range own.Container.Resources {
				sum[r.Name] += r.Amount
			}
		}
	}
	return sum
}

// subject begins the sentence, where names the node.
func lacking(subject, where string, asked Demand, nodes []Node) *Violation {
	if slices.ContainsFunc(nodes, func(n Node) bool { return n.Has(asked) }) {
		return nil
	}
	var texts, most []string
	for _, name := range slices.Sorted(maps.Keys(asked.Resources)) {
		texts = append(texts, record.Resource{Name: name, Amount: asked.Resources[name]}.Printed()+" of "+name)
		best := record.Resource{Name: name}
		for _, n := range nodes {
			best.Amount = max(best.Amount, n.Resources[name])
		}
		most = append(most, best.Printed()+" of "+name)
	}
	return &Violation{Reason: v1alpha1.ReasonNotEnoughResources, Message: fmt.Sprintf(
		"%s %s on one node %s, and no node for a %s has that (at most: %s): request less, add it to a node, or label one that has it with %s=%s",
		subject, strings.Join(texts, " and "), where, v1alpha1.RoleServer, strings.Join(most, ", "), v1alpha1.LabelRole, v1alpha1.RoleServer)}
}

// fitsMemory reports why no node has a pod's memory along with its CPUs; nil if one has. It checks each profile,
// since profilers need additional memory.
func (p Plan) fitsMemory(nodes []Node) *Violation {
	for _, line := range slices.Concat(p.distinct(), p.Following) {
		for _, role := range []string{v1alpha1.RoleServer, v1alpha1.RoleGenerator} {
			for _, s := range p.shares(line, role) {
				if best, found := s.roomiest(ofRole(nodes, role)); found && best.MemoryBytes < s.memoryBytes() {
					return p.tooLittle(line, s, best)
				}
			}
		}
	}
	return nil
}

func (s share) memoryBytes() int64 {
	var sum int64
	for _, m := range s.members {
		sum += m.MemoryBytes()
	}
	return sum
}

func (s share) roomiest(nodes []Node) (best Node, found bool) {
	for _, n := range nodes {
		switch {
		case n.MilliCPU < s.milliCPU:
		case n.MemoryBytes == 0:
			return Node{}, false
		case n.MemoryBytes > best.MemoryBytes:
			best = n
		}
	}
	return best, best.Name != ""
}

func (p Plan) tooLittle(line record.PlannedTrial, s share, best Node) *Violation {
	first := s.members[0]
	subject, way := "the pod of "+first.Name, ""
	if server, err := record.ServerIndex(first.Name); err == nil && server < len(line.Servers) {
		i := slices.IndexFunc(p.Implementations, func(i record.Implementation) bool { return i.Name == line.Servers[server] })
		subject, way = fmt.Sprintf("spec.implementations[%d].memory is %s: its pod", i, Memory(p.Implementations[i].MemoryBytes)), "lower it, or "
		if field := kinds.Field(line); field != "" {
			subject = fmt.Sprintf("%s under %s, with its additional needs,", subject, field)
		}
	}
	return &Violation{Reason: v1alpha1.ReasonNotEnoughMemory, Message: fmt.Sprintf(
		"%s needs %s of memory on one node, and the largest node for a %s with enough CPUs, %s, has %s: %sadd a larger node labelled %s=%s",
		subject, Memory(s.memoryBytes()), first.Role, best.Name, mebibytes(best.MemoryBytes), way, v1alpha1.LabelRole, first.Role)}
}

// mebibytes rounds down, since nodes have odd amounts.
func mebibytes(bytes int64) string { return fmt.Sprintf("%dMi", bytes>>20) }
