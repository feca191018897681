package doctor

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/record"
)

func sane() Machine {
	return Machine{
		Cores: [][]int{{0, 4}, {1, 5}, {2, 6}, {3, 7}}, Online: 8, Governor: "performance", Quota: new(0.0), Descriptors: 65536,
		Tools: []Tool{{"wrk", "/usr/bin/wrk", "apt-get install wrk"}, {"k6", "/usr/bin/k6", "see its page"}},
	}
}

func TestReadyMachineHasOnlyGoodFindings(t *testing.T) {
	for _, f := range OfMachine(sane()) {
		if f.Check == "machines" {
			continue // They are not visible from here, on any cluster.
		}
		if f.Level != Good || f.Fix != "" || f.Message == "" {
			t.Errorf("it finds %+v", f)
		}
	}
}

func TestMachineProblemsHaveFixes(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*Machine)
		check  string
		want   Level
		says   string
	}{
		"one CPU":                  {func(m *Machine) { m.Cores, m.Online = [][]int{{0}}, 1 }, "CPUs", Fault, "1 CPU: server and generator need one each"},
		"no CPU that is known":     {func(m *Machine) { m.Cores = nil }, "CPUs", Fault, "0 CPU"},
		"a cpuset":                 {func(m *Machine) { m.Cores = m.Cores[:2] }, "CPUs", Note, "4 of 8 CPUs are available"},
		"one core":                 {func(m *Machine) { m.Cores = m.Cores[:1] }, "SMT", Warning, "threads of one core"},
		"powersave":                {func(m *Machine) { m.Governor = "powersave" }, "frequency", Warning, "the governor is powersave"},
		"boost":                    {func(m *Machine) { m.Boost = true }, "boost", Note, "turbo boost is on"},
		"steal":                    {func(m *Machine) { m.Steal = 0.07 }, "steal", Warning, "took 7.0% of the CPU time; above 5%, a cell is void"},
		"neighbours":               {func(m *Machine) { m.Busy = 1.5 }, "neighbours", Warning, "1.50 CPUs"},
		"a quota":                  {func(m *Machine) { m.Quota = new(1.5) }, "quota", Fault, "1.5 CPUs"},
		"cgroups that no one sees": {func(m *Machine) { m.Quota = nil }, "quota", Note, "cannot read cgroups"},
		"few open files":           {func(m *Machine) { m.Descriptors = 1024 }, "open files", Warning, "1024 files"},
		"no tool at all":           {func(m *Machine) { m.Tools[0].Path, m.Tools[1].Path = "", "" }, "wrk", Warning, "not found in PATH"},
		"no k6":                    {func(m *Machine) { m.Tools[1].Path = "" }, "k6", Note, "tool: k6 are refused"},
	} {
		t.Run(name, func(t *testing.T) {
			m := sane()
			tc.change(&m)
			f := find(t, OfMachine(m), tc.check)
			if f.Level != tc.want || !strings.Contains(f.Message, tc.says) || f.Fix == "" {
				t.Errorf("it finds %+v, want a %s that says %q", f, tc.want, tc.says)
			}
		})
	}
	m := sane()
	m.Governor = record.Unknown
	if f := find(t, OfMachine(m), "frequency"); f.Level != Note {
		t.Errorf("a governor that is not known is %+v", f)
	}
}

// find is the finding of a check that weighs most.
func find(t *testing.T, all []Finding, check string) Finding {
	t.Helper()
	weight := map[Level]int{Good: 1, Note: 2, Warning: 3, Fault: 4}
	var out Finding
	for _, f := range all {
		if f.Check == check && weight[f.Level] > weight[out.Level] {
			out = f
		}
	}
	if out.Check == "" {
		t.Fatalf("%s is not checked", check)
	}
	return out
}

func sound() Cluster {
	return Cluster{
		Version: "v1.34.1", Minor: 34, Release: "1", Own: "1", Argo: true,
		Nodes: []Node{
			{"control", "", false, 2000, "none", false, 0}, {"one", "server", true, 4000, "static", true, 1}, {"two", "generator", true, 4000, "static", false, 0},
		},
	}
}

func TestReadyClusterHasOnlyGoodFindings(t *testing.T) {
	own := sound()
	own.ArgoElsewhere, own.ArgoOwn = true, "pod argo/controller-0"
	all := OfCluster(sound())
	for _, f := range append(OfCluster(own), all...) {
		if f.Check == "machines" {
			continue // They are not visible from here, on any cluster.
		}
		if f.Level != Good || f.Fix != "" || f.Message == "" || f.Check == "node control" {
			t.Errorf("it finds %+v", f)
		}
	}
	if n := Faults(all); n != 0 {
		t.Errorf("there are %d faults", n)
	}
}

