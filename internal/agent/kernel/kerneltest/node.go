package kerneltest

import (
	"fmt"
	"strings"
	"testing/fstest"
)

// Node is a machine as its kernel shows it to a process that may use all of its CPUs: with cgroups of version 2, on which a quota of two CPUs lies
// above the process' own. A core has some hardware threads, whose numbers lie next to each other or half of the machine apart, as firmware numbers
// them. Each CPU has been busy for as many ticks as its number says, and idle for a hundred.
func Node(cpus, threads int, adjacent bool) fstest.MapFS {
	root := fstest.MapFS{}
	add := func(name, text string) { root[name] = &fstest.MapFile{Data: []byte(text + "\n")} }
	all := fmt.Sprintf("0-%d", cpus-1)
	times := strings.Builder{}
	times.WriteString("cpu  1 0 0 1 0 0 0 0 0 0\n")
	cores := cpus / threads
	for cpu := range cpus {
		var siblings []string
		for thread := range threads {
			sibling := cpu%cores + thread*cores
			if adjacent {
				sibling = cpu/threads*threads + thread
			}
			siblings = append(siblings, fmt.Sprint(sibling))
		}
		list := strings.Join(siblings, ",")
		if adjacent && threads > 1 {
			list = siblings[0] + "-" + siblings[threads-1] // The kernel prints neighbours so.
		}
		dir := fmt.Sprintf("sys/devices/system/cpu/cpu%d/", cpu)
		add(dir+"topology/thread_siblings_list", list)
		add(dir+"cpufreq/scaling_governor", "performance")
		fmt.Fprintf(&times, "cpu%d %d 0 0 100 0 0 0 0 0 0\n", cpu, cpu)
	}
	add("proc/stat", times.String()+"intr 1")
	add("proc/self/status", "Name:\tagent\nCpus_allowed_list:\t"+all)
	add("proc/self/cgroup", "0::/kubepods.slice/pod.slice")
	add("sys/devices/system/cpu/online", all)
	add("sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory pids")
	add("sys/fs/cgroup/kubepods.slice/cpu.max", "200000 100000")
	add("sys/fs/cgroup/kubepods.slice/pod.slice/cpu.max", "max 100000")
	return root
}
