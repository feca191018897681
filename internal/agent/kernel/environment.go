package kernel

import (
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
)

// Environment describes the machine from the files below root. cpus is the list of measured CPUs; empty means this process's. Missing facts
// are "unknown"; the caller fills in what does not depend on the machine.
func Environment(root fs.FS, cpus string) record.Environment {
	own := orUnknown(line(slurp(root, "proc/self/status"), "Cpus_allowed_list"))
	if cpus == "" {
		cpus = own
	}
	e := record.Environment{
		Kernel:        orUnknown(strings.TrimSpace(string(slurp(root, "proc/sys/kernel/osrelease")))),
		OS:            osName(slurp(root, "etc/os-release")),
		CPUModel:      orUnknown(line(slurp(root, "proc/cpuinfo"), "model name")),
		OnlineCPUs:    orUnknown(strings.TrimSpace(string(slurp(root, "sys/devices/system/cpu/online")))),
		CgroupVersion: cgroupVersion(root),
		Governor:      record.Unknown,
		Microcode:     orUnknown(line(slurp(root, "proc/cpuinfo"), "microcode")),
		SMTSiblings:   siblings(root, cpus),
		CPUsAllowed:   own,
	}
	if kilobytes, ok := number([]byte(line(slurp(root, "proc/meminfo"), "MemTotal"))); ok {
		e.MemoryBytes = kilobytes << 10
	}
	if list := util.ParseCPUs(cpus); len(list) > 0 {
		governor := slurp(root, "sys/devices/system/cpu/cpu"+strconv.Itoa(list[0])+"/cpufreq/scaling_governor")
		e.Governor = orUnknown(strings.TrimSpace(string(governor)))
	}
	return e
}

// slurp returns a file's text, or nothing if unreadable; readers turn that into "unknown".
func slurp(root fs.FS, name string) []byte {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return nil
	}
	return text
}

func orUnknown(s string) string {
	if s == "" {
		return record.Unknown
	}
	return s
}

// osName is the pretty name of an os-release file; in a container, its image's.
func osName(release []byte) string {
	for l := range strings.Lines(string(release)) {
		if value, ok := strings.CutPrefix(l, "PRETTY_NAME="); ok {
			return orUnknown(strings.Trim(strings.TrimSpace(value), `"'`))
		}
	}
	return record.Unknown
}

func cgroupVersion(root fs.FS) string {
	if _, err := fs.Stat(root, "sys/fs/cgroup/cgroup.controllers"); err == nil {
		return "v2"
	}
	if _, err := fs.Stat(root, "sys/fs/cgroup/cpuacct"); err == nil {
		return "v1"
	}
	return record.Unknown
}

// siblings lists the hardware threads that share cores with the given CPUs; empty if unknown.
func siblings(root fs.FS, cpus string) string {
	var all []int
	for _, cpu := range util.ParseCPUs(cpus) {
		list := slurp(root, "sys/devices/system/cpu/cpu"+strconv.Itoa(cpu)+"/topology/thread_siblings_list")
		all = append(all, util.ParseCPUs(strings.TrimSpace(string(list)))...)
	}
	slices.Sort(all)
	var texts []string
	for _, cpu := range slices.Compact(all) {
		texts = append(texts, strconv.Itoa(cpu))
	}
	return strings.Join(texts, ",")
}

// Cores groups CPUs by shared core, in the order of the list. If the kernel does not report cores, each CPU is its own. The file system must
// be the whole machine's.
func Cores(root fs.FS, cpus []int) [][]int {
	var cores [][]int
	for _, cpu := range cpus {
		if slices.ContainsFunc(cores, func(core []int) bool { return slices.Contains(core, cpu) }) {
			continue
		}
		core := []int{cpu}
		text, err := fs.ReadFile(root, "sys/devices/system/cpu/cpu"+strconv.Itoa(cpu)+"/topology/thread_siblings_list")
		for _, thread := range util.ParseCPUs(strings.TrimSpace(string(text))) {
			if err == nil && thread != cpu && slices.Contains(cpus, thread) {
				core = append(core, thread)
			}
		}
		cores = append(cores, core)
	}
	return cores
}
