package local

import (
	"fmt"

	"golang.org/x/sys/unix"
)

const leastRoom = 1 << 20

// full returns an error with a remedy if the disk of the results is full.
func (r *Run) full() error {
	var s unix.Statfs_t
	folder := r.folder.URI(r.prefix)
	if err := unix.Statfs(folder, &s); err != nil {
		return fmt.Errorf("asking how much room %s has: %w", folder, err)
	}
	if free := s.Bavail * uint64(s.Bsize); free < leastRoom { //nolint:gosec // The size of a block is positive.
		return fmt.Errorf("the disk of %s is full (%d bytes are free): free disk space, then resume with --resume", folder, free)
	}
	return nil
}
