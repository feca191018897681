package plan

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/kind"
	"loadstone.dev/loadstone/internal/record"
)

// HugePagesFolder begins the folder in which a container finds its huge pages. Their name follows.
const HugePagesFolder = "/dev/"

// ownFields are the resources that other fields give, with the way out.
var ownFields = map[string]string{
	"cpu":               "set cpus, or cpu of a dependency",
	"memory":            "set memory",
	"ephemeral-storage": "set the size of a folder of scratch",
}

// extended is the name of a resource that a device plugin or an administrator gives to nodes.
var extended = regexp.MustCompile(`^[a-z0-9]([-.a-z0-9]*[a-z0-9])?/[A-Za-z0-9]([-._A-Za-z0-9]*[A-Za-z0-9])?$`)

// Askable reports whether a container can ask for a resource of a name in resources.
func Askable(name string) bool {
	return extended.MatchString(name) || strings.HasPrefix(name, record.HugePages)
}

// checkResources looks at the resources of a container, which is a field of the spec.
func checkResources(container string, list []v1alpha1.ResourceAmount) *Violation {
	for n, r := range list {
		field := fmt.Sprintf("%s.resources[%d]", container, n)
		switch {
		case ownFields[r.Name] != "":
			return kind.Invalid("%s.name is %s, which has a field of its own: %s", field, r.Name, ownFields[r.Name])
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

// checkHuge looks at an amount of huge pages of a size.
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

// fitsResources says whether a node for each pod of the plan that has CPUs enough has what the pod asks for besides; nil if there is one.
func (p Plan) fitsResources(nodes []Node) *Violation {
	for _, line := range p.distinct() {
		for _, s := range p.shares(line, v1alpha1.RoleServer) {
			if len(s.resources()) == 0 {
				continue
			}
			if v := p.lacking(line, s, ofRole(nodes, v1alpha1.RoleServer)); v != nil {
				return v
			}
		}
	}
	return nil
}

// resources are what the members of a share ask for together, by its name.
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

// has reports whether a node has CPUs enough for a share, and enough of everything else that it asks for.
func (n Node) has(s share) bool {
	if n.MilliCPU < s.milliCPU {
		return false
	}
	for name, amount := range s.resources() {
		if n.Resources[name] < amount {
			return false
		}
	}
	return true
}

// lacking says what no node has for a share of a trial; nil if one has all.
func (p Plan) lacking(line record.PlannedTrial, s share, nodes []Node) *Violation {
	if slices.ContainsFunc(nodes, func(n Node) bool { return n.has(s) }) {
		return nil
	}
	asked := s.resources()
	subject := "the pod of " + s.members[0].Name
	if server, err := record.ServerIndex(s.members[0].Name); err == nil && server < len(line.Servers) {
		i := slices.IndexFunc(p.Implementations, func(i record.Implementation) bool { return i.Name == line.Servers[server] })
		subject = fmt.Sprintf("spec.implementations[%d].resources: its pod", i)
	}
	var texts, most []string
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		texts = append(texts, record.Resource{Name: name, Amount: asked[name]}.Printed()+" of "+name)
		best := record.Resource{Name: name}
		for _, n := range nodes {
			best.Amount = max(best.Amount, n.Resources[name])
		}
		most = append(most, best.Printed()+" of "+name)
	}
	return &Violation{Reason: v1alpha1.ReasonNotEnoughResources, Message: fmt.Sprintf(
		"%s needs %s on one node with CPUs enough, and no node for a %s has that (the most that one has: %s): ask for less, let a node offer it, or label one that does with %s=%s",
		subject, strings.Join(texts, " and "), v1alpha1.RoleServer, strings.Join(most, ", "), v1alpha1.LabelRole, v1alpha1.RoleServer)}
}
