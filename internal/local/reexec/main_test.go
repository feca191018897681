package reexec

import (
	"context"
	"fmt"
	"os"
	"testing"
)

// TestMain lets the test binary act as the parts of a run, since a run starts its own program again.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == reachCommand {
		if err := reach(os.Args[2:], os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if !Is(os.Args[1:]) {
		os.Exit(m.Run())
	}
	status, err := Help(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "loadstone:", err)
	}
	os.Exit(status)
}
