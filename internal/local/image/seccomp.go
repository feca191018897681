package image

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// refused are the system calls that fail with EPERM in a sandbox. No server needs them, and flaws in them have let programs leave containers.
// As in containers, io_uring is one of them.
var refused = slices.Concat(
	// Change mounts, or open files past their folders.
	[]uint32{
		unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_OPEN_TREE, unix.SYS_OPEN_TREE_ATTR, unix.SYS_MOVE_MOUNT,
		unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_OPEN_BY_HANDLE_AT,
	},
	// Change namespaces, which would return all capabilities in a new one.
	[]uint32{unix.SYS_UNSHARE, unix.SYS_SETNS},
	// Read or change other processes.
	[]uint32{unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP, unix.SYS_PROCESS_MADVISE},
	// Run programs in the kernel, or stop it at faults.
	[]uint32{unix.SYS_BPF, unix.SYS_USERFAULTFD, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER},
	// Keys are of no namespace.
	[]uint32{unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL},
	// Change the whole machine.
	[]uint32{
		unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_REBOOT,
		unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_SYSLOG,
		unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
	},
)

// newNamespaces are the flags of clone for new namespaces.
const newNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// Offsets in struct seccomp_data, on little-endian machines.
const (
	callNumber   = 0
	callArch     = 4
	callFirstArg = 16
)

// x32Bit marks the system calls of x86-64 programs with 32-bit pointers, which have other numbers.
const x32Bit = 0x40000000

var architectures = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}

func fails(e unix.Errno) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(e)}
}

func load(offset uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
}

// unless skips one instruction if a comparison with k fails.
func unless(comparison uint16, k uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_K | comparison, Jf: 1, K: k}
}

// filter returns the BPF program that decides on system calls. counting permits the counters of perf, which a program's parent opens. The
// kernel cannot read the arguments of clone3: ENOSYS lets C libraries use clone.
func filter(arch uint32, counting bool) []unix.SockFilter {
	p := []unix.SockFilter{
		load(callArch),
		{Code: unix.BPF_JMP | unix.BPF_K | unix.BPF_JEQ, Jt: 1, K: arch},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_KILL_PROCESS},
		load(callNumber),
		unless(unix.BPF_JEQ, unix.SYS_CLONE3), fails(unix.ENOSYS),
	}
	if arch == unix.AUDIT_ARCH_X86_64 {
		p = append(p, unless(unix.BPF_JGE, x32Bit), fails(unix.ENOSYS))
	}
	calls := refused
	if !counting {
		calls = append(slices.Clone(refused), unix.SYS_PERF_EVENT_OPEN)
	}
	for _, call := range calls {
		p = append(p, unless(unix.BPF_JEQ, call), fails(unix.EPERM))
	}
	return append(
		p,
		unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_K | unix.BPF_JEQ, Jf: 3, K: unix.SYS_CLONE},
		load(callFirstArg), unless(unix.BPF_JSET, newNamespaces), fails(unix.EPERM),
		unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	)
}

// filterCalls sets the filter for all threads of this process, for good. It needs PR_SET_NO_NEW_PRIVS.
func filterCalls(counting bool) error {
	arch, known := architectures[runtime.GOARCH]
	if !known {
		return fmt.Errorf("filtering system calls: Loadstone has no filter for %s, only for amd64 and arm64", runtime.GOARCH)
	}
	p := filter(arch, counting)
	program := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	thread, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program)))
	switch {
	case errno != 0:
		return fmt.Errorf("filtering system calls: %w", errno)
	case thread != 0:
		return errors.New("filtering system calls: a thread has another filter")
	}
	return nil
}
