package doctor

import (
	"fmt"
	"slices"
	"strings"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// leastMinor is the oldest minor version of Kubernetes that the chart supports.
const leastMinor = 30

// Cluster has the facts about a cluster.
type Cluster struct {
	Version string
	Minor   int
	// Operator says why the operator is not ready; empty if it is. Release is its version, Own the version of the CLI.
	Operator     string
	Release, Own string
	// Missing are configured namespaces that do not exist. Locked are those without permissions for the operator.
	Missing, Locked []string
	// Ignored is the namespace of the kubeconfig if the operator ignores its runs.
	Ignored string
	// Argo is true if Argo Workflows is installed. ArgoAway says why no controller runs the operator's workflows; empty if one does or none is
	// visible. ArgoElsewhere is true if the chart installed no controller. ArgoOwn is then the user-managed one, if visible.
	Argo     bool
	ArgoAway string
	// ArgoUnready: the user-managed controller only is not ready.
	ArgoElsewhere bool
	ArgoOwn       string
	ArgoUnready   bool
	// Store says why the object store cannot be read; empty if it can. StoreUnseen is true if only this user lacks credentials, because the
	// operator uses a role.
	Store       string
	StoreUnseen bool
	Nodes       []Node
}

// Node has the facts about a node.
type Node struct {
	Name     string
	Role     string
	Tainted  bool
	MilliCPU int64
	// Policy is the CPU manager policy; empty if not visible. WholeCores is true if pods never share a core. Threads is the number of CPUs per
	// core; 0 if not visible.
	Policy     string
	WholeCores bool
	Threads    int
}

// OfCluster checks a cluster.
func OfCluster(c Cluster) []Finding {
	out := []Finding{c.kubernetes(), c.operator(), c.argo(), c.store(), c.roles()}
	out = append(out, c.namespaces()...)
	for _, n := range c.measuring() {
		out = append(out, n.cpus(), n.policy())
	}
	return append(out, c.taints(), unseen())
}

// unseen lists node facts that no API shows.
func unseen() Finding {
	return say("machines", Note, "Run loadstone doctor on each node.", "clock frequencies, steal and hyperthreads of nodes are not visible from here; each report lists them for its nodes")
}

func (c Cluster) kubernetes() Finding {
	switch {
	case c.Minor == 0:
		return say("Kubernetes", Note, "", "unknown version")
	case c.Minor < leastMinor:
		return say("Kubernetes", Fault, "Upgrade the cluster.", "version %s is too old: Loadstone needs 1.%d or newer", c.Version, leastMinor)
	}
	return say("Kubernetes", Good, "", "%s", c.Version)
}

func (c Cluster) operator() Finding {
	switch {
	case c.Operator != "":
		return say("operator", Fault, "helm upgrade --install loadstone charts/loadstone --namespace loadstone-system --create-namespace", "%s", c.Operator)
	case c.Release != "" && c.Release != c.Own:
		return say("operator", Note, "Use matching versions if the operator refuses a file that loadstone validate accepts.", "operator is %s, CLI is %s", c.Release, c.Own)
	}
	return say("operator", Good, "", "ready")
}

func (c Cluster) namespaces() []Finding {
	var out []Finding
	if c.Ignored != "" {
		out = append(out, say("namespaces", Note, "Add it to the chart value runs.namespaces, or use another namespace.",
			"the operator ignores runs in namespace %s, which your kubeconfig uses", c.Ignored))
	}
	if len(c.Missing) > 0 {
		out = append(out, say("namespaces", Note, "Remove them from the chart value runs.namespaces, or create them and run helm upgrade.",
			"runs.namespaces lists missing namespaces, where no runs are started: %s", strings.Join(c.Missing, ", ")))
	}
	if len(c.Locked) > 0 {
		out = append(out, say("namespaces", Fault, "Run helm upgrade, which creates it.",
			"runs.namespaces lists namespaces without the RoleBinding loadstone-runs, where no runs are started: %s", strings.Join(c.Locked, ", ")))
	}
	return out
}

func (c Cluster) argo() Finding {
	if !c.Argo {
		return say("Argo", Fault, "Install the chart with argo.enabled=true, or install Argo Workflows separately.", "Argo Workflows is not installed; Loadstone needs it to run trials in order")
	}
	if c.ArgoElsewhere {
		return c.ownArgo()
	}
	if c.ArgoAway != "" {
		return say("Argo", Fault, "kubectl --namespace loadstone-system describe deployments --selector app.kubernetes.io/component=argo", "%s", c.ArgoAway)
	}
	return say("Argo", Good, "", "controller is ready")
}

func (c Cluster) ownArgo() Finding {
	switch {
	case c.ArgoOwn != "":
		return say("Argo", Good, "", "your controller runs the operator's workflows: %s", c.ArgoOwn)
	case c.ArgoUnready:
		return say("Argo", Fault, "Wait until it is ready, or inspect its pod: kubectl describe pod.", "waiting for your controller: %s", c.ArgoAway)
	case c.ArgoAway != "":
		return say("Argo", Fault, "Configure your controller for the operator's namespace and instanceID (chart value argo.instanceID), or set argo.enabled=true.",
			"found no controller that runs the operator's workflows: %s", c.ArgoAway)
	}
	return say("Argo", Note, "Check that your Argo controller runs: kubectl get pods --all-namespaces --selector app=workflow-controller, or app.kubernetes.io/component=workflow-controller",
		"could not find an Argo controller (missing permission?)")
}

func (c Cluster) store() Finding {
	switch {
	case c.StoreUnseen:
		return say("object store", Note, "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, to credentials that may read the bucket.",
			"cannot check from here whether the operator can open it: %s", c.Store)
	case c.Store != "":
		return say("object store", Fault, "Correct the chart values s3.*, and check that you may read the Secret that they name.", "%s", c.Store)
	}
	return say("object store", Good, "", "available")
}

func (c Cluster) withRole(role string) []Node {
	return slices.DeleteFunc(slices.Clone(c.Nodes), func(n Node) bool { return n.Role != role })
}

// measuring returns the nodes with a role, or all nodes if none has one.
func (c Cluster) measuring() []Node {
	own := slices.DeleteFunc(slices.Clone(c.Nodes), func(n Node) bool { return n.Role == "" })
	if len(own) == 0 {
		return c.Nodes
	}
	return own
}

func (c Cluster) roles() Finding {
	const check, fix = "roles", "Label one node for servers and another for generators: kubectl label node NODE loadstone.dev/role=server (or =generator)"
	servers, generators := len(c.withRole(v1alpha1.RoleServer)), len(c.withRole(v1alpha1.RoleGenerator))
	switch {
	case len(c.Nodes) == 0:
		return say(check, Fault, "Add a node, or request permission to list nodes.", "found no node")
	case servers == 0 && generators == 0:
		return say(check, Note, fix, "no node has the label %s: the scheduler may choose any node", v1alpha1.LabelRole)
	case servers == 0 || generators == 0:
		return say(check, Note, fix, "labeled nodes: %d for servers, %d for generators; runs that need both wait", servers, generators)
	}
	return say(check, Good, "", "%d nodes for servers, %d for generators", servers, generators)
}

func (c Cluster) taints() Finding {
	var bare []string
	for _, n := range c.measuring() {
		if !n.Tainted {
			bare = append(bare, n.Name)
		}
	}
	if len(bare) > 0 {
		return say("taints", Note, "kubectl taint node NODE loadstone.dev/measure=:NoSchedule", "other pods may run on %s: their CPU use disturbs measurements and voids cells", strings.Join(bare, ", "))
	}
	return say("taints", Good, "", "other pods cannot run on the measuring nodes")
}

func (n Node) cpus() Finding {
	check := "node " + n.Name
	if n.MilliCPU < 2000 {
		return say(check, Warning, "Add a node with more CPUs. Reduce the CPUs that the kubelet reserves only if the system needs less.",
			"%.1f CPUs allocatable; an exclusive CPU needs one whole CPU on top of what system pods request", float64(n.MilliCPU)/1000)
	}
	return say(check, Good, "", "%.1f CPUs allocatable", float64(n.MilliCPU)/1000)
}

func (n Node) policy() Finding {
	check := "node " + n.Name
	switch n.Policy {
	case "static":
		if n.WholeCores {
			return n.wholeCores()
		}
		return say(check, Good, "", "the CPU manager policy is static; with hyperthreads, set full-pcpus-only in cpuManagerPolicyOptions to keep other pods off the server's cores")
	case "":
		return say(check, Note, "Request permission to get nodes/proxy, or check the kubelet configuration: cpuManagerPolicy must be static.", "the CPU manager policy is unknown")
	}
	return say(check, Fault, "Set cpuManagerPolicy: static in the kubelet configuration, delete /var/lib/kubelet/cpu_manager_state, and restart the kubelet.",
		"the CPU manager policy is %s: no pod gets an exclusive CPU, and with pinning: Required every cell is void", n.Policy)
}

// wholeCores is about a node whose kubelet refuses pods that would split a core.
func (n Node) wholeCores() Finding {
	check, threads := "node "+n.Name, "as many CPUs as a core has threads"
	switch {
	case n.Threads == 1:
		return say(check, Good, "", "the CPU manager policy is static, with whole cores")
	case n.Threads > 1:
		threads = fmt.Sprintf("%d CPUs", n.Threads)
	}
	return say(check, Note, "Set cpus of implementations, generators.cpus of loads, and whole cpu of dependencies to multiples; the default is 1.",
		"the CPU manager policy is static, with whole cores (full-pcpus-only): the kubelet refuses other numbers than multiples of %s (SMTAlignmentError)", threads)
}
