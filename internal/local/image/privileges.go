package image

import (
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// maxCapability is larger than the number of any capability.
const maxCapability = 63

// dropPrivileges takes every capability but CAP_NET_BIND_SERVICE from this thread and from the program that it starts, and gives them their user.
func (r Root) dropPrivileges() error {
	for c := uintptr(0); c <= maxCapability; c++ {
		if c == unix.CAP_NET_BIND_SERVICE {
			continue
		}
		err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		if errors.Is(err, unix.EINVAL) {
			break // The kernel knows no more.
		}
		if err != nil {
			return fmt.Errorf("dropping capabilities: %w", err)
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("dropping capabilities: %w", err)
	}
	return r.becomeUser()
}

// becomeUser gives this process the image's user.
func (r Root) becomeUser() error {
	uid, gid := r.Process.UID, r.Process.GID
	if uid == 0 && gid == 0 {
		return nil
	}
	err := syscall.Setgroups(nil)
	if err == nil {
		err = syscall.Setgid(gid)
	}
	if err == nil {
		err = syscall.Setuid(uid)
	}
	if err == nil {
		// A change of user clears it.
		err = unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0)
	}
	if err != nil {
		return fmt.Errorf("becoming user %d and group %d of the image: %w", uid, gid, err)
	}
	return nil
}
