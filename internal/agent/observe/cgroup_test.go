package observe

import "testing"

func TestCgroupThatIsNotMountedIsTheAgentsOwn(t *testing.T) {
	for folder, want := range map[string]string{
		"/sys/fs/cgroup":                    "/proc/17/root/sys/fs/cgroup",
		"/sys/fs/cgroup/loadstone-5/server": "/proc/17/root/sys/fs/cgroup/loadstone-5/server",
		"/tmp/results/server.counters":      "/tmp/results/server.counters",
		"/sys/fs/cgroups":                   "/sys/fs/cgroups",
	} {
		if got := cgroupOf("/proc", 17, folder); got != want {
			t.Errorf("%s is read at %s, want %s", folder, got, want)
		}
	}
}
