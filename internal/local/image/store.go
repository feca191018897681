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

// exportLimit bounds a container tool's export; maxSaid bounds the quoted output of a failed one.
const (
	exportLimit = 5 * time.Minute
	maxSaid     = 200
)

func exporters(reference, archive string) [][]string {
	return [][]string{
		{"docker", "save", "--output", archive, reference},
		{"podman", "save", "--output", archive, reference},
		{"buildah", "push", reference, "docker-archive:" + archive},
		{"ctr", "--connect-timeout", "2s", "images", "export", archive, reference},
	}
}

// export exports an image from a local store and returns the archive's path. If no store has it, the path is empty and said holds the
// available tools' messages.
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
		_ = os.Remove(archive) // It may not exist.
	}
	return "", said
}

// runTool runs a tool that dies with this program; it does not wait for the tool's children.
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

func lastOf(said []byte, err error) string {
	lines := strings.Split(strings.TrimSpace(string(said)), "\n")
	last := lines[len(lines)-1]
	if last == "" {
		return err.Error()
	}
	return util.Clip(last, maxSaid)
}
