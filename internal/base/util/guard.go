package util

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// ErrPanic means that a part of Loadstone has panicked. With the same input it would do so again.
var ErrPanic = errors.New("a fault of Loadstone's own")

// Do does something, and returns what it panicked with, and where, as an ErrPanic.
func Guard(something func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v at %s", ErrPanic, p, origin())
		}
	}()
	return something()
}

// origin is the line that has panicked, asked of the function that recovers.
func origin() string {
	callers := make([]uintptr, 16)
	// Three are passed over: runtime.Callers, this function and the one that recovers.
	frames := runtime.CallersFrames(callers[:runtime.Callers(3, callers)])
	for {
		f, more := frames.Next()
		if !strings.HasPrefix(f.Function, "runtime.") || !more {
			return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
		}
	}
}
