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

const watched = time.Second

// ReadMachine collects the facts about this machine.
func ReadMachine(ctx context.Context) (Machine, error) {
	root := os.DirFS("/")
	cpus := util.ParseCPUs(kernel.OwnCPUsAllowed())
	e := kernel.Environment(root, "")
	m := Machine{Cores: kernel.Cores(root, cpus), Online: len(util.ParseCPUs(e.OnlineCPUs)), Governor: e.Governor, Boost: boosts(root), Quota: quota(root), Tools: findTools()}
	var err error
	if m.Descriptors, err = kernel.DescriptorLimit(); err != nil {
		return m, fmt.Errorf("reading the open files limit: %w", err)
	}
	m.Steal, m.Busy, err = kernel.WatchCPUs(ctx, root, cpus, watched)
	return m, err
}

func findTools() []Tool {
	var out []Tool
	for name, t := range tools.All("") {
		path, _ := exec.LookPath(string(name)) // Empty for a missing program.
		out = append(out, Tool{Name: string(name), Path: path, Install: t.Install()})
	}
	slices.SortFunc(out, func(a, b Tool) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func boosts(root fs.FS) bool {
	if text, err := fs.ReadFile(root, "sys/devices/system/cpu/intel_pstate/no_turbo"); err == nil {
		return strings.TrimSpace(string(text)) == "0"
	}
	text, err := fs.ReadFile(root, "sys/devices/system/cpu/cpufreq/boost")
	return err == nil && strings.TrimSpace(string(text)) == "1"
}

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
				continue // In a container, some of these folders exist only on the host.
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

func quotaV2(root fs.FS, dir string) float64 {
	text, err := fs.ReadFile(root, path.Join(dir, "cpu.max"))
	fields := strings.Fields(string(text))
	if err != nil || len(fields) != 2 {
		return 0
	}
	return granted(fields[0], fields[1])
}

func quotaV1(root fs.FS, dir string) float64 {
	most, errMost := fs.ReadFile(root, path.Join(dir, "cpu.cfs_quota_us"))
	period, errPeriod := fs.ReadFile(root, path.Join(dir, "cpu.cfs_period_us"))
	if errMost != nil || errPeriod != nil {
		return 0
	}
	return granted(strings.TrimSpace(string(most)), strings.TrimSpace(string(period)))
}

func granted(most, period string) float64 {
	m, errMost := strconv.ParseFloat(most, 64)
	p, errPeriod := strconv.ParseFloat(period, 64)
	if errMost != nil || errPeriod != nil || m <= 0 || p <= 0 {
		return 0
	}
	return m / p
}
