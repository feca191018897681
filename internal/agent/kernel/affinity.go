package kernel

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// pinRounds bounds how often the threads of a process are listed while new ones appear.
const pinRounds = 5

// SetCPUs lets all threads of a process run on the given CPUs only. It returns ErrEnded for a process that has ended.
func (p Proc) SetCPUs(pid int, cpus []int) error {
	var set unix.CPUSet
	for _, cpu := range cpus {
		set.Set(cpu)
	}
	done := map[int]bool{}
	for range pinRounds {
		tasks, err := os.ReadDir(p.Path(pid, "task"))
		if err != nil {
			return ErrEnded
		}
		fresh := false
		for _, t := range tasks {
			id, err := strconv.Atoi(t.Name())
			if err != nil || done[id] {
				continue
			}
			fresh, done[id] = true, true
			if err := unix.SchedSetaffinity(id, &set); err != nil && !errors.Is(err, unix.ESRCH) {
				return fmt.Errorf("setting the CPUs of thread %d: %w", id, err)
			}
		}
		if !fresh {
			return nil
		}
	}
	return nil
}
