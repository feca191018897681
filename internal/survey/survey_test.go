package survey

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestWhatTheKernelSaysOfAMachine(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text + "\n")} }
	siblings := func(cpu string) string { return "sys/devices/system/cpu/cpu" + cpu + "/topology/thread_siblings_list" }
	root := fstest.MapFS{
		siblings("0"): file("0,2"), siblings("1"): file("1,3"), siblings("2"): file("0,2"),
		"proc/self/cgroup":                 file("1:name=systemd:/\n0::/user.slice/shell"),
		"sys/fs/cgroup/user.slice/cpu.max": file("150000 100000"), "sys/fs/cgroup/user.slice/shell/cpu.max": file("max 100000"), "sys/fs/cgroup/cpu.max": file("broken"),
	}
	if diff := cmp.Diff([][]int{{0, 2}, {1}, {7}}, coresOf(root, []int{0, 1, 2, 7})); diff != "" {
		t.Errorf("cores (-want +got):\n%s", diff)
	}
	if got := quota(root); got != 1.5 {
		t.Errorf("the quota is %v, want 1.5", got)
	}
	if got := quota(fstest.MapFS{}); got != 0 {
		t.Errorf("a machine without cgroups has the quota %v", got)
	}
	for text, want := range map[string]bool{"0": true, "1": false} {
		if got := boosts(fstest.MapFS{"sys/devices/system/cpu/intel_pstate/no_turbo": file(text)}); got != want {
			t.Errorf("no_turbo %s is boost: %v", text, got)
		}
		if got := boosts(fstest.MapFS{"sys/devices/system/cpu/cpufreq/boost": file(text)}); got == want {
			t.Errorf("boost %s is boost: %v", text, got)
		}
	}
	if boosts(fstest.MapFS{}) {
		t.Error("a machine that says nothing boosts")
	}
}

func TestThePolicyOfAKubelet(t *testing.T) {
	for text, want := range map[string]string{`{"kubeletconfig": {"cpuManagerPolicy": "static"}}`: "static", `{}`: "", `<html>`: ""} {
		if got := policyIn([]byte(text)); got != want {
			t.Errorf("%s has the policy %q, want %q", text, got, want)
		}
	}
}
