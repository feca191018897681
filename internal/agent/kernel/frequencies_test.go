package kernel

import (
	"fmt"
	"testing"

	"loadstone.dev/loadstone/internal/agent/kernel/kerneltest"
)

func TestFrequencies(t *testing.T) {
	const dir = "devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq"
	sys := kerneltest.Proc(t, map[string]string{fmt.Sprintf(dir, 1): "2600000\n", fmt.Sprintf(dir, 3): "2400000\n", fmt.Sprintf(dir, 5): "<unknown>\n"})
	var many []int
	for cpu := range maxFrequencies + 1 {
		many = append(many, cpu)
	}
	for name, tc := range map[string]struct {
		cpus []int
		want int64
	}{
		"of one CPU":                            {[]int{1}, 2_600_000},
		"the mean of two":                       {[]int{1, 3}, 2_500_000},
		"unknown, if one shows none":            {[]int{1, 2}, 0},
		"unknown, if one shows none as a text":  {[]int{1, 5}, 0},
		"unknown, if the server's are too many": {many, 0},
		"unknown, if the server's are unknown":  {nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := OpenFrequencies(sys, tc.cpus)
			defer f.Close()
			if got := f.Mean(); got != tc.want {
				t.Errorf("Mean() = %d, want %d", got, tc.want)
			}
		})
	}
}
