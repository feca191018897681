package survey

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"loadstone.dev/loadstone/internal/cpuset"
	"loadstone.dev/loadstone/internal/doctor"
	"loadstone.dev/loadstone/internal/kernel"
	"loadstone.dev/loadstone/internal/tool/tools"
)

// watched is how long the machine is watched to see what others use of it.
const watched = time.Second

// Machine reads what doctor judges of this machine.
func Machine(ctx context.Context) (doctor.Machine, error) {
	root := os.DirFS("/")
	cpus := cpuset.Parse(kernel.OwnCPUsAllowed())
	e := kernel.Environment(root, "")
	m := doctor.Machine{Cores: coresOf(root, cpus), Online: len(cpuset.Parse(e.OnlineCPUs)), Governor: e.Governor, Boost: boosts(root), Quota: quota(root), Tools: findTools()}
	var err error
	if m.Descriptors, err = kernel.DescriptorLimit(); err != nil {
		return m, fmt.Errorf("reading the limit of open files: %w", err)
	}
	m.Steal, m.Busy, err = watchCPUs(ctx, root, cpus)
	return m, err
}

// findTools looks for the load generators, in the order of their names.
func findTools() []doctor.Tool {
	var out []doctor.Tool
	for name, t := range tools.All("") {
		path, _ := exec.LookPath(string(name)) // A program that is missing has none.
		out = append(out, doctor.Tool{Name: string(name), Path: path, Install: t.Traits().Install})
	}
	slices.SortFunc(out, func(a, b doctor.Tool) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// watchCPUs returns the share of time that the hypervisor took, and the CPUs that were used.
func watchCPUs(ctx context.Context, root fs.FS, cpus []int) (steal, busy float64, err error) {
	read := func() (kernel.CPUTimes, error) {
		text, err := fs.ReadFile(root, "proc/stat")
		if err != nil {
			return kernel.CPUTimes{}, fmt.Errorf("reading the times of the CPUs: %w", err)
		}
		return kernel.TimesOf(text, cpus)
	}
	before, err := read()
	if err != nil {
		return 0, 0, err
	}
	select {
	case <-ctx.Done():
		return 0, 0, ctx.Err()
	case <-time.After(watched):
	}
	after, err := read()
	if err != nil || after.Total == before.Total {
		return 0, 0, err
	}
	total := float64(after.Total - before.Total)
	return float64(after.Steal-before.Steal) / total, float64(after.Busy-before.Busy) / total * float64(len(cpus)), nil
}

// coresOf sorts CPUs by the cores that they share. Where the kernel says nothing, each is a core of its own.
func coresOf(root fs.FS, cpus []int) [][]int {
	byCore := map[string][]int{}
	var names []string
	for _, cpu := range cpus {
		text, err := fs.ReadFile(root, "sys/devices/system/cpu/cpu"+strconv.Itoa(cpu)+"/topology/thread_siblings_list")
		core := strings.TrimSpace(string(text))
		if err != nil || core == "" {
			core = strconv.Itoa(cpu)
		}
		if byCore[core] == nil {
			names = append(names, core)
		}
		byCore[core] = append(byCore[core], cpu)
	}
	var out [][]int
	for _, name := range names {
		out = append(out, byCore[name])
	}
	return out
}

// boosts reports whether the kernel says that frequencies may rise above the nominal one.
func boosts(root fs.FS) bool {
	if text, err := fs.ReadFile(root, "sys/devices/system/cpu/intel_pstate/no_turbo"); err == nil {
		return strings.TrimSpace(string(text)) == "0"
	}
	text, err := fs.ReadFile(root, "sys/devices/system/cpu/cpufreq/boost")
	return err == nil && strings.TrimSpace(string(text)) == "1"
}

// quota is the smallest number of CPUs that a cgroup of this process grants; 0 without a limit.
func quota(root fs.FS) float64 {
	text, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return 0
	}
	var own string
	for line := range strings.Lines(string(text)) {
		if after, found := strings.CutPrefix(strings.TrimSpace(line), "0::"); found {
			own = after
		}
	}
	var granted []float64
	for dir := path.Join("sys/fs/cgroup", own); strings.HasPrefix(dir, "sys/fs/cgroup"); dir = path.Dir(dir) {
		limit, err := fs.ReadFile(root, path.Join(dir, "cpu.max"))
		fields := strings.Fields(string(limit))
		if err != nil || len(fields) != 2 || fields[0] == "max" {
			continue
		}
		most, errMost := strconv.ParseFloat(fields[0], 64)
		period, errPeriod := strconv.ParseFloat(fields[1], 64)
		if errMost == nil && errPeriod == nil && period > 0 {
			granted = append(granted, most/period)
		}
	}
	if len(granted) == 0 {
		return 0
	}
	return slices.Min(granted)
}
