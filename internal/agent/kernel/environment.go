package kernel

import (
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
)

// Environment describes the machine as the files below root show it. cpus is the list of CPUs that are measured; empty means those of
// this process. What root does not show is "unknown", and what is not the machine's is left to the caller.
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

// slurp is a file's text, or nothing when it cannot be read: its readers turn nothing into "unknown".
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

// osName is the pretty name of an os-release file: in a container, that of its image.
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

// siblings lists the hardware threads that share cores with the given CPUs, or nothing where the kernel does not say.
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

// Cores are some CPUs by the core that they share, in the order of the list. Where the kernel does not say which of them share one, each is a core
// of its own. The file system is the whole machine's.
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
