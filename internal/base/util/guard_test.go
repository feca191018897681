package util

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestAPanicBecomesAnErrorThatSaysWhere(t *testing.T) {
	var list []int
	ordinary := errors.New("no room")
	for name, tc := range map[string]struct {
		do   func() error
		want string
		is   error
	}{
		"all is well":       {func() error { return nil }, "", nil},
		"an ordinary error": {func() error { return ordinary }, "no room", ordinary},
		"a panic":           {func() error { panic("oh") }, "a fault of Loadstone's own: oh at guard_test.go:", ErrPanic},
		"an error's panic":  {func() error { panic(fmt.Errorf("no: %w", ordinary)) }, "a fault of Loadstone's own: no: no room at guard_test.go:", ErrPanic},
		"one of Go's own":   {func() error { return fmt.Errorf("%d", list[len(list)]) }, "a fault of Loadstone's own: runtime error: index out of range", ErrPanic},
	} {
		t.Run(name, func(t *testing.T) {
			err := Guard(tc.do)
			if !errors.Is(err, tc.is) || err != nil && !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
			if errors.Is(err, ErrPanic) && !strings.Contains(err.Error(), " at guard_test.go:") {
				t.Errorf("%v does not say where", err)
			}
		})
	}
}
