package doctor

import (
	"fmt"
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/plan"
)

const (
	// fewDescriptors is how many files a generator needs for the largest levels that people usually ask for.
	fewDescriptors = 4096
	// performance is the governor that keeps a CPU at its frequency.
	performance = "performance"
)

// Machine is what was read of a machine.
type Machine struct {
	// Cores are the CPUs on which this program may run, by core; Online are all of the machine, as the kernel lists them.
	Cores  [][]int
	Online int
	// Governor is how frequencies are chosen; record.Unknown where the kernel does not show it. Boost is true if they may rise above the usual.
	Governor string
	Boost    bool
	// Steal is the share of time that the hypervisor took from the CPUs, and Busy the CPUs that programs used, while it was read.
	Steal, Busy float64
	// Quota is the number of CPUs that a cgroup grants; 0 if it sets no limit, and nil if no cgroup can be read.
	Quota *float64
	// Tools are the load generators that Loadstone knows.
	Tools []Tool
	// Descriptors is how many files a process may open.
	Descriptors uint64
}

// Tool is a load generator.
type Tool struct {
	// Path is where the program lies; empty if it is missing. Install says how it comes to the machine.
	Name, Path, Install string
}

// OfMachine judges a machine on which loadstone run is to measure.
func OfMachine(m Machine) []Finding {
	out := []Finding{m.cpus(), m.smt(), m.governor(), m.boost(), m.steal(), m.busy(), m.quota(), m.descriptors()}
	return append(out, m.tools()...)
}

// allowed is the number of CPUs.
func (m Machine) allowed() int { return len(slices.Concat(m.Cores...)) }

func (m Machine) cpus() Finding {
	const check = "CPUs"
	switch n := m.allowed(); {
	case n < 2:
		return say(check, Fault, "Use a machine with at least two CPUs, or set spec.placement.pinning to Preferred. Server and generator then share the CPU, and every cell is marked.",
			"%d CPU: server and generator need one each", n)
	case n < m.Online:
		return say(check, Note, "Start loadstone without taskset or a cpuset to use all of them.", "only %d of %d CPUs are available", n, m.Online)
	default:
		return say(check, Good, "", "%d CPUs", n)
	}
}

func (m Machine) smt() Finding {
	const check = "SMT"
	shared := slices.ContainsFunc(m.Cores, func(core []int) bool { return len(core) > 1 })
	switch {
	case !shared:
		return say(check, Good, "", "no two CPUs share a core, according to the kernel")
	case len(m.Cores) < 2:
		return say(check, Warning, "Use a machine with at least two cores.", "all CPUs are threads of one core: server and generator slow each other down")
	}
	return say(check, Good, "", "%d cores with hyperthreads: server and generators get different cores, and siblings stay idle if possible", len(m.Cores))
}

func (m Machine) governor() Finding {
	const check = "frequency"
	switch m.Governor {
	case performance:
		return say(check, Good, "", "the governor is %s", performance)
	case "", record.Unknown:
		return say(check, Note, "", "the kernel shows no governor, as in most virtual machines: frequency changes are unknown")
	}
	return say(check, Warning, "cpupower frequency-set --governor performance", "the governor is %s: frequencies follow the load and differ between cells", m.Governor)
}

func (m Machine) boost() Finding {
	if m.Boost {
		return say("boost", Note, "Write 1 to /sys/devices/system/cpu/intel_pstate/no_turbo, or 0 to /sys/devices/system/cpu/cpufreq/boost.",
			"turbo boost is on: long runs slow down when the CPU gets hot")
	}
	return say("boost", Good, "", "turbo boost is off, according to the kernel")
}

func (m Machine) steal() Finding {
	if m.Steal > plan.MaxSteal {
		return say("steal", Warning, "Use a machine with dedicated CPUs, or measure when its host is idle.",
			"the hypervisor took %.1f%% of the CPU time; above %.0f%%, a cell is void", 100*m.Steal, 100*plan.MaxSteal)
	}
	return say("steal", Good, "", "the hypervisor took %.1f%% of the CPU time", 100*m.Steal)
}

func (m Machine) busy() Finding {
	if m.Busy > plan.MaxNeighbourCPU {
		return say("neighbours", Warning, "Stop them, or measure later. Use top to list them.",
			"other programs used %.2f CPUs; a cell is void if they use more than %v of the server's CPUs", m.Busy, plan.MaxNeighbourCPU)
	}
	return say("neighbours", Good, "", "other programs used %.2f CPUs", m.Busy)
}

func (m Machine) quota() Finding {
	const check = "quota"
	switch {
	case m.Quota == nil:
		return say(check, Note, "Check that nothing limits the CPU time of this shell, such as the CPU limit of a container.", "cannot read cgroups: a CPU time limit may exist")
	case *m.Quota > 0:
		return say(check, Fault, "Start loadstone outside that cgroup, or in a container without a CPU limit.", "a cgroup limits CPU time to %v CPUs: it throttles processes that use more", *m.Quota)
	}
	return say(check, Good, "", "no cgroup limits CPU time")
}

func (m Machine) descriptors() Finding {
	if m.Descriptors < fewDescriptors {
		return say("open files", Warning, "ulimit -n 65536", "a process may open only %d files; each connection uses one", m.Descriptors)
	}
	return say("open files", Good, "", "a process may open %d files", m.Descriptors)
}

// tools names the load generators. One is enough.
func (m Machine) tools() []Finding {
	missing := Warning
	if slices.ContainsFunc(m.Tools, func(t Tool) bool { return t.Path != "" }) {
		missing = Note
	}
	var out []Finding
	for _, t := range m.Tools {
		if t.Path != "" {
			out = append(out, say(t.Name, Good, "", "%s", t.Path))
			continue
		}
		out = append(out, say(t.Name, missing, t.Install, "not found in PATH: loads with tool: %s are refused on this machine", t.Name))
	}
	return out
}

// Level is how much a finding weighs.
type Level string

const (
	// Good means that nothing is lacking.
	Good Level = "good"
	// Note means that a run is truthful, with a limit that its report states.
	Note Level = "note"
	// Warning means that cells are likely to be marked, void or noisier than they need be.
	Warning Level = "warning"
	// Fault means that a run with the defaults is refused, or cannot be truthful.
	Fault Level = "fault"
)

// Finding is what one check has found.
type Finding struct {
	Check   string `json:"check"`
	Level   Level  `json:"level"`
	Message string `json:"message"`
	// Fix is the way out; empty where nothing is lacking.
	Fix string `json:"fix,omitempty"`
}

// Faults counts the findings that keep a run from being truthful.
func Faults(all []Finding) int {
	n := 0
	for _, f := range all {
		if f.Level == Fault {
			n++
		}
	}
	return n
}

// Text prints findings for people, a line each, and below it the way out.
func Text(all []Finding) string {
	var b strings.Builder
	for _, f := range all {
		fmt.Fprintf(&b, "%-8s %-14s %s\n", f.Level, f.Check, f.Message)
		if f.Fix != "" {
			fmt.Fprintf(&b, "%23s Fix: %s\n", "", f.Fix)
		}
	}
	return b.String()
}

// say makes a finding.
func say(check string, level Level, fix, format string, args ...any) Finding {
	return Finding{Check: check, Level: level, Message: fmt.Sprintf(format, args...), Fix: fix}
}