func TestClusterProblemsHaveFixes(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*Cluster)
		check  string
		want   Level
		says   string
	}{
		"an old Kubernetes": {func(c *Cluster) { c.Version, c.Minor = "v1.29.0", 29 }, "Kubernetes", Fault, "version v1.29.0 is too old: Loadstone needs 1.30 or newer"},
		"no operator":       {func(c *Cluster) { c.Operator = "found 0 operators" }, "operator", Fault, "found 0 operators"},
		"another release":   {func(c *Cluster) { c.Release = "0" }, "operator", Note, "operator is 0, CLI is 1"},
		"a namespace that is not led": {
			func(c *Cluster) { c.Ignored = "team-a" }, "namespaces", Note, "the operator ignores runs in namespace team-a, which your kubeconfig uses",
		},
		"a namespace that is gone": {
			func(c *Cluster) { c.Missing = []string{"team-b"} }, "namespaces", Note, "lists missing namespaces, where no runs are started: team-b",
		},
		"a namespace that was made again": {
			func(c *Cluster) { c.Locked = []string{"team-c"} }, "namespaces", Fault, "without the RoleBinding loadstone-runs, where no runs are started: team-c",
		},
		"whole cores of two threads": {
			func(c *Cluster) { c.Nodes[1].Threads = 2 }, "node one", Note, "the kubelet refuses other numbers than multiples of 2 CPUs (SMTAlignmentError)",
		},
		"whole cores of unknown threads": {
			func(c *Cluster) { c.Nodes[1].Threads = 0 }, "node one", Note, "multiples of as many CPUs as a core has threads (SMTAlignmentError)",
		},
		"no Argo": {func(c *Cluster) { c.Argo = false }, "Argo", Fault, "Argo Workflows is not installed"},
		"an Argo that is away": {
			func(c *Cluster) { c.ArgoAway = "no pod of Deployment a/loadstone-argo is ready" }, "Argo", Fault, "no pod of Deployment a/loadstone-argo",
		},
		"an Argo of one's own": {func(c *Cluster) { c.ArgoElsewhere = true }, "Argo", Note, "could not find an Argo controller"},
		"an Argo of one's own that passes workflows over": {
			func(c *Cluster) { c.ArgoElsewhere, c.ArgoAway = true, "pod argo/controller-0 has instanceID" }, "Argo", Fault, "found no controller that runs",
		},
		"an Argo of one's own that merely is not ready": {
			func(c *Cluster) {
				c.ArgoElsewhere, c.ArgoUnready, c.ArgoAway = true, true, "pod argo/controller-0 is not ready"
			}, "Argo", Fault, "waiting for your controller: pod argo/controller-0 is not ready",
		},
		"what nobody sees": {func(*Cluster) {}, "machines", Note, "not visible from here"},
		"no store":         {func(c *Cluster) { c.Store = "no such bucket" }, "object store", Fault, "no such bucket"},
		"a store that is opened by a role, and no key of the user's": {
			func(c *Cluster) { c.Store, c.StoreUnseen = "the cluster has no key of it", true }, "object store", Note, "cannot check from here whether the operator can open it: the cluster has no key of it",
		},
		"no node":          {func(c *Cluster) { c.Nodes = nil }, "roles", Fault, "found no node"},
		"no labels":        {func(c *Cluster) { c.Nodes[1].Role, c.Nodes[2].Role = "", "" }, "roles", Note, "the scheduler may choose any node"},
		"servers alone":    {func(c *Cluster) { c.Nodes[2].Role = "" }, "roles", Note, "labeled nodes: 1 for servers, 0 for generators"},
		"no taint":         {func(c *Cluster) { c.Nodes[1].Tainted = false }, "taints", Note, "other pods may run on one"},
		"a small node":     {func(c *Cluster) { c.Nodes[2].MilliCPU = 1900 }, "node two", Warning, "1.9 CPUs"},
		"no static policy": {func(c *Cluster) { c.Nodes[1].Policy = "none" }, "node one", Fault, "policy is none"},
		"a policy unseen":  {func(c *Cluster) { c.Nodes[1].Policy = "" }, "node one", Note, "policy is unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			c := sound()
			tc.change(&c)
			f := find(t, OfCluster(c), tc.check)
			if f.Level != tc.want || !strings.Contains(f.Message, tc.says) || f.Fix == "" {
				t.Errorf("it finds %+v, want a %s that says %q", f, tc.want, tc.says)
			}
		})
	}
	c := sound()
	c.Minor = 0
	if f := find(t, OfCluster(c), "Kubernetes"); f.Level != Note {
		t.Errorf("a version that is not known is %+v", f)
	}
}

func TestTextPrintsOneLinePerFinding(t *testing.T) {
	all := []Finding{{"CPUs", Good, "2 CPUs", ""}, {"wrk", Fault, "it is missing", "apt-get install wrk"}}
	want := "good     CPUs           2 CPUs\nfault    wrk            it is missing\n                        Fix: apt-get install wrk\n"
	if diff := cmp.Diff(want, Text(all)); diff != "" || Faults(all) != 1 {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}
