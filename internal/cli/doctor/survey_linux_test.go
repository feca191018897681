package doctor

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/agent/kernel/kerneltest"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/client/kube"
	"loadstone.dev/loadstone/internal/store/artifact"
)

func TestMachineFactsFromKernel(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text + "\n")} }
	siblings := func(cpu string) string { return "sys/devices/system/cpu/cpu" + cpu + "/topology/thread_siblings_list" }
	root := fstest.MapFS{
		siblings("0"): file("0,2"), siblings("1"): file("1,3"), siblings("2"): file("0,2"),
		"proc/self/cgroup":                 file("1:name=systemd:/\n0::/user.slice/shell"),
		"sys/fs/cgroup/user.slice/cpu.max": file("150000 100000"), "sys/fs/cgroup/user.slice/shell/cpu.max": file("max 100000"), "sys/fs/cgroup/cpu.max": file("broken"),
	}
	if diff := cmp.Diff([][]int{{0, 2}, {1}, {7}}, kernel.Cores(root, []int{0, 1, 2, 7})); diff != "" {
		t.Errorf("cores (-want +got):\n%s", diff)
	}
	if got := quota(root); got == nil || *got != 1.5 {
		t.Errorf("the quota is %v, want 1.5", got)
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

func TestFindingsOnRecordedMachines(t *testing.T) {
	for name, tc := range map[string]struct {
		root fstest.MapFS
		want string
	}{
		"four CPUs, a core each":         {kerneltest.Node(4, 1, false), "no two CPUs share a core"},
		"sixteen CPUs on eight cores":    {kerneltest.Node(16, 2, false), "8 cores with hyperthreads"},
		"the same, threads side by side": {kerneltest.Node(16, 2, true), "8 cores with hyperthreads"},
		"two threads of one core":        {kerneltest.Node(2, 2, false), "all CPUs are threads of one core"},
	} {
		t.Run(name, func(t *testing.T) {
			e := kernel.Environment(tc.root, "")
			m := Machine{Cores: kernel.Cores(tc.root, util.ParseCPUs(e.CPUsAllowed)), Online: len(util.ParseCPUs(e.OnlineCPUs)), Quota: quota(tc.root)}
			if said := Text(OfMachine(m)); !strings.Contains(said, tc.want) || !strings.Contains(said, fmt.Sprintf("%d CPUs", m.Online)) {
				t.Errorf("the doctor does not say %q: %s", tc.want, said)
			}
			if m.Quota == nil || *m.Quota != 2 {
				t.Errorf("the quota is %v, want that of the slice above", m.Quota)
			}
		})
	}
}

func TestKubeletCPUManagerPolicy(t *testing.T) {
	for text, want := range map[string]struct {
		policy string
		whole  bool
	}{
		`{"kubeletconfig": {"cpuManagerPolicy": "static"}}`:                                                          {"static", false},
		`{"kubeletconfig": {"cpuManagerPolicy": "static", "cpuManagerPolicyOptions": {"full-pcpus-only": "true"}}}`:  {"static", true},
		`{"kubeletconfig": {"cpuManagerPolicy": "static", "cpuManagerPolicyOptions": {"full-pcpus-only": "false"}}}`: {"static", false},
		`{}`:     {},
		`<html>`: {},
	} {
		if policy, whole := policyIn([]byte(text)); policy != want.policy || whole != want.whole {
			t.Errorf("%s has the policy %q with whole cores: %v, want %+v", text, policy, whole, want)
		}
	}
}

func TestThreadsPerCoreInKubeletMetrics(t *testing.T) {
	const cores = `machine_cpu_cores{boot_id="b",machine_id="m",system_uuid="s"} `
	const physical = `machine_cpu_physical_cores{boot_id="b",machine_id="m",system_uuid="s"} `
	for text, want := range map[string]int{
		"# HELP machine_cpu_cores Number of logical CPU cores.\n" + cores + "16\n" + physical + "8\nmachine_cpu_sockets{} 1\n": 2,
		cores + "4 1700000000000\n" + physical + "4 1700000000000\n":                                                           1,
		cores + "4\n": 0,
		"":            0,
	} {
		if got := threadsIn([]byte(text)); got != want {
			t.Errorf("%s has %d threads per core, want %d", text, got, want)
		}
	}
}

func TestCPUQuotaInCgroupV1AndV2(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text + "\n")} }
	none := 0.0
	two := 2.0
	for name, tc := range map[string]struct {
		root fstest.MapFS
		want *float64
	}{
		"no cgroup":                 {fstest.MapFS{}, nil},
		"version 2 without a limit": {fstest.MapFS{"proc/self/cgroup": file("0::/"), "sys/fs/cgroup/cgroup.procs": file("1")}, &none},
		"version 1 without a limit": {fstest.MapFS{"proc/self/cgroup": file("2:cpu,cpuacct:/"), "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": file("-1"), "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": file("100000")}, &none},
		"version 1, of a parent": {fstest.MapFS{
			"proc/self/cgroup":                       file("9:name=systemd:/x\n4:cpu:/a/b"),
			"sys/fs/cgroup/cpu/a/cpu.cfs_quota_us":   file("200000"),
			"sys/fs/cgroup/cpu/a/cpu.cfs_period_us":  file("100000"),
			"sys/fs/cgroup/cpu/a/b/cpu.cfs_quota_us": file("-1"),
		}, &two},
		"version 1, in a container that does not see the folder of the host": {fstest.MapFS{
			"proc/self/cgroup": file("4:cpu:/docker/abc"), "sys/fs/cgroup/cpu/cpu.cfs_quota_us": file("200000"), "sys/fs/cgroup/cpu/cpu.cfs_period_us": file("100000"),
		}, &two},
		"a controller that is mounted elsewhere": {fstest.MapFS{"proc/self/cgroup": file("4:cpu:/")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, quota(tc.root)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestStoreOpenedByRoleIsNoFault(t *testing.T) {
	for name, tc := range map[string]struct {
		err    error
		unseen bool
	}{
		"it answers":                           {},
		"it is away":                           {err: artifact.ErrUnreachable},
		"the key of its Secret is refused":     {err: artifact.ErrDenied},
		"by a role, and the user's is refused": {err: artifact.ErrOwnKeyDenied, unseen: true},
		"by a role, and the user names no key": {err: kube.ErrNoOwnKey, unseen: true},
	} {
		t.Run(name, func(t *testing.T) {
			err := tc.err
			if err != nil {
				err = fmt.Errorf("reading: %w", err)
			}
			if why, unseen := judgedStore(err); unseen != tc.unseen || (why == "") != (err == nil) {
				t.Errorf("it is said %q, unseen: %v", why, unseen)
			}
		})
	}
}
