package folders

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// leftLimit is how long a run that is resumed waits for the processes of its killed predecessor, which end by themselves.
	leftLimit = time.Minute
	// leftPause is the pause between two tries.
	leftPause = 20 * time.Millisecond
)

// Claim is what keeps two processes from leading one run: locks on its folder and on the folder of its processes. The second is held by every
// process of the run, too, so that it is free when none of them is left, however they have ended.
type Claim struct{ run, processes *os.File }

// ClaimRun claims the run in a folder that exists; nil and no error if another process leads it.
func ClaimRun(dir string) (*Claim, error) {
	run, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("claiming the folder of the run: %w", err)
	}
	if !lock(run) {
		return nil, run.Close()
	}
	return &Claim{run: run}, nil
}

// ClaimProcesses makes the folder of the run's processes, empty, once those that were started before have ended.
func (c *Claim) ClaimProcesses(work string) error {
	if left, err := os.Open(work); err == nil {
		free := lock(left)
		for deadline := time.Now().Add(leftLimit); !free && time.Now().Before(deadline); free = lock(left) {
			time.Sleep(leftPause)
		}
		if err := left.Close(); err != nil {
			return fmt.Errorf("waiting for the processes of the run: %w", err)
		}
		if !free {
			return fmt.Errorf("processes that this run has started before are still there after %s: end those whose command names %s", leftLimit, work)
		}
	}
	if err := errors.Join(os.RemoveAll(work), os.MkdirAll(work, 0o700)); err != nil {
		return fmt.Errorf("making a folder for the processes: %w", err)
	}
	held, err := os.Open(work)
	if err != nil {
		return fmt.Errorf("making a folder for the processes: %w", err)
	}
	lock(held)
	c.processes = held
	return nil
}

// Held is what every process of the run holds; nil without a claim.
func (c *Claim) Held() *os.File {
	if c == nil {
		return nil
	}
	return c.processes
}

// End removes what processes have left, none of which is at work any more, and gives the claim back.
func (c *Claim) End() {
	if c == nil {
		return
	}
	if c.processes != nil {
		_ = os.RemoveAll(c.processes.Name()) // Nothing in it is of use.
		_ = c.processes.Close()              // It was only locked.
	}
	_ = c.run.Close() // It was only locked.
}

// lock locks a folder until every process that holds this descriptor has closed it. It is false if somebody else has locked it. A file system
// without such locks protects nobody, and hinders nobody.
func lock(folder *os.File) bool {
	return !errors.Is(unix.Flock(int(folder.Fd()), unix.LOCK_EX|unix.LOCK_NB), unix.EWOULDBLOCK)
}

// Work is the folder in which processes of the run in a folder have their files while they run.
func Work(dir string) string { return filepath.Join(dir, ".work") }

// temporary begins the names of files that are being written. One that is left is of a process that was killed.
const temporary = ".loadstone-"

// Newest is the newest folder of a run of some name below a folder of results, by the time that its name ends with; empty if there is none.
func Newest(results, name string) (string, error) {
	entries, err := os.ReadDir(results)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("looking for a run to resume: %w", err)
	}
	for _, e := range slices.Backward(entries) {
		rest, ok := strings.CutPrefix(e.Name(), name+"-")
		if _, err := time.Parse(FolderTime, rest); ok && err == nil && e.IsDir() {
			return filepath.Join(results, e.Name()), nil
		}
	}
	return "", nil
}

// FolderTime is how the time at which a run began stands in the name of its folder, after its own name.
const FolderTime = "20060102-150405"

// RemoveTemporary removes the files that a killed process was writing.
func RemoveTemporary(dir string) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasPrefix(e.Name(), temporary) {
			return err
		}
		return os.Remove(path)
	})
}
