package image

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"loadstone.dev/loadstone/internal/base/util"
)

// exportLimit is how long a container tool may take to export an image, and maxSaid how much is quoted of one that does not.
const (
	exportLimit = 5 * time.Minute
	maxSaid     = 200
)

// exporters are the argument vectors with which container tools write an image that they store to an archive.
func exporters(reference, archive string) [][]string {
	return [][]string{
		{"docker", "save", "--output", archive, reference},
		{"podman", "save", "--output", archive, reference},
		{"buildah", "push", reference, "docker-archive:" + archive},
		{"ctr", "--connect-timeout", "2s", "images", "export", archive, reference},
	}
}

// export writes an image of a local store to an archive, and returns its path. It is empty if no store has the image, and then said is what the tools
// said that are there.
func export(ctx context.Context, reference, scratch string) (archive string, said []string) {
	archive = filepath.Join(scratch, "image.tar")
	for _, argv := range exporters(reference, archive) {
		path, err := exec.LookPath(argv[0])
		if err != nil {
			continue
		}
		limited, cancel := context.WithTimeout(ctx, exportLimit)
		output, err := runTool(limited, path, argv[1:])
		cancel()
		if err == nil {
			return archive, nil
		}
		said = append(said, argv[0]+": "+lastOf(output, err))
		_ = os.Remove(archive) // It may not have been begun.
	}
	return "", said
}

// runTool runs a tool that dies with this program, and whose children do not keep it waiting.
func runTool(ctx context.Context, path string, args []string) ([]byte, error) {
	// The tool dies with this thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.WaitDelay = time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd.CombinedOutput()
}

// lastOf is the last line of what a tool said, or its error if it said nothing.
func lastOf(said []byte, err error) string {
	lines := strings.Split(strings.TrimSpace(string(said)), "\n")
	last := lines[len(lines)-1]
	if last == "" {
		return err.Error()
	}
	return util.Clip(last, maxSaid)
}
