package kernel

import (
	"errors"
	"fmt"
	"testing"

	"loadstone.dev/loadstone/internal/agent/kernel/kerneltest"
	"loadstone.dev/loadstone/internal/record"
)

var (
	versionTwo = map[string]string{
		"cpu.stat":       "usage_usec 1234\nuser_usec 1000\nsystem_usec 234\nnr_periods 50\nnr_throttled 3\nthrottled_usec 77\n",
		"memory.current": "4096\n",
		"cpu.pressure":   "some avg10=0.00 avg60=0.00 avg300=0.00 total=42\n",
	}
	versionOne = map[string]string{
		"cpuacct/cpuacct.usage":        "1234000\n",
		"cpu/cpu.stat":                 "nr_periods 50\nnr_throttled 3\nthrottled_time 77000\n",
		"memory/memory.usage_in_bytes": "4096\n",
	}
)

// cgroup opens a cgroup with the given files; an empty changed text removes one.
func cgroup(t *testing.T, files, changed map[string]string) (*Cgroup, error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if other, ok := changed[name]; ok {
			text = other
		}
		if text != "" {
			kerneltest.Rewrite(t, dir, map[string]string{name: text})
		}
	}
	c, err := OpenCgroup(dir)
	t.Cleanup(c.Close)
	return c, err
}

func TestBothVersionsOfCgroupsCountAlike(t *testing.T) {
	for name, files := range map[string]map[string]string{"version 2": versionTwo, "version 1": versionOne} {
		t.Run(name, func(t *testing.T) {
			c, err := cgroup(t, files, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := c.CPUNanos(); err != nil || got != 1_234_000 {
				t.Errorf("the CPU time is %d ns, %v", got, err)
			}
			if got, err := c.MemoryBytes(); err != nil || got != 4096 {
				t.Errorf("the memory is %d bytes, %v", got, err)
			}
			if got, err := c.Throttled(); err != nil || got != (record.Throttling{Nanos: 77_000, Periods: 3}) {
				t.Errorf("throttled %+v, %v", got, err)
			}
			if hasPressure := c.Pressure != nil; hasPressure != (c.version == 2) {
				t.Errorf("version %d has a pressure of its own: %v", c.version, hasPressure)
			}
		})
	}
}

func TestACgroupThatIsNotThereIsAnError(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"an empty folder":  {},
		"memory only":      {"memory.current": "1\n"},
		"a quota only":     {"cpu/cpu.stat": "nr_throttled 0\n"},
		"a folder as file": {"cpuacct/cpuacct.usage/x": "1\n"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := cgroup(t, files, nil)
			if err == nil {
				_, err = c.CPUNanos()
			}
			if err == nil {
				t.Error("its CPU time is known")
			}
		})
	}
	var none *Cgroup
	none.Close()
}

func TestACounterThatIsMissingIsNotZero(t *testing.T) {
	cpu := func(c *Cgroup) error { _, err := c.CPUNanos(); return err }
	memory := func(c *Cgroup) error { _, err := c.MemoryBytes(); return err }
	throttled := func(c *Cgroup) error { _, err := c.Throttled(); return err }
	for name, tc := range map[string]struct {
		files, changed map[string]string
		read           func(*Cgroup) error
	}{
		"v2: no usage":              {versionTwo, map[string]string{"cpu.stat": "nr_throttled 1\nthrottled_usec 2\n"}, cpu},
		"v2: usage of another name": {versionTwo, map[string]string{"cpu.stat": "usage_usec_total 5\n"}, cpu},
		"v2: usage that is no number": {
			versionTwo, map[string]string{"cpu.stat": "usage_usec many\n"}, cpu,
		},
		"v2: no memory":                 {versionTwo, map[string]string{"memory.current": ""}, memory},
		"v2: memory that is no number":  {versionTwo, map[string]string{"memory.current": "max\n"}, memory},
		"v2: no quota":                  {versionTwo, map[string]string{"cpu.stat": "usage_usec 5\n"}, throttled},
		"v2: periods without a time":    {versionTwo, map[string]string{"cpu.stat": "usage_usec 5\nnr_throttled 1\n"}, throttled},
		"v1: usage that is no number":   {versionOne, map[string]string{"cpuacct/cpuacct.usage": "x\n"}, cpu},
		"v1: no memory":                 {versionOne, map[string]string{"memory/memory.usage_in_bytes": ""}, memory},
		"v1: no quota":                  {versionOne, map[string]string{"cpu/cpu.stat": ""}, throttled},
		"v1: a time without periods":    {versionOne, map[string]string{"cpu/cpu.stat": "throttled_time 5\n"}, throttled},
		"v1: the key of the other one":  {versionOne, map[string]string{"cpu/cpu.stat": "nr_throttled 1\nthrottled_usec 5\n"}, throttled},
		"v2: the key of the other, too": {versionTwo, map[string]string{"cpu.stat": "usage_usec 5\nnr_throttled 1\nthrottled_time 5\n"}, throttled},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := cgroup(t, tc.files, tc.changed)
			if err != nil {
				t.Fatal(err)
			}
			if err := tc.read(c); !errors.Is(err, ErrNoNumber) {
				t.Errorf("got %v, want %v", err, ErrNoNumber)
			}
		})
	}
}

func TestAnOpenCgroupShowsWhatItHasNow(t *testing.T) {
	dir := t.TempDir()
	kerneltest.Rewrite(t, dir, versionTwo)
	c, err := OpenCgroup(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, want := range []int64{1, 999_999_999, 20} {
		kerneltest.Rewrite(t, dir, map[string]string{"cpu.stat": fmt.Sprintf("usage_usec %d\n", want)})
		if got, err := c.CPUNanos(); err != nil || got != 1000*want {
			t.Errorf("the CPU time is %d ns, %v; want %d µs", got, err, want)
		}
	}
}
