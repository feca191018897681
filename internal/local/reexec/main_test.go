package reexec

import (
	"context"
	"fmt"
	"os"
	"testing"
)

// TestMain lets the test binary act as the parts of a run, since a run starts its own program again.
func TestMain(m *testing.M) {
	if !Is(os.Args[1:]) {
		os.Exit(m.Run())
	}
	status, err := Help(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "loadstone:", err)
	}
	os.Exit(status)
}
