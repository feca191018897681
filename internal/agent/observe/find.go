package observe

import (
	"cmp"
	"os"
	"slices"

	"loadstone.dev/loadstone/internal/agent/kernel"
)

// OldestParentless finds the server's first process in the process namespace that a pod's containers share. There a container's first process
// has no parent; process 1 (the pod's sandbox) and the observer's own are skipped. It takes the oldest, since a later exec into the container
// has no parent either.
func OldestParentless(proc kernel.Proc) (int, error) {
	all, err := proc.Processes()
	if err != nil {
		return 0, err
	}
	if pid, ok := oldestParentless(all, os.Getpid()); ok {
		return pid, nil
	}
	return 0, errGone
}

// OldestChildOf finds the server's first process as the oldest child of the process that started it.
func OldestChildOf(parent int) func(kernel.Proc) (int, error) {
	return func(proc kernel.Proc) (int, error) {
		all, err := proc.Processes()
		if err != nil {
			return 0, err
		}
		found := kernel.Process{}
		for _, s := range all {
			if s.Parent == parent && (found.PID == 0 || s.Started < found.Started) {
				found = s
			}
		}
		if found.PID == 0 {
			return 0, errGone
		}
		return found.PID, nil
	}
}

// ParentlessAfter finds the server's first process after those of its dependencies, which start in sequence. A restarted dependency sorts
// after the server, but then its trial has failed.
func ParentlessAfter(dependencies int) func(kernel.Proc) (int, error) {
	return func(proc kernel.Proc) (int, error) {
		all, err := proc.Processes()
		if err != nil {
			return 0, err
		}
		roots := parentless(all, os.Getpid())
		if len(roots) <= dependencies {
			return 0, errGone
		}
		return roots[dependencies].PID, nil
	}
}

func oldestParentless(all []kernel.Process, self int) (int, bool) {
	roots := parentless(all, self)
	if len(roots) == 0 {
		return 0, false
	}
	return roots[0].PID, true
}

func parentless(all []kernel.Process, self int) []kernel.Process {
	parents := map[int]int{}
	for _, s := range all {
		parents[s.PID] = s.Parent
	}
	own := map[int]bool{1: true}
	for pid := self; pid != 0 && !own[pid]; pid = parents[pid] {
		own[pid] = true
	}
	var roots []kernel.Process
	for _, s := range all {
		if s.Parent == 0 && !own[s.PID] {
			roots = append(roots, s)
		}
	}
	slices.SortStableFunc(roots, func(a, b kernel.Process) int { return cmp.Compare(a.Started, b.Started) })
	return roots
}
