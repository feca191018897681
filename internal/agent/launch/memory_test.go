package launch

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestTheKernelCountsWhatItKillsForMemory(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want int64
	}{
		"version 1":           {"oom_kill_disable 0\nunder_oom 0\noom_kill 3\n", 3},
		"version 2":           {"low 0\nhigh 0\nmax 12\noom 2\noom_kill 1\noom_group_kill 0\n", 1},
		"an old kernel":       {"oom_kill_disable 0\nunder_oom 0\n", 0},
		"what is no number":   {"oom_kill many\n", 0},
		"a file with nothing": {"", 0},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "events")
			if err := os.WriteFile(file, []byte(tc.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := oomKills([]string{file + ".none", file}); got != tc.want {
				t.Errorf("got %d, want %d", got, tc.want)
			}
		})
	}
	if got := oomKills([]string{filepath.Join(t.TempDir(), "none")}); got != 0 {
		t.Errorf("where nobody counts there are %d", got)
	}
}

func TestKillsOfTheOwnCgroupAreCounted(t *testing.T) {
	for name, tc := range map[string]struct{ membership, want string }{
		"version 1":   {"5:cpuset:/a\n4:memory:/run/program\n0::/\n", "memory/run/program/memory.oom_control"},
		"version 2":   {"0::/run/program\n", "run/program/memory.events"},
		"a container": {"0::/\n", "memory.events"},
		"unknown":     {"", "memory.events"},
	} {
		t.Run(name, func(t *testing.T) {
			tree := t.TempDir()
			membership := filepath.Join(tree, "membership")
			if err := os.WriteFile(membership, []byte(tc.membership), 0o600); err != nil {
				t.Fatal(err)
			}
			counter := filepath.Join(tree, tc.want)
			if err := os.MkdirAll(filepath.Dir(counter), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(counter, []byte("oom_kill 2\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := oomKills(oomFiles(tree, membership)); got != 2 {
				t.Errorf("%d kills are counted, want 2", got)
			}
		})
	}
}

func TestAProgramIsStarvedWhereItWasKilledAndTheKernelCountsOneMore(t *testing.T) {
	for name, tc := range map[string]struct {
		script        string
		before, after int64
		want          bool
	}{
		"killed for memory":                   {"kill -KILL $$", 1, 2, true},
		"killed by somebody":                  {"kill -KILL $$", 1, 1, false},
		"ended while another process starved": {"exit 0", 1, 2, false},
		"ended by another signal":             {"kill -TERM $$", 1, 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command("/bin/sh", "-c", tc.script)
			if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
				t.Fatal(err)
			}
			if got := starved(cmd.ProcessState, tc.before, tc.after); got != tc.want {
				t.Errorf("starved: %v", got)
			}
		})
	}
}
