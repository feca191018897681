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
	// leftLimit bounds how long a resumed run waits for processes of its killed predecessor, which end by themselves.
	leftLimit = time.Minute
	leftPause = 20 * time.Millisecond
)

// Claim prevents two processes from leading one run: it locks the run's folder and the folder of its processes. Every process of the run also
// holds the second lock, so it is free only when all have ended, however they end.
type Claim struct{ run, processes *os.File }

// ClaimRun claims the run in an existing folder; nil without error if another process leads it.
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

// ClaimProcesses empties or makes the folder of the run's processes, after earlier processes have ended.
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

// Held returns the file that every process of the run holds; nil without a claim.
func (c *Claim) Held() *os.File {
	if c == nil {
		return nil
	}
	return c.processes
}

// End removes the ended processes' files and releases the claim.
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

// lock locks a folder until all holders of this descriptor close it; false if it is locked already. File systems without such locks always
// succeed, without protection.
func lock(folder *os.File) bool {
	return !errors.Is(unix.Flock(int(folder.Fd()), unix.LOCK_EX|unix.LOCK_NB), unix.EWOULDBLOCK)
}

// Work returns the working folder of the processes of the run in dir.
func Work(dir string) string { return filepath.Join(dir, ".work") }

// temporary prefixes files being written. A leftover one is a killed process's.
const temporary = ".loadstone-"

// Newest returns the newest run folder of a name below results, by the time in its name, or empty.
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

// FolderTime is the format of a run's start in its folder's name, after its own name.
const FolderTime = "20060102-150405"

// RemoveTemporary removes files that a killed process was writing.
func RemoveTemporary(dir string) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasPrefix(e.Name(), temporary) {
			return err
		}
		return os.Remove(path)
	})
}
