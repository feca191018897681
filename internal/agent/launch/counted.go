package launch

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"loadstone.dev/loadstone/internal/profiler/perfstat"
)

// count opens counters of the program that this thread starts next, and returns what writes them to a file when it has ended. Without a file it
// does nothing.
func count(file string) func(*os.ProcessState) error {
	if file == "" {
		return func(*os.ProcessState) error { return nil }
	}
	own := Open(unix.PerfEventOpen)
	return func(s *os.ProcessState) error {
		read := own.Read()
		if usage, ok := s.SysUsage().(*syscall.Rusage); ok {
			read = append(Accounted(usage), read...)
		}
		return write(file, read)
	}
}

// write writes counters to a file.
func write(file string, read []perfstat.Counter) (err error) {
	f, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("writing what was counted: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return perfstat.Write(f, read)
}
