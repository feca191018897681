package quiet

import (
	"os"
	"path/filepath"
	"testing"
)

func write(t *testing.T, root, name, text string) {
	t.Helper()
	file := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestTheClustersCPUTimeByEitherVersionOfCgroups(t *testing.T) {
	tests := map[string]struct {
		files      map[string]string
		wantMillis int64
	}{
		"v2": {map[string]string{"loadstone/cpu.stat": "usage_usec 5000\nuser_usec 4000\n"}, 5},
		"v1, whose servers outside of pods are counted one by one": {
			map[string]string{
				"cpuacct/loadstone/cpuacct.usage":      "5000000\n",
				"cpuset/loadstone/system/cgroup.procs": "12\n13\n14\n",
				"12/stat":                              "12 (kube) 1 (x) S 1 12 12 0 -1 0 0 0 0 0 1 2 3 4 20 0 9 0 77\n",
				"13/stat":                              "13 (etcd) S 1 13 13 0 -1 0 0 0 0 0 10 0 0 0 20 0 9 0 77\n",
			},
			5 + 100 + 100,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			h := host{t.TempDir(), t.TempDir()}
			for file, text := range tc.files {
				write(t, h.cgroups, file, text)
				write(t, h.proc, file, text)
			}
			if got, ok := h.clusterTime(); !ok || got.Milliseconds() != tc.wantMillis {
				t.Errorf("got %s, %v; want %d ms", got, ok, tc.wantMillis)
			}
			if got, ok := h.cpuTime("nobody"); ok {
				t.Errorf("got %s of a cgroup that is not there", got)
			}
		})
	}
}
