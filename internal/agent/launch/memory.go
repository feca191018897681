package launch

import (
	"os"
	"syscall"

	"loadstone.dev/loadstone/internal/agent/cgroup"
)

// oomFiles are where a container finds how many of its processes were killed for its memory, in version 2 of cgroups and in version 1.
var oomFiles = []string{"/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"}

// oomKills is how many processes of this container the kernel has killed for its memory; 0 where nobody counts them.
func oomKills(files []string) int64 {
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil {
			return cgroup.OOMKills(string(text))
		}
	}
	return 0
}

// starved reports whether a program has ended as one does that the kernel kills for its memory, while more were killed so than before.
func starved(s *os.ProcessState, before, after int64) bool {
	status, ok := s.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL && after > before
}
