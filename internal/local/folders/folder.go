package folders

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// temporary begins the names of files that are being written. One that is left is of a process that was killed.
const temporary = ".loadstone-"

// Newest is the newest folder of a run of some name below a folder of results, by the time that its name ends with; empty if there is none.
func Newest(results, name string) (string, error) {
	entries, err := os.ReadDir(results)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("looking for a run to resume: %w", err)
	}
	for _, e := range slices.Backward(entries) {
		rest, ok := strings.CutPrefix(e.Name(), name+"-")
		if _, err := time.Parse(FolderTime, rest); ok && err == nil && e.IsDir() {
			return filepath.Join(results, e.Name()), nil
		}
	}
	return "", nil
}

// FolderTime is how the time at which a run began stands in the name of its folder, after its own name.
const FolderTime = "20060102-150405"

// RemoveTemporary removes the files that a killed process was writing.
func RemoveTemporary(dir string) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasPrefix(e.Name(), temporary) {
			return err
		}
		return os.Remove(path)
	})
}
