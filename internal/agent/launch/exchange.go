package launch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

const (
	OutputFile = "output"
	ErrorsFile = "errors"

	programFile   = "program.json"
	commandFile   = "command"
	stopFile      = "stop"
	exitFile      = "exit"
	collectedFile = "collected"

	// maxMessage bounds a message in bytes.
	maxMessage = 1 << 20
)

// Command tells the parent when to start the program, and its time limit.
type Command struct {
	At    time.Time     `json:"at"`
	Limit time.Duration `json:"limit"`
	// Argv replaces the program, such as a profiler followed by the program; empty for the program itself. Env is added to the program's
	// variables.
	Argv []string `json:"argv,omitempty"`
	Env  []string `json:"env,omitempty"`
	// StopSignal asks the program to end, such as SIGINT. Default: SIGTERM.
	StopSignal string `json:"stopSignal,omitempty"`
	// StopGrace bounds the time from the stop signal to the end. With 0 the program ends by itself: its parent sleeps and does not check for a
	// stop.
	StopGrace time.Duration `json:"stopGrace,omitempty"`
	// Counters is the file for the CPU and kernel counters; empty disables counting.
	Counters string `json:"counters,omitempty"`
}

// Exit describes a program's end.
type Exit struct {
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"`
	// Code is the exit code, or 128 plus the number of the signal named in Signal.
	Code   int    `json:"code"`
	Signal string `json:"signal,omitempty"`
	// TimedOut is true if the program exceeded its limit and was ended; Killed if it ignored the stop signal.
	TimedOut bool `json:"timedOut,omitempty"`
	Killed   bool `json:"killed,omitempty"`
	// OutOfMemory: the kernel killed it for exceeding its container's memory.
	OutOfMemory bool `json:"outOfMemory,omitempty"`
	// The rest is the kernel's accounting of the program and its ended children.
	UserNanos   int64 `json:"userNanos"`
	SystemNanos int64 `json:"systemNanos"`
	// PeakMemoryBytes is 0 (unknown) if not larger than the parent's.
	PeakMemoryBytes     int64 `json:"peakMemoryBytes"`
	VoluntarySwitches   int64 `json:"voluntarySwitches"`
	InvoluntarySwitches int64 `json:"involuntarySwitches"`
}

// Exchange is the folder that a program's parent shares with the agent. The program can write there, too, and the agent may be permitted more
// than the program: no link in the folder leads the agent out of it.
type Exchange string

// ErrReplaced: the program removed or replaced a file of the exchange.
var ErrReplaced = errors.New("it has removed or replaced the file")

// Path returns the path of an exchanged file.
func (x Exchange) Path(file string) string { return filepath.Join(string(x), file) }

// Give tells the parent when to start a launch; each begins after the one before.
func (x Exchange) Give(launch int, c Command) error { return x.write(numbered(commandFile, launch), c) }

// Stop tells the parent to end a launch with the stop signal.
func (x Exchange) Stop(launch int) error { return x.write(numbered(stopFile, launch), true) }

func (x Exchange) stopped(launch int) bool {
	root, err := os.OpenRoot(string(x))
	if err != nil {
		return false
	}
	defer root.Close() //nolint:errcheck // Nothing was written.
	_, err = root.Stat(numbered(stopFile, launch))
	return err == nil
}

func numbered(file string, launch int) string { return fmt.Sprintf("%s-%d.json", file, launch) }

// Program describes what the parent found in its image.
type Program struct {
	// Path is the executable's path without links; empty until found. Argv is the argument vector.
	Path string   `json:"path"`
	Argv []string `json:"argv"`
}

// Program returns the program to run.
func (x Exchange) Program() (p Program, err error) {
	_, err = x.read(programFile, &p)
	return p, err
}

// Exited returns how a launch ended, or nil if it has not.
func (x Exchange) Exited(launch int) (*Exit, error) {
	var e Exit
	found, err := x.read(numbered(exitFile, launch), &e)
	if !found || err != nil {
		return nil, err
	}
	return &e, nil
}

// Collected tells the parent that all results were read and no launch follows, so it may end.
func (x Exchange) Collected() error { return x.write(collectedFile, true) }

// write replaces a file atomically: readers see all of it or nothing.
func (x Exchange) write(file string, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encoding %s: %w", file, err)
	}
	root, err := os.OpenRoot(string(x))
	if err != nil {
		return fmt.Errorf("writing %s: %w", file, err)
	}
	defer root.Close() //nolint:errcheck // Each write has its own error.
	unfinished := file + ".part"
	if err := root.WriteFile(unfinished, body, 0o600); err != nil {
		return fmt.Errorf("writing %s: %w", file, err)
	}
	if err := root.Rename(unfinished, file); err != nil {
		return fmt.Errorf("writing %s: %w", file, err)
	}
	return nil
}

func (x Exchange) read(file string, into any) (found bool, err error) {
	f, err := x.Open(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("reading %s: %w", file, err)
	}
	defer f.Close() //nolint:errcheck // Nothing was written.
	body, err := io.ReadAll(io.LimitReader(f, maxMessage))
	if err == nil {
		err = json.Unmarshal(body, into)
	}
	if err != nil {
		return false, fmt.Errorf("reading %s: %w", file, err)
	}
	return true, nil
}

// Open opens a regular file for reading. It fails with fs.ErrNotExist or ErrReplaced if the program removed or replaced the file.
func (x Exchange) Open(file string) (*os.File, error) {
	root, err := os.OpenRoot(string(x))
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // Nothing was written.
	info, err := root.Lstat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, ErrReplaced
	}
	// Without waiting, should the program put a pipe there meanwhile.
	f, err := root.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, ErrReplaced, f.Close())
	}
	return f, nil
}

// Tail returns the end of a file in one line; empty if unreadable.
func (x Exchange) Tail(file string, bytes int64) string {
	f, err := x.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close() //nolint:errcheck // Nothing was written.
	return tail(f, bytes)
}
