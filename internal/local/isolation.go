package local

import (
	"fmt"

	"loadstone.dev/loadstone/internal/agent/cgroup"
	"loadstone.dev/loadstone/internal/local/reexec"
)

func (r *Run) openCgroups() {
	r.cgroups, r.shared = cgroup.Open("/sys/fs/cgroup", "/proc")
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
	if r.cgroups != nil {
		return fmt.Sprintf("each server and load generator had a cgroup of its own (version %d), with its CPUs and its counters, and servers with spec.implementations[].memory as their limit; processes share the machine's network and page cache", r.cgroups.Version())
	}
	text := "processes share the machine's network, page cache and memory; spec.implementations[].memory is no limit here, and a CPU quota would not be seen"
	if r.shared != nil {
		text += fmt.Sprintf(": this machine permits no cgroup of their own (%s)", r.shared)
	}
	return text
}
