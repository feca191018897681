package doctor

import (
	"fmt"
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/plan"
)

const (
	// fewDescriptors is enough open files for the largest usual levels.
	fewDescriptors = 4096
	performance    = "performance"
)

// Machine has the facts about a machine.
type Machine struct {
	// Cores are the CPUs available to this program, by core. Online is the number of CPUs of the machine.
	Cores  [][]int
	Online int
	// Governor is the CPU governor; record.Unknown if the kernel does not show it. Boost is true if turbo boost is on.
	Governor string
	Boost    bool
	// Steal is the share of CPU time that the hypervisor took. Busy is the number of CPUs in use by other programs.
	Steal, Busy float64
	// Quota is the CPU limit of the cgroup; 0 without a limit, nil if unknown.
	Quota       *float64
	Tools       []Tool
	Descriptors uint64
}

// Tool is a load generator.
type Tool struct {
	// Path is empty if the program is missing. Install is the command that installs it.
	Name, Path, Install string
}

// OfMachine checks a machine.
func OfMachine(m Machine) []Finding {
	out := []Finding{m.cpus(), m.smt(), m.governor(), m.boost(), m.steal(), m.busy(), m.quota(), m.descriptors()}
	return append(out, m.tools()...)
}

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

// Level is the severity of a finding.
type Level string

const (
	// Good needs no action.
	Good Level = "good"
	// Note is a limit that reports mention.
	Note Level = "note"
	// Warning: void cells or noise are likely.
	Warning Level = "warning"
	// Fault: a run is refused, or its cells are void.
	Fault Level = "fault"
)

// Finding is the result of one check.
type Finding struct {
	Check   string `json:"check"`
	Level   Level  `json:"level"`
	Message string `json:"message"`
	// Fix is empty if there is no problem.
	Fix string `json:"fix,omitempty"`
}

// Faults counts the faults.
func Faults(all []Finding) int {
	n := 0
	for _, f := range all {
		if f.Level == Fault {
			n++
		}
	}
	return n
}

// Text prints one line per finding, and its fix below.
func Text(all []Finding) string {
	var b strings.Builder
	for _, f := range all {
		fmt.Fprintf(&b, "%-8s %-14s %s\n", f.Level, f.Check, f.Message)
		if f.Fix != "" {
			fmt.Fprintf(&b, "%23s Fix: %s\n", "", f.Fix)
		}
	}
	return util.Printable(b.String())
}

func say(check string, level Level, fix, format string, args ...any) Finding {
	return Finding{Check: check, Level: level, Message: fmt.Sprintf(format, args...), Fix: fix}
}
