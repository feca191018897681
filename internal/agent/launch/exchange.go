package launch

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Files of the exchange.
const (
	// OutputFile is the standard output of the program, ErrorsFile its standard error.
	OutputFile = "output"
	ErrorsFile = "errors"

	programFile   = "program.json"
	commandFile   = "command"
	stopFile      = "stop"
	exitFile      = "exit"
	collectedFile = "collected"
)

// Command tells the parent when to start the program, and how long it may take.
type Command struct {
	At    time.Time     `json:"at"`
	Limit time.Duration `json:"limit"`
	// Argv is what is started in the place of the program, as a profiler with the program behind it; empty for the program itself. Env are
	// variables that are added to the program's own.
	Argv []string `json:"argv,omitempty"`
	Env  []string `json:"env,omitempty"`
	// StopSignal is the signal that tells the program to end, such as SIGINT; empty is SIGTERM.
	StopSignal string `json:"stopSignal,omitempty"`
	// StopGrace is how long the program may take to end when it is told to. 0 for one that ends by itself: then nobody looks whether it is
	// told to, and its parent sleeps.
	StopGrace time.Duration `json:"stopGrace,omitempty"`
	// Counters is the path of a file into which goes what the CPU and the kernel have counted of the program; empty if nothing is counted.
	Counters string `json:"counters,omitempty"`
}

// Exit is how the program has ended.
type Exit struct {
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"`
	// Code is its exit code, or 128 and the number of the signal that ended it, which Signal names.
	Code   int    `json:"code"`
	Signal string `json:"signal,omitempty"`
	// TimedOut is true if it was ended because it took longer than it may, and Killed if it was because it did not end when it was told to.
	TimedOut bool `json:"timedOut,omitempty"`
	Killed   bool `json:"killed,omitempty"`
	// OutOfMemory is true if the kernel has killed it because it exceeded the memory of its container.
	OutOfMemory bool `json:"outOfMemory,omitempty"`
	// The rest is what the kernel accounted for it and its children that have ended.
	UserNanos   int64 `json:"userNanos"`
	SystemNanos int64 `json:"systemNanos"`
	// PeakMemoryBytes is 0 where it is no larger than the parent's, and so unknown.
	PeakMemoryBytes     int64 `json:"peakMemoryBytes"`
	VoluntarySwitches   int64 `json:"voluntarySwitches"`
	InvoluntarySwitches int64 `json:"involuntarySwitches"`
}

// Exchange is the folder of one program and the agent beside it.
type Exchange string

// Path is where a file of the exchange lies.
func (x Exchange) Path(file string) string { return filepath.Join(string(x), file) }

// Give tells the parent when to start, for the launch of an index: each begins when the one before has ended.
func (x Exchange) Give(launch int, c Command) error { return x.write(numbered(commandFile, launch), c) }

// Stop tells the parent to end a launch by the signal that asks a program to end.
func (x Exchange) Stop(launch int) error { return x.write(numbered(stopFile, launch), true) }

func (x Exchange) stopped(launch int) bool {
	_, err := os.Stat(x.Path(numbered(stopFile, launch)))
	return err == nil
}

// numbered is the file of a launch.
func numbered(file string, launch int) string { return fmt.Sprintf("%s-%d.json", file, launch) }

// Program is what the parent has found in its own image.
type Program struct {
	// Path is that of the executable, without links; empty while it has not been found. Argv is the argument vector.
	Path string   `json:"path"`
	Argv []string `json:"argv"`
}

// Program is the program that is to be run.
func (x Exchange) Program() (p Program, err error) {
	_, err = x.read(programFile, &p)
	return p, err
}

// Exited is how a launch has ended; nil while it has not.
func (x Exchange) Exited(launch int) (*Exit, error) {
	var e Exit
	found, err := x.read(numbered(exitFile, launch), &e)
	if !found || err != nil {
		return nil, err
	}
	return &e, nil
}

// Collected tells the parent that everything about the program was read, that it is launched no more, and that its parent may end.
func (x Exchange) Collected() error { return x.write(collectedFile, true) }

// write puts a whole file in its place at once: a reader finds all of it or nothing.
func (x Exchange) write(file string, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encoding %s: %w", file, err)
	}
	unfinished := x.Path(file + ".part")
	if err := os.WriteFile(unfinished, body, 0o600); err != nil {
		return fmt.Errorf("writing %s: %w", file, err)
	}
	if err := os.Rename(unfinished, x.Path(file)); err != nil {
		return fmt.Errorf("writing %s: %w", file, err)
	}
	return nil
}

func (x Exchange) read(file string, into any) (found bool, err error) {
	body, err := os.ReadFile(x.Path(file))
	switch {
	case os.IsNotExist(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("reading %s: %w", file, err)
	}
	if err := json.Unmarshal(body, into); err != nil {
		return false, fmt.Errorf("reading %s: %w", file, err)
	}
	return true, nil
}
