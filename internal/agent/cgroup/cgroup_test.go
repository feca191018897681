package cgroup

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/agent/kernel"
)

func opened(t *testing.T) *Parent {
	t.Helper()
	p, err := Open("/sys/fs/cgroup", "/proc")
	if err != nil {
		t.Skipf("this machine permits no cgroup: %v", err)
	}
	t.Cleanup(p.Remove)
	return p
}

func TestAProcessThatIsStartedWithinAGroupStaysThere(t *testing.T) {
	p := opened(t)
	g, err := p.Make("server-0", Limits{MemoryBytes: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	before := read(t, "/proc/self/cgroup")
	cmd := exec.CommandContext(t.Context(), "/bin/sleep", "1000")
	if err := g.Within(cmd.Start); err != nil {
		t.Fatal(err)
	}
	within := read(t, fmt.Sprintf("/proc/%d/cgroup", cmd.Process.Pid))
	if got := strings.Count(within, "/server-0\n"); got != len(g.Folders) {
		t.Errorf("it is in %d of %d groups:\n%s", got, len(g.Folders), within)
	}
	if after := read(t, "/proc/self/cgroup"); after != before {
		t.Errorf("this process has moved from\n%sto\n%s", before, after)
	}
	links, err := g.Counters(filepath.Join(t.TempDir(), "counters"))
	if err != nil {
		t.Fatal(err)
	}
	counters, err := kernel.OpenCgroup(links)
	if err != nil {
		t.Fatal(err)
	}
	defer counters.Close()
	if nanos, err := counters.CPUNanos(); err != nil || nanos <= 0 {
		t.Errorf("its CPU time is %d, %v", nanos, err)
	}
	if bytes, err := counters.MemoryBytes(); err != nil || bytes <= 0 {
		t.Errorf("its memory is %d, %v", bytes, err)
	}
	p.Remove()
	if _, err := os.Stat(g.Folders[0].Dir); err != nil {
		t.Errorf("a group that holds a process is removed: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // It was killed.
	g.RemoveAll()
	for _, f := range g.Folders {
		if _, err := os.Stat(filepath.Dir(f.Dir)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the run's cgroup is left: %v", err)
		}
	}
}

// The PID of an ended process stands for a killed run.
func TestWhatAKilledRunHasLeftIsRemoved(t *testing.T) {
	p := opened(t)
	ended := exec.CommandContext(t.Context(), "/bin/true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	above := filepath.Dir(p.hierarchies[0].dir)
	left := filepath.Join(above, prefix+fmt.Sprint(ended.Process.Pid))
	alive := filepath.Join(above, prefix+fmt.Sprint(os.Getppid()))
	for _, dir := range []string{left, filepath.Join(left, "server-0"), alive} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { sweep(alive) })
	p.removeAbandoned("/proc")
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is left: %v", err)
	}
	if _, err := os.Stat(alive); err != nil {
		t.Errorf("that of a run that goes on is removed: %v", err)
	}
}

func TestAGroupThatExceedsItsMemoryIsKnown(t *testing.T) {
	p := opened(t)
	g, err := p.Make("server-0", Limits{MemoryBytes: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	if g.OutOfMemory() {
		t.Error("an empty group exceeds its memory")
	}
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", "head -c 100000000 /dev/zero | tail -c 90000000 >/dev/null")
	if err := g.Within(cmd.Start); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // The test uses the kernel's answer.
	if !g.OutOfMemory() {
		t.Error("nobody knows that it has exceeded its memory")
	}
	g.Remove()
	g.Remove()
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// machine fakes a cgroup tree and what /proc says about this process, with plain files.
func machine(t *testing.T, own string, files map[string]string) (tree, proc string) {
	t.Helper()
	tree, proc = t.TempDir(), t.TempDir()
	all := map[string]string{filepath.Join(proc, "self/cgroup"): own}
	for name, text := range files {
		all[filepath.Join(tree, name)] = text
	}
	for path, text := range all {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return tree, proc
}

func TestAGroupIsLimitedInEitherVersion(t *testing.T) {
	one := map[string]string{}
	for _, c := range []string{"cpuset", "cpuacct", "cpu", "memory"} {
		one[c+"/own/cgroup.procs"] = ""
	}
	one["cpuset/own/cpuset.cpus"], one["cpuset/own/cpuset.mems"] = "0-3\n", "0\n"
	for name, tc := range map[string]struct {
		own   string
		files map[string]string
		want  map[string]string
	}{
		"version 1": {
			"12:pids:/\n8:cpuset:/own\n4:cpu,cpuacct:/own\n3:memory:/own\n0::/own\n", one,
			map[string]string{
				"cpuset/own/run/cpuset.cpus": "0-3", "cpuset/own/run/server-0/cpuset.cpus": "2,3", "cpuset/own/run/server-0/cpuset.mems": "0",
				"memory/own/run/server-0/memory.limit_in_bytes": "1048576", "cpu/own/cgroup.procs": "PID",
			},
		},
		"version 1 of a container, which sees its own as the root": {
			"8:cpuset:/docker/own\n4:cpuacct:/docker/own\n5:cpu:/docker/own\n3:memory:/docker/own\n",
			map[string]string{"cpuset/cpuset.cpus": "1", "cpuset/cpuset.mems": "0", "memory/x": "", "cpu/x": "", "cpuacct/x": ""},
			map[string]string{"cpuset/run/server-0/cpuset.cpus": "2,3", "memory/cgroup.procs": "PID"},
		},
		"version 2": {
			"0::/own\n",
			map[string]string{"cgroup.controllers": "", "own/cgroup.subtree_control": "cpuset cpu io memory"},
			map[string]string{
				"own/run/cgroup.subtree_control": "+cpu +memory +cpuset", "own/run/server-0/cpuset.cpus": "2,3", "own/run/server-0/memory.max": "1048576",
				"own/cgroup.procs": "PID", "own/run/server-0/cgroup.procs": "PID",
			},
		},
		"version 2 below the root, since the own cgroup holds processes and hands nothing down": {
			"0::/own\n",
			map[string]string{"cgroup.controllers": "", "own/x": "", "cgroup.subtree_control": "cpuset cpu memory"},
			map[string]string{"run/cgroup.subtree_control": "+cpu +memory +cpuset", "run/server-0/memory.max": "1048576", "own/cgroup.procs": "PID"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			tree, proc := machine(t, tc.own, tc.files)
			p, err := find(tree, read(t, filepath.Join(proc, "self/cgroup")), "run")
			if err != nil {
				t.Fatal(err)
			}
			g, err := p.Make("server-0", Limits{CPUs: []int{2, 3}, MemoryBytes: 1 << 20})
			if err != nil {
				t.Fatal(err)
			}
			if err := g.Within(func() error { return nil }); err != nil {
				t.Fatal(err)
			}
			for file, want := range tc.want {
				got := strings.TrimSpace(read(t, filepath.Join(tree, file)))
				if want = strings.Replace(want, "PID", fmt.Sprint(os.Getpid()), 1); got != want {
					t.Errorf("%s holds %q, want %q", file, got, want)
				}
			}
		})
	}
}

func TestAMachineWithoutCgroupsSaysSo(t *testing.T) {
	for name, tc := range map[string]struct {
		own   string
		files map[string]string
		want  string
	}{
		"no cgroups at all":              {"0::/\n", nil, "this machine has no cgroups with the controller cpuset"},
		"a controller is missing":        {"8:cpuset:/\n4:cpu,cpuacct:/\n", map[string]string{"cpuset/x": ""}, "no cgroups with the controller memory"},
		"version 2 hands nothing down":   {"0::/own\n", map[string]string{"cgroup.controllers": "cpu memory", "cgroup.subtree_control": "", "own/cgroup.subtree_control": ""}, "hands down the controllers"},
		"nobody says where this process": {"", nil, "no cgroups with the controller"},
	} {
		t.Run(name, func(t *testing.T) {
			tree, proc := machine(t, tc.own, tc.files)
			if p, err := Open(tree, proc); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("it opens %v, %v; want %q", p, err, tc.want)
			}
		})
	}
	if _, err := Open(t.TempDir(), t.TempDir()); err == nil {
		t.Error("without processes there is a cgroup")
	}
	var none *Parent
	none.Remove()
	var group *Group
	group.Remove()
	group.RemoveAll()
}

func TestAGroupCanBeToldToAnotherProcess(t *testing.T) {
	g := Group{Version: 1, Folders: []Folder{{Dir: "/a/run/server-0", Home: "/a", Controllers: []string{"cpu", "cpuacct"}}}}
	text, err := json.Marshal(g)
	if err != nil {
		t.Fatal(err)
	}
	var told Group
	if err := json.Unmarshal(text, &told); err != nil || !cmp.Equal(g, told) {
		t.Errorf("it is told as %+v, %v", told, err)
	}
	links := filepath.Join(t.TempDir(), "links")
	for range 2 {
		if got, err := told.Counters(links); err != nil || got != links {
			t.Fatalf("its counters lie in %s, %v", got, err)
		}
	}
	for _, c := range []string{"cpu", "cpuacct"} {
		if to, err := os.Readlink(filepath.Join(links, c)); err != nil || to != "/a/run/server-0" {
			t.Errorf("%s lies in %s, %v", c, to, err)
		}
	}
	two := Group{Version: 2, Folders: []Folder{{Dir: "/sys/fs/cgroup/run/server-0"}}}
	if got, err := two.Counters(links); err != nil || got != two.Folders[0].Dir {
		t.Errorf("the counters of version 2 lie in %s, %v", got, err)
	}
	for text, want := range map[string]bool{"low 0\noom 3\noom_kill 0\n": false, "low 0\noom 3\noom_kill 2\noom_group_kill 0\n": true, "": false} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "memory.events"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		own := Group{Version: 2, Folders: []Folder{{Dir: dir, Controllers: slices.Clone(unified)}}}
		if got := own.OutOfMemory(); got != want {
			t.Errorf("%q: it has exceeded its memory: %v", text, got)
		}
	}
}
