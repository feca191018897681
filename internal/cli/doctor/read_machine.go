package doctor

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

	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/tool/tools"
)

// watched is how long the machine is watched to see what others use of it.
const watched = time.Second

// Machine reads what doctor judges of this machine.
func ReadMachine(ctx context.Context) (Machine, error) {
	root := os.DirFS("/")
	cpus := util.ParseCPUs(kernel.OwnCPUsAllowed())
	e := kernel.Environment(root, "")
	m := Machine{Cores: kernel.Cores(root, cpus), Online: len(util.ParseCPUs(e.OnlineCPUs)), Governor: e.Governor, Boost: boosts(root), Quota: quota(root), Tools: findTools()}
	var err error
	if m.Descriptors, err = kernel.DescriptorLimit(); err != nil {
		return m, fmt.Errorf("reading the open files limit: %w", err)
	}
	m.Steal, m.Busy, err = watchCPUs(ctx, root, cpus)
	return m, err
}

// findTools looks for the load generators, in the order of their names.
func findTools() []Tool {
	var out []Tool
	for name, t := range tools.All("") {
		path, _ := exec.LookPath(string(name)) // A program that is missing has none.
		out = append(out, Tool{Name: string(name), Path: path, Install: t.Install()})
	}
	slices.SortFunc(out, func(a, b Tool) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// watchCPUs returns the share of time that the hypervisor took, and the CPUs that were used.
func watchCPUs(ctx context.Context, root fs.FS, cpus []int) (steal, busy float64, err error) {
	read := func() (kernel.CPUTimes, error) {
		text, err := fs.ReadFile(root, "proc/stat")
		if err != nil {
			return kernel.CPUTimes{}, fmt.Errorf("reading CPU times: %w", err)
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

// boosts reports whether the kernel says that frequencies may rise above the nominal one.
func boosts(root fs.FS) bool {
	if text, err := fs.ReadFile(root, "sys/devices/system/cpu/intel_pstate/no_turbo"); err == nil {
		return strings.TrimSpace(string(text)) == "0"
	}
	text, err := fs.ReadFile(root, "sys/devices/system/cpu/cpufreq/boost")
	return err == nil && strings.TrimSpace(string(text)) == "1"
}

// quota is the smallest number of CPUs that a cgroup of this process grants; 0 without a limit, and nil if no cgroup can be read.
func quota(root fs.FS) *float64 {
	text, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return nil
	}
	least, known := 0.0, false
	for line := range strings.Lines(string(text)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) < 3 {
			continue
		}
		mount, read := path.Join("sys/fs/cgroup", fields[1]), quotaV1
		switch {
		case fields[0] == "0" && fields[1] == "":
			read = quotaV2
		case !slices.Contains(strings.Split(fields[1], ","), "cpu"):
			continue
		}
		for dir := path.Join(mount, fields[2]); strings.HasPrefix(dir, mount); dir = path.Dir(dir) {
			if _, err := fs.Stat(root, dir); err != nil {
				continue // In a container, the kernel names folders that only the host sees.
			}
			known = true
			if granted := read(root, dir); granted > 0 && (least == 0 || granted < least) {
				least = granted
			}
		}
	}
	if !known {
		return nil
	}
	return &least
}

// quotaV2 is what a cgroup of version 2 grants; 0 without a limit.
func quotaV2(root fs.FS, dir string) float64 {
	text, err := fs.ReadFile(root, path.Join(dir, "cpu.max"))
	fields := strings.Fields(string(text))
	if err != nil || len(fields) != 2 {
		return 0
	}
	return granted(fields[0], fields[1])
}

// quotaV1 is what a cgroup of version 1 grants; 0 without a limit.
func quotaV1(root fs.FS, dir string) float64 {
	most, errMost := fs.ReadFile(root, path.Join(dir, "cpu.cfs_quota_us"))
	period, errPeriod := fs.ReadFile(root, path.Join(dir, "cpu.cfs_period_us"))
	if errMost != nil || errPeriod != nil {
		return 0
	}
	return granted(strings.TrimSpace(string(most)), strings.TrimSpace(string(period)))
}

// granted is a quota in CPUs; 0 if the two, both in microseconds, set no limit.
func granted(most, period string) float64 {
	m, errMost := strconv.ParseFloat(most, 64)
	p, errPeriod := strconv.ParseFloat(period, 64)
	if errMost != nil || errPeriod != nil || m <= 0 || p <= 0 {
		return 0
	}
	return m / p
}
