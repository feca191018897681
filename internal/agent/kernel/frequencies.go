package kernel

import (
	"path/filepath"
	"strconv"
)

// maxFrequencies bounds the CPUs whose frequencies are read, at some microseconds each.
const maxFrequencies = 8

// Frequencies are the files that show how fast some CPUs run.
type Frequencies []*File

// OpenFrequencies opens those of the given CPUs below a /sys; none if the kernel does not show all of them, or if they are too many.
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

// Mean is their mean in kHz; 0 if it is not known.
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
