package testbed

import "syscall"

// endWithParent lets the kernel kill a program when its parent ends.
func endWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
