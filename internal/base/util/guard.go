package util

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// ErrPanic: a part of Loadstone panicked. The same input would cause it again.
var ErrPanic = errors.New("a fault of Loadstone's own")

// Guard calls something, and returns a panic with its origin as an ErrPanic.
func Guard(something func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v at %s", ErrPanic, p, origin())
		}
	}()
	return something()
}

func origin() string {
	callers := make([]uintptr, 16)
	frames := runtime.CallersFrames(callers[:runtime.Callers(3, callers)])
	for {
		f, more := frames.Next()
		if !strings.HasPrefix(f.Function, "runtime.") || !more {
			return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
		}
	}
}
