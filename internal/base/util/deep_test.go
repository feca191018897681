package util

import (
	"errors"
	"strings"
	"testing"
)

func deep(calls int) error {
	if calls == 0 {
		panic("deep down")
	}
	return deep(calls - 1)
}

func twice() error {
	defer func() { panic("second") }()
	panic("first")
}

func TestAPanicOfAnyDepthAndKindIsCaught(t *testing.T) {
	for name, tc := range map[string]struct {
		do   func() error
		want string
	}{
		"far below":           {func() error { return deep(100) }, "deep down at deep_test.go:"},
		"a panic of nothing":  {func() error { panic(nil) }, "panic called with nil argument"},
		"a nil function":      {nil, "nil pointer dereference"},
		"while a defer works": {twice, "second"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := Guard(tc.do); !errors.Is(err, ErrPanic) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestAGuardGuardsOnlyItself(t *testing.T) {
	inner := errors.New("none")
	err := Guard(func() error {
		inner = Guard(func() error { panic("inside") })
		return nil
	})
	if err != nil || !errors.Is(inner, ErrPanic) {
		t.Errorf("outside: %v, inside: %v", err, inner)
	}
}
