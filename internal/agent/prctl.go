package agent

import "syscall"

// rawPrctl calls prctl(2), which the standard library does not wrap.
func rawPrctl(option, argument uintptr) (r1, r2 uintptr, err syscall.Errno) {
	return syscall.RawSyscall6(syscall.SYS_PRCTL, option, argument, 0, 0, 0, 0)
}
