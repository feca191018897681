package launch

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// everybodyRuns is executable by all, since an image's programs may run as another user.
const everybodyRuns = 0o755

// Bring copies the running program to a path where another image can start it.
func Bring(to string) error {
	if err := CopyFile("/proc/self/exe", to, everybodyRuns); err != nil {
		return fmt.Errorf("copying the agent: %w", err)
	}
	return nil
}

// BringToolbox copies a folder of profilers to a path. The folder holds no links.
func BringToolbox(from, to string) error {
	err := filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return os.MkdirAll(filepath.Join(to, relative), everybodyRuns)
		}
		return CopyFile(path, filepath.Join(to, relative), everybodyRuns)
	})
	if err != nil {
		return fmt.Errorf("copying the profilers: %w", err)
	}
	return nil
}

// CopyFile copies a file. mode applies if the target does not exist yet.
func CopyFile(from, to string, mode fs.FileMode) (err error) {
	own, err := os.Open(from)
	if err != nil {
		return err
	}
	defer own.Close() //nolint:errcheck // It is only read.
	target, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, own)
	return errors.Join(err, target.Close())
}
