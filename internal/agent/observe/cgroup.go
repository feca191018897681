package observe

import (
	"strings"

	"loadstone.dev/loadstone/internal/agent/kernel"
)

// mounted is where containers and machines mount cgroups.
const mounted = "/sys/fs/cgroup"

// cgroupOf returns where to read the counters of a process's cgroup. A mounted cgroup is read as the process sees it. Any other folder is the
// agent's own: the process may not have it, or may have replaced it.
func cgroupOf(proc kernel.Proc, pid int, folder string) string {
	if folder == mounted || strings.HasPrefix(folder, mounted+"/") {
		return proc.Path(pid, "root", folder)
	}
	return folder
}
