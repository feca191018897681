package reexec

import (
	"context"
	"encoding/json"
	"io"
	"runtime"

	"loadstone.dev/loadstone/internal/agent/launch"
	"loadstone.dev/loadstone/internal/local/image"
)

// contain enters a root file system and becomes its program. Without one it only tries whether this machine permits that.
func contain(ctx context.Context, args []string, errs io.Writer) (int, error) {
	// What is taken from this thread is taken from what it starts.
	runtime.LockOSThread()
	if len(args) == 0 {
		err := image.Private()
		return statusOf(err), err
	}
	var root image.Root
	if err := json.Unmarshal([]byte(args[0]), &root); err != nil {
		return 1, usageError(ContainCommand)
	}
	if err := root.Enter(); err != nil {
		return 1, err
	}
	if root.Exchange == "" {
		return 1, root.Exec()
	}
	runtime.GOMAXPROCS(1)
	return launch.Run(ctx, launch.Exchange(image.Exchange), root.Process.Argv, errs)
}

// statusOf is the status with which a part of a run ends.
func statusOf(err error) int {
	if err != nil {
		return 1
	}
	return 0
}
