package kernel

import (
	"path/filepath"
	"strconv"
)

// maxFrequencies bounds the CPUs whose frequencies are read, at a few microseconds each.
const maxFrequencies = 8

// Frequencies are the files that show the speed of some CPUs.
type Frequencies []*File

// OpenFrequencies opens the CPUs' files below a /sys; none if any is missing, or if there are too many CPUs.
func OpenFrequencies(sys string, cpus []int) Frequencies {
	if len(cpus) > maxFrequencies {
		return nil
	}
	var files Frequencies
	for _, cpu := range cpus {
		f, err := Open(filepath.Join(sys, "devices/system/cpu/cpu"+strconv.Itoa(cpu), "cpufreq/scaling_cur_freq"))
		if err != nil {
			files.Close()
			return nil
		}
		files = append(files, f)
	}
	return files
}

// Mean returns the mean in kHz; 0 if unknown.
func (f Frequencies) Mean() int64 {
	var sum int64
	for _, file := range f {
		text, err := file.Read()
		if err != nil {
			return 0
		}
		n, ok := number(text)
		if !ok {
			return 0
		}
		sum += n
	}
	return sum / max(int64(len(f)), 1)
}

// Close closes all files.
func (f Frequencies) Close() {
	for _, file := range f {
		file.Close()
	}
}
