package kernel

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
)

// maxLibraries bounds the libraries of a process.
const maxLibraries = 256

// Libraries are the shared libraries that a process has loaded, by their paths in its own file system and in the order of their addresses; at
// most 256.
func (p Proc) Libraries(pid int) (list []string, err error) {
	f, err := os.Open(p.Path(pid, "maps"))
	if err != nil {
		return nil, fmt.Errorf("listing the libraries of process %d: %w", pid, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	s := bufio.NewScanner(f)
	for s.Scan() && len(list) < maxLibraries {
		i := strings.IndexByte(s.Text(), '/')
		if i < 0 {
			continue
		}
		file := strings.TrimSuffix(s.Text()[i:], " (deleted)")
		if isLibrary(path.Base(file)) && !slices.Contains(list, file) {
			list = append(list, file)
		}
	}
	return list, s.Err()
}

// isLibrary reports whether a file has a name such as libuv.so or libuv.so.1.
func isLibrary(name string) bool {
	return strings.HasSuffix(name, ".so") || strings.Contains(name, ".so.")
}
