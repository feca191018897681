package seats

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"loadstone.dev/loadstone/internal/cpuset"
	"loadstone.dev/loadstone/internal/kernel"
)

// ReadCores are the CPUs on which this program may run, by core, in ascending order. Where the kernel does not say which of them share a core,
// each is one of its own.
func ReadCores(sys string) ([][]int, error) {
	allowed := cpuset.Parse(kernel.OwnCPUsAllowed())
	if len(allowed) == 0 {
		return nil, fmt.Errorf("reading the CPUs of this machine: the kernel lists %q", kernel.OwnCPUsAllowed())
	}
	var cores [][]int
	for _, cpu := range allowed {
		if slices.ContainsFunc(cores, func(core []int) bool { return slices.Contains(core, cpu) }) {
			continue
		}
		core := []int{cpu}
		text, err := os.ReadFile(filepath.Join(sys, "devices/system/cpu/cpu"+strconv.Itoa(cpu), "topology/thread_siblings_list"))
		for _, thread := range cpuset.Parse(strings.TrimSpace(string(text))) {
			if err == nil && thread != cpu && slices.Contains(allowed, thread) {
				core = append(core, thread)
			}
		}
		cores = append(cores, core)
	}
	return cores, nil
}
