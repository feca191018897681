package kernel

import (
	"errors"
	"testing"

	"loadstone.dev/loadstone/internal/agent/kernel/kerneltest"
)

const machine = "cpu  1 1 1 1 1 1 1 1 0 0\n" +
	"cpu0 9 9 9 9 9 9 9 9 0 0\n" +
	"cpu1 10 1 5 100 2 1 1 4 3 0\n" +
	"cpu3 20 0 0 10 0 0 0 0 0 0\n" +
	"cpu13 7 7 7 7 7 7 7 7 0 0\n" +
	"intr 1 2 3\n" +
	"cpu1 1000 0 0 0 0 0 0 0 0 0\n"

func TestTimesOfAddsUpTheCPUsThatAreAskedFor(t *testing.T) {
	const tick = nanosPerTick
	for name, tc := range map[string]struct {
		text string
		cpus []int
		want CPUTimes
	}{
		"one CPU, without its guests":    {machine, []int{1}, CPUTimes{Busy: 18 * tick, Steal: 4 * tick, Total: 124 * tick}},
		"two CPUs":                       {machine, []int{1, 3}, CPUTimes{Busy: 38 * tick, Steal: 4 * tick, Total: 154 * tick}},
		"the first CPU is not the sum":   {machine, []int{0}, CPUTimes{Busy: 45 * tick, Steal: 9 * tick, Total: 72 * tick}},
		"a CPU of two digits":            {machine, []int{13}, CPUTimes{Busy: 35 * tick, Steal: 7 * tick, Total: 56 * tick}},
		"a CPU that is not there, too":   {machine, []int{3, 99}, CPUTimes{Busy: 20 * tick, Total: 30 * tick}},
		"a kernel that counts no steal":  {"cpu2 5 1 1 10 2 0 0\n", []int{2}, CPUTimes{Busy: 7 * tick, Total: 19 * tick}},
		"a line without an end of line":  {"cpu2 5 1 1 10 2 0 0 3", []int{2}, CPUTimes{Busy: 7 * tick, Steal: 3 * tick, Total: 22 * tick}},
		"an idle CPU":                    {"cpu2 0 0 0 10 2 0 0 0 0 0\n", []int{2}, CPUTimes{Total: 12 * tick}},
		"a line that is cut in a number": {"cpu2 5 1 x\n", []int{2}, CPUTimes{Busy: 6 * tick, Total: 6 * tick}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := TimesOf([]byte(tc.text), tc.cpus)
			if err != nil || got != tc.want {
				t.Errorf("got %+v, %v; want %+v", got, err, tc.want)
			}
		})
	}
}

func TestTimesThatAreNotThereAreAnError(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		cpus []int
	}{
		"an empty file":           {"", []int{0}},
		"no CPU asked for":        {machine, nil},
		"a CPU that is not there": {machine, []int{2}},
		"the sum of all only":     {"cpu  1 2 3 4 5 6 7 8 0 0\n", []int{0}},
		"another file":            {"MemTotal: 5 kB\ncpu0 1 1 1 1\n", []int{0}},
		"a CPU without times":     {"cpu0\n", []int{0}},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := TimesOf([]byte(tc.text), tc.cpus); !errors.Is(err, ErrNoNumber) {
				t.Errorf("got %+v, %v; want %v", got, err, ErrNoNumber)
			}
		})
	}
}

func TestOpenTimesReadsTheTimesOfAProc(t *testing.T) {
	file, err := Proc(kerneltest.Proc(t, nil)).OpenTimes()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	text, err := file.Read()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := TimesOf(text, []int{1, 3}); err != nil || got.Total != 154*nanosPerTick || got.Steal != 4*nanosPerTick {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := Proc(t.TempDir()).OpenTimes(); err == nil {
		t.Error("the times of a folder that is no /proc are open")
	}
}

func FuzzTimesOf(f *testing.F) {
	f.Add([]byte(machine), 1)
	f.Add([]byte("cpu"), 0)
	f.Add([]byte("cpu0 99999999999999999999 1\n"), 0)
	f.Fuzz(func(t *testing.T, text []byte, cpu int) {
		got, err := TimesOf(text, []int{cpu})
		if err == nil && got.Total == 0 {
			t.Errorf("CPU %d has no time and no error", cpu)
		}
	})
}
