package local

import (
	"fmt"
	"runtime"
	"slices"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/agent/cgroup"
	"loadstone.dev/loadstone/internal/local/reexec"
)

func (r *Run) openCgroups() {
	r.cgroups, r.shared = cgroup.Open("/sys/fs/cgroup", "/proc")
}

func (r *Run) apart() bool {
	return r.options.Run.Spec.Placement.Network != v1alpha1.NetworkHost && slices.ContainsFunc(r.facts.Plan.Implementations, r.options.inImage)
}

func (r *Run) openNetwork() (err error) {
	if r.apart() {
		r.network, err = reexec.OpenNetwork()
	}
	return err
}

func (r *Run) checkNetwork() error {
	if len(r.images) == 0 || !r.apart() {
		return nil
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	n, err := reexec.OpenNetwork()
	n.End()
	if err != nil {
		return fmt.Errorf("implementations[].image: this machine permits no network namespace (%w): raise sysctl user.max_net_namespaces, or set spec.placement.network: Host. Then images use this machine's network", err)
	}
	return nil
}

// isolate makes a cgroup for a member's first process, and returns the agents' flags for it. Servers get the spec's memory limit; generators
// none.
func (a *attempt) isolate(m *member, at place) ([]string, error) {
	if a.cgroups == nil {
		return nil, nil
	}
	limits := cgroup.Limits{CPUs: at.cpus}
	if first := m.Processes[0]; m.isServer() {
		limits = cgroup.Limits{CPUs: at.serving(first), MemoryBytes: first.MemoryBytes}
	}
	group, err := a.cgroups.Make(m.Name, limits)
	if err != nil {
		return nil, err
	}
	m.group = group
	counters, err := group.Counters(m.dir + ".counters")
	if err != nil {
		return nil, err
	}
	flags := []string{"--counters", counters}
	if !m.isServer() {
		flags = append(flags, reexec.GroupArgs("cgroup", group)...)
	}
	return flags, nil
}

func (r *Run) notes() []string {
	first := "measured on one machine by loadstone run, by affinity: " + r.seats.Sentence() +
		"; other programs are not kept off these CPUs, and what they used of the server's is measured in every cell"
	if !r.seats.Owned {
		first = "measured on one machine with too few CPUs by loadstone run: " + r.seats.Sentence() + "; members share CPUs, so every cell is marked"
	}
	notes := []string{first}
	if r.seats.Alone() {
		notes = append(notes, "this machine has one CPU for servers and load generators, which take turns on it: throughput is that of both together, latencies hold the time in which the other had the CPU, and a difference between servers looks smaller than it is; two CPUs are enough to avoid this")
	}
	notes = append(append(notes, r.isolation()), r.imageNotes()...)
	for _, at := range r.resumed {
		notes = append(notes, at.Sentence())
	}
	return notes
}

func (r *Run) isolation() string {
	network := "the machine's network"
	if r.apart() {
		network = "the network of the run"
	}
	if r.cgroups != nil {
		return fmt.Sprintf("each server and load generator had a cgroup of its own (version %d), with its CPUs and counters, and servers with spec.implementations[].memory as limit. Processes share the page cache and %s", r.cgroups.Version(), network)
	}
	text := "processes share memory, the page cache and " + network + "; spec.implementations[].memory is no limit here, and a CPU quota would not be seen"
	if r.shared != nil {
		text += fmt.Sprintf(": this machine permits no cgroup of their own (%s)", r.shared)
	}
	return text
}
