package kernel

import (
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"loadstone.dev/loadstone/internal/base/util"
)

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
