package kernel

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/record"
)

func TestEnvironment(t *testing.T) {
	machine := map[string]string{
		"proc/self/status":              "Name:\tx\nCpus_allowed:\t3\nCpus_allowed_list:\t0-1\n",
		"proc/sys/kernel/osrelease":     "6.1.0\n",
		"etc/os-release":                "NAME=\"x\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n",
		"proc/cpuinfo":                  "processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\nmicrocode\t: 0x2b\n",
		"proc/meminfo":                  "MemTotal:       1024 kB\nMemFree: 1 kB\n",
		"sys/devices/system/cpu/online": "0-3\n",
		"sys/devices/system/cpu/cpu0/topology/thread_siblings_list": "0,2\n",
		"sys/devices/system/cpu/cpu1/topology/thread_siblings_list": "1,3\n",
		"sys/devices/system/cpu/cpu1/cpufreq/scaling_governor":      "performance\n",
		"sys/fs/cgroup/cgroup.controllers":                          "cpu memory\n",
	}
	tests := map[string]struct {
		files map[string]string
		cpus  string
		want  record.Environment
	}{
		"a machine that shows everything": {
			files: machine, cpus: "1",
			want: record.Environment{
				Kernel: "6.1.0", OS: "Debian GNU/Linux 12 (bookworm)", CPUModel: "Some CPU @ 2 GHz", OnlineCPUs: "0-3",
				MemoryBytes: 1 << 20, CgroupVersion: "v2", Governor: "performance", Microcode: "0x2b", SMTSiblings: "1,3", CPUsAllowed: "0-1",
			},
		},
		"the agent's own CPUs": {
			files: machine,
			want: record.Environment{
				Kernel: "6.1.0", OS: "Debian GNU/Linux 12 (bookworm)", CPUModel: "Some CPU @ 2 GHz", OnlineCPUs: "0-3",
				MemoryBytes: 1 << 20, CgroupVersion: "v2", Governor: "unknown", Microcode: "0x2b", SMTSiblings: "0,1,2,3", CPUsAllowed: "0-1",
			},
		},
		"a machine that shows nothing": {
			want: record.Environment{
				Kernel: record.Unknown, OS: record.Unknown, CPUModel: record.Unknown, OnlineCPUs: record.Unknown, CgroupVersion: record.Unknown,
				Governor: record.Unknown, Microcode: record.Unknown, CPUsAllowed: record.Unknown,
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			root := fstest.MapFS{}
			for file, text := range tc.files {
				root[file] = &fstest.MapFile{Data: []byte(text)}
			}
			if diff := cmp.Diff(tc.want, Environment(root, tc.cpus)); diff != "" {
				t.Errorf("Environment() (-want +got):\n%s", diff)
			}
		})
	}
}
