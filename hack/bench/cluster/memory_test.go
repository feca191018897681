package cluster

import (
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestResidentMemoryIsThatOfTheContainersProcesses(t *testing.T) {
	proc := t.TempDir()
	for pid, files := range map[string][2]string{
		"1":   {"1:name=systemd:/\n", "Name:\tinit\nVmRSS:\t    9000 kB\n"},
		"100": {"5:cpuacct:/loadstone/infra/pod1/abc123\n", "Name:\tmanager\nVmHWM:\t   50000 kB\nVmRSS:\t   40000 kB\n"},
		"101": {"5:cpuacct:/loadstone/infra/pod1/fff999\n", "Name:\tpause\nVmRSS:\t    600 kB\n"},
	} {
		if err := os.Mkdir(filepath.Join(proc, pid), 0o755); err != nil {
			t.Fatal(err)
		}
		for i, name := range []string{"cgroup", "status"} {
			if err := os.WriteFile(filepath.Join(proc, pid, name), []byte(files[i]), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	pod := func(id string) *corev1.Pod {
		return &corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{ContainerID: id}}}}
	}
	if got, err := residentBytes(proc, pod("containerd://abc123")); err != nil || got != 40000*1024 {
		t.Errorf("got %d, %v", got, err)
	}
	if got, err := residentBytes(proc, pod("containerd://elsewhere")); err == nil {
		t.Errorf("got %d of a container that is not here", got)
	}
}
