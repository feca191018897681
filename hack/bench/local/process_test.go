package local

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestParseStat(t *testing.T) {
	busy, steal := parseStat("cpu  1 2 4 1000 2000 8 16 32 64 0\ncpu0 1 1 1 1\n")
	if busy != 31*tick || steal != 32*tick {
		t.Errorf("got %s busy and %s stolen, want %s and %s", busy, steal, 31*tick, 32*tick)
	}
}

func TestLineOfACPU(t *testing.T) {
	const text = "cpu  1 1\ncpu1 2 2\ncpu10 3 3\n"
	if got, err := lineOf(text, "cpu1"); err != nil || got != "cpu1 2 2\n" {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := lineOf(text, "cpu2"); err == nil {
		t.Errorf("got %q of a CPU that there is not", got)
	}
}

func TestOnlyTheFirstOfAllCgroupsCountsTheMachine(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("cpuacct.usage", "5000000\n")
	if got, ok := cpuacct(dir); ok {
		t.Errorf("got %s of a cgroup that has no release agent", got)
	}
	write("release_agent", "")
	if got, ok := cpuacct(dir); !ok || got != 5*time.Millisecond {
		t.Errorf("got %s, %v, want 5ms", got, ok)
	}
}

func TestCPUTimeOfAProcess(t *testing.T) {
	before, err := CPUTime(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	after := before
	for deadline := time.Now().Add(20 * time.Second); after-before < 20*time.Millisecond; {
		if after, err = CPUTime(os.Getpid()); err != nil {
			t.Fatal(err)
		}
		if time.Now().After(deadline) {
			t.Fatalf("a busy process used %s in 20 s", after-before)
		}
	}
	const nobody = 1 << 22
	if _, err := CPUTimes([]int{os.Getpid(), nobody}); err == nil {
		t.Error("a process that there is not has a CPU time")
	}
}

func TestParseResident(t *testing.T) {
	tests := map[string]struct {
		text string
		want int64
	}{
		"a process":              {"5581c000-7ffd000 ---p 00000000 00:00 0 [rollup]\nRss:                1500 kB\nPss:  700 kB\n", 1500 << 10},
		"one that has ended":     {"", 0},
		"a number that is none":  {"Rss: many kB\n", 0},
		"a unit that is unknown": {"Rss: 15 MB\n", 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got, err := parseResident(tc.text); got != tc.want || (err == nil) != (tc.want > 0) {
				t.Errorf("got %d, %v; want %d", got, err, tc.want)
			}
		})
	}
	if own, err := ResidentMemory(os.Getpid()); err != nil || own < 1<<20 {
		t.Errorf("this process has %d bytes, %v", own, err)
	}
}
