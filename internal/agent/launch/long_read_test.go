package launch_test

import (
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/agent/launch"
)

func TestAServerWhoseProfileIsLongReadIsLaunchedAgain(t *testing.T) {
	t.Parallel()
	l := launches(t, serving(":")...)
	l.give(0, launch.Command{StopGrace: never})
	l.stop(0)
	l.exit(0)
	time.Sleep(11 * time.Second) // A monitor with a fifth of a CPU may take this long to read callgrind's file.
	select {
	case err := <-l.done:
		t.Fatalf("the parent has ended with %d, %v", l.code, err)
	default:
	}
}
