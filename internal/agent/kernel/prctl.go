package kernel

import (
	"fmt"
	"syscall"
)

// Hide makes the process non-dumpable, so that another one of the same user cannot read its memory or environment. It can still
// read the other's: what counts is whether the process that is read is dumpable.
func Hide() error {
	const setDumpable = 4
	if _, _, number := rawPrctl(setDumpable, 0); number != 0 {
		return fmt.Errorf("making the process non-dumpable: %w", number)
	}
	return nil
}

// rawPrctl calls prctl(2), which the standard library does not wrap.
func rawPrctl(option, argument uintptr) (r1, r2 uintptr, err syscall.Errno) {
	return syscall.RawSyscall6(syscall.SYS_PRCTL, option, argument, 0, 0, 0, 0)
}
