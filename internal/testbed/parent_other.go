//go:build !linux

package testbed

import "syscall"

// endWithParent does nothing: a killed test leaves its programs behind.
func endWithParent() *syscall.SysProcAttr { return nil }
