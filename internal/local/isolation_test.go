package local

import (
	"errors"
	"os"
	"strings"
	"testing"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/agent/cgroup"
	"loadstone.dev/loadstone/internal/local/reexec/reexectest"
	"loadstone.dev/loadstone/internal/run/conduct"
)

func TestTheReportSaysWhatProcessesShare(t *testing.T) {
	for name, tc := range map[string]struct {
		cgroups *cgroup.Parent
		shared  error
		want    []string
	}{
		"with cgroups":                  {&cgroup.Parent{}, nil, []string{"had a cgroup of its own", "spec.implementations[].memory as limit", "share the page cache and the machine's network"}},
		"where none may be made":        {nil, errors.New("permission denied"), []string{"spec.implementations[].memory is no limit here", "permits no cgroup of their own (permission denied)"}},
		"before it was tried":           {nil, nil, []string{"a CPU quota would not be seen"}},
		"where there are none to speak": {nil, errors.New("no controller memory"), []string{"memory, the page cache and the machine's network"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := led(t, quick())
			r.cgroups, r.shared = tc.cgroups, tc.shared
			for _, want := range tc.want {
				if got := r.isolation(); !strings.Contains(got, want) {
					t.Errorf("it says %q, want %q", got, want)
				}
			}
		})
	}
}

func TestAMachineWithOneCPUIsToldWhatThatCosts(t *testing.T) {
	for name, tc := range map[string]struct {
		cores [][]int
		want  bool
	}{
		"one CPU":               {[][]int{{0}}, true},
		"two CPUs":              {[][]int{{0}, {1}}, false},
		"two threads of a core": {[][]int{{0, 1}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := led(t, quick())
			n := NeedsOf(r.facts.Trials[0].Work)
			own, enough := Take(tc.cores, n)
			if !enough {
				own = Share(tc.cores, n)
			}
			r.seats = own
			if got := strings.Contains(strings.Join(r.notes(), "\n"), "this machine has one CPU for servers and load generators"); got != tc.want {
				t.Errorf("it is told: %v, with %s", got, own.Sentence())
			}
		})
	}
}

// A program that exceeds its memory fails with a clear sentence, as on a cluster.
func TestAProgramThatExceedsItsMemoryIsTold(t *testing.T) {
	r := led(t, quick())
	if r.openCgroups(); r.cgroups == nil {
		t.Skipf("this machine permits no cgroup: %v", r.shared)
	}
	t.Cleanup(r.cgroups.Remove)
	own := assembled(t)
	m := joined(t, own, r.facts.Trials[0].Work.Members()[1])
	// The group has room for the process that starts the program, also with the race detector.
	m.Processes[0].MemoryBytes = 128 << 20
	cpus := reexectest.OwnCPUs(t)
	at := place{cpus: cpus, rest: cpus, folder: t.TempDir()}
	a := &attempt{Run: r, trial: &r.facts.Trials[0], team: own}
	flags, err := a.isolate(m, at)
	if err != nil || m.group == nil || len(flags) != 2 || flags[0] != "--counters" {
		t.Fatalf("its agents are told %q, %v", flags, err)
	}
	command := []string{"/bin/sh", "-c", "head -c 600000000 /dev/zero | tail -c 500000000 >/dev/null; exit 137"}
	f, err := own.startServer(m, at, command, serving, plainServer)
	if f != nil || err != nil {
		t.Fatalf("it is not started: %v, %v", f, err)
	}
	want := conduct.ServerExited(serving, plainServer, conduct.Exit{OutOfMemory: true})
	if got := anyFault(t, own); got.Message != want.Message {
		t.Errorf("it says %q, want %q", got.Message, want.Message)
	}
	own.end()
	if _, err := os.Stat(m.group.Folders[0].Dir); !os.IsNotExist(err) {
		t.Errorf("its cgroup is left: %v", err)
	}
}

func TestAGeneratorEntersItsOwnGroup(t *testing.T) {
	r := led(t, quick())
	if r.openCgroups(); r.cgroups == nil {
		t.Skipf("this machine permits no cgroup: %v", r.shared)
	}
	t.Cleanup(r.cgroups.Remove)
	own := assembled(t)
	m := joined(t, own, r.facts.Trials[0].Work.Members()[0])
	cpus := reexectest.OwnCPUs(t)
	a := &attempt{Run: r, trial: &r.facts.Trials[0], team: own}
	flags, err := a.isolate(m, place{cpus: cpus, rest: cpus})
	if err != nil {
		t.Fatal(err)
	}
	if err := own.startAgent(m, cpus, append(flags, "--trial", "quick-000-plain", "--node", "here"), []string{"generate"}); err != nil {
		t.Fatal(err)
	}
	reexectest.Await(t, "the agent is in its cgroup", func() bool {
		text, err := os.ReadFile(m.group.Folders[0].Dir + "/cgroup.procs")
		return err == nil && strings.TrimSpace(string(text)) != ""
	})
}

func TestOnlyARunOfImagesHasItsOwnNetwork(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*v1alpha1.BenchmarkRunSpec)
		want   bool
	}{
		"commands":        {func(*v1alpha1.BenchmarkRunSpec) {}, false},
		"an image":        {func(s *v1alpha1.BenchmarkRunSpec) { s.Implementations[1].Image = "./costly.tar" }, true},
		"an unused image": {func(s *v1alpha1.BenchmarkRunSpec) { s.Implementations[1].Image = "costly:1" }, false},
		"an image on the network of the machine": {func(s *v1alpha1.BenchmarkRunSpec) {
			s.Implementations[1].Image, s.Placement.Network = "./costly.tar", v1alpha1.NetworkHost
		}, false},
	} {
		spec := quick()
		tc.change(&spec)
		r := led(t, spec)
		if got := r.apart(); got != tc.want {
			t.Errorf("%s: its own network: %t", name, got)
		}
		if got := strings.Contains(r.isolation(), "the network of the run"); got != tc.want {
			t.Errorf("%s: it says %s", name, r.isolation())
		}
	}
}
