package generate

import (
	"errors"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// allowed are the system calls of containerd 1.7.28's default profile for a container without capabilities
// (contrib/seccomp/seccomp_default.go). Those that depend on arguments or do not exist on amd64 are left out.
var allowed = []uint32{
	unix.SYS_ACCEPT, unix.SYS_ACCEPT4, unix.SYS_ACCESS, unix.SYS_ADJTIMEX, unix.SYS_ALARM, unix.SYS_BIND, unix.SYS_BRK,
	unix.SYS_CACHESTAT, unix.SYS_CAPGET, unix.SYS_CAPSET, unix.SYS_CHDIR, unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_CLOCK_ADJTIME,
	unix.SYS_CLOCK_GETRES, unix.SYS_CLOCK_GETTIME, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_CLOSE, unix.SYS_CLOSE_RANGE, unix.SYS_CONNECT,
	unix.SYS_COPY_FILE_RANGE, unix.SYS_CREAT, unix.SYS_DUP, unix.SYS_DUP2, unix.SYS_DUP3, unix.SYS_EPOLL_CREATE, unix.SYS_EPOLL_CREATE1,
	unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_CTL_OLD, unix.SYS_EPOLL_PWAIT, unix.SYS_EPOLL_PWAIT2, unix.SYS_EPOLL_WAIT, unix.SYS_EPOLL_WAIT_OLD,
	unix.SYS_EVENTFD, unix.SYS_EVENTFD2, unix.SYS_EXECVE, unix.SYS_EXECVEAT, unix.SYS_EXIT, unix.SYS_EXIT_GROUP, unix.SYS_FACCESSAT,
	unix.SYS_FACCESSAT2, unix.SYS_FADVISE64, unix.SYS_FALLOCATE, unix.SYS_FANOTIFY_MARK, unix.SYS_FCHDIR, unix.SYS_FCHMOD,
	unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_FCNTL, unix.SYS_FDATASYNC, unix.SYS_FGETXATTR,
	unix.SYS_FLISTXATTR, unix.SYS_FLOCK, unix.SYS_FORK, unix.SYS_FREMOVEXATTR, unix.SYS_FSETXATTR, unix.SYS_FSTAT, unix.SYS_FSTATFS,
	unix.SYS_FSYNC, unix.SYS_FTRUNCATE, unix.SYS_FUTEX, unix.SYS_FUTEX_REQUEUE, unix.SYS_FUTEX_WAIT, unix.SYS_FUTEX_WAITV,
	unix.SYS_FUTEX_WAKE, unix.SYS_FUTIMESAT, unix.SYS_GETCPU, unix.SYS_GETCWD, unix.SYS_GETDENTS, unix.SYS_GETDENTS64, unix.SYS_GETEGID,
	unix.SYS_GETEUID, unix.SYS_GETGID, unix.SYS_GETGROUPS, unix.SYS_GETITIMER, unix.SYS_GETPEERNAME, unix.SYS_GETPGID, unix.SYS_GETPGRP,
	unix.SYS_GETPID, unix.SYS_GETPPID, unix.SYS_GETPRIORITY, unix.SYS_GETRANDOM, unix.SYS_GETRESGID, unix.SYS_GETRESUID,
	unix.SYS_GETRLIMIT, unix.SYS_GET_ROBUST_LIST, unix.SYS_GETRUSAGE, unix.SYS_GETSID, unix.SYS_GETSOCKNAME, unix.SYS_GETSOCKOPT,
	unix.SYS_GET_THREAD_AREA, unix.SYS_GETTID, unix.SYS_GETTIMEOFDAY, unix.SYS_GETUID, unix.SYS_GETXATTR, unix.SYS_INOTIFY_ADD_WATCH,
	unix.SYS_INOTIFY_INIT, unix.SYS_INOTIFY_INIT1, unix.SYS_INOTIFY_RM_WATCH, unix.SYS_IO_CANCEL, unix.SYS_IOCTL, unix.SYS_IO_DESTROY,
	unix.SYS_IO_GETEVENTS, unix.SYS_IO_PGETEVENTS, unix.SYS_IOPRIO_GET, unix.SYS_IOPRIO_SET, unix.SYS_IO_SETUP, unix.SYS_IO_SUBMIT,
	unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, unix.SYS_IO_URING_SETUP, unix.SYS_KILL, unix.SYS_LANDLOCK_ADD_RULE,
	unix.SYS_LANDLOCK_CREATE_RULESET, unix.SYS_LANDLOCK_RESTRICT_SELF, unix.SYS_LCHOWN, unix.SYS_LGETXATTR, unix.SYS_LINK,
	unix.SYS_LINKAT, unix.SYS_LISTEN, unix.SYS_LISTXATTR, unix.SYS_LLISTXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_LSEEK, unix.SYS_LSETXATTR,
	unix.SYS_LSTAT, unix.SYS_MADVISE, unix.SYS_MEMBARRIER, unix.SYS_MEMFD_CREATE, unix.SYS_MEMFD_SECRET, unix.SYS_MINCORE, unix.SYS_MKDIR,
	unix.SYS_MKDIRAT, unix.SYS_MKNOD, unix.SYS_MKNODAT, unix.SYS_MLOCK, unix.SYS_MLOCK2, unix.SYS_MLOCKALL, unix.SYS_MAP_SHADOW_STACK,
	unix.SYS_MMAP, unix.SYS_MPROTECT, unix.SYS_MQ_GETSETATTR, unix.SYS_MQ_NOTIFY, unix.SYS_MQ_OPEN, unix.SYS_MQ_TIMEDRECEIVE,
	unix.SYS_MQ_TIMEDSEND, unix.SYS_MQ_UNLINK, unix.SYS_MREMAP, unix.SYS_MSGCTL, unix.SYS_MSGGET, unix.SYS_MSGRCV, unix.SYS_MSGSND,
	unix.SYS_MSYNC, unix.SYS_MUNLOCK, unix.SYS_MUNLOCKALL, unix.SYS_MUNMAP, unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_NANOSLEEP,
	unix.SYS_NEWFSTATAT, unix.SYS_OPEN, unix.SYS_OPENAT, unix.SYS_OPENAT2, unix.SYS_PAUSE, unix.SYS_PIDFD_OPEN,
	unix.SYS_PIDFD_SEND_SIGNAL, unix.SYS_PIPE, unix.SYS_PIPE2, unix.SYS_PKEY_ALLOC, unix.SYS_PKEY_FREE, unix.SYS_PKEY_MPROTECT,
	unix.SYS_POLL, unix.SYS_PPOLL, unix.SYS_PRCTL, unix.SYS_PREAD64, unix.SYS_PREADV, unix.SYS_PREADV2, unix.SYS_PRLIMIT64,
	unix.SYS_PROCESS_MRELEASE, unix.SYS_PSELECT6, unix.SYS_PWRITE64, unix.SYS_PWRITEV, unix.SYS_PWRITEV2, unix.SYS_READ,
	unix.SYS_READAHEAD, unix.SYS_READLINK, unix.SYS_READLINKAT, unix.SYS_READV, unix.SYS_RECVFROM, unix.SYS_RECVMMSG, unix.SYS_RECVMSG,
	unix.SYS_REMAP_FILE_PAGES, unix.SYS_REMOVEXATTR, unix.SYS_RENAME, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_RESTART_SYSCALL,
	unix.SYS_RMDIR, unix.SYS_RSEQ, unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPENDING, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGQUEUEINFO,
	unix.SYS_RT_SIGRETURN, unix.SYS_RT_SIGSUSPEND, unix.SYS_RT_SIGTIMEDWAIT, unix.SYS_RT_TGSIGQUEUEINFO, unix.SYS_SCHED_GETAFFINITY,
	unix.SYS_SCHED_GETATTR, unix.SYS_SCHED_GETPARAM, unix.SYS_SCHED_GET_PRIORITY_MAX, unix.SYS_SCHED_GET_PRIORITY_MIN,
	unix.SYS_SCHED_GETSCHEDULER, unix.SYS_SCHED_RR_GET_INTERVAL, unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_SETATTR,
	unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETSCHEDULER, unix.SYS_SCHED_YIELD, unix.SYS_SECCOMP, unix.SYS_SELECT, unix.SYS_SEMCTL,
	unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP, unix.SYS_SENDFILE, unix.SYS_SENDMMSG, unix.SYS_SENDMSG, unix.SYS_SENDTO,
	unix.SYS_SETFSGID, unix.SYS_SETFSUID, unix.SYS_SETGID, unix.SYS_SETGROUPS, unix.SYS_SETITIMER, unix.SYS_SETPGID, unix.SYS_SETPRIORITY,
	unix.SYS_SETREGID, unix.SYS_SETRESGID, unix.SYS_SETRESUID, unix.SYS_SETREUID, unix.SYS_SETRLIMIT, unix.SYS_SET_ROBUST_LIST,
	unix.SYS_SETSID, unix.SYS_SETSOCKOPT, unix.SYS_SET_THREAD_AREA, unix.SYS_SET_TID_ADDRESS, unix.SYS_SETUID, unix.SYS_SETXATTR,
	unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_SHMDT, unix.SYS_SHMGET, unix.SYS_SHUTDOWN, unix.SYS_SIGALTSTACK, unix.SYS_SIGNALFD,
	unix.SYS_SIGNALFD4, unix.SYS_SOCKETPAIR, unix.SYS_SPLICE, unix.SYS_STAT, unix.SYS_STATFS, unix.SYS_STATX, unix.SYS_SYMLINK,
	unix.SYS_SYMLINKAT, unix.SYS_SYNC, unix.SYS_SYNC_FILE_RANGE, unix.SYS_SYNCFS, unix.SYS_SYSINFO, unix.SYS_TEE, unix.SYS_TGKILL,
	unix.SYS_TIME, unix.SYS_TIMER_CREATE, unix.SYS_TIMER_DELETE, unix.SYS_TIMER_GETOVERRUN, unix.SYS_TIMER_GETTIME,
	unix.SYS_TIMER_SETTIME, unix.SYS_TIMERFD_CREATE, unix.SYS_TIMERFD_GETTIME, unix.SYS_TIMERFD_SETTIME, unix.SYS_TIMES, unix.SYS_TKILL,
	unix.SYS_TRUNCATE, unix.SYS_UMASK, unix.SYS_UNAME, unix.SYS_UNLINK, unix.SYS_UNLINKAT, unix.SYS_UTIME, unix.SYS_UTIMENSAT,
	unix.SYS_UTIMES, unix.SYS_VFORK, unix.SYS_VMSPLICE, unix.SYS_WAIT4, unix.SYS_WAITID, unix.SYS_WRITE, unix.SYS_WRITEV,
	unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PTRACE, unix.SYS_ARCH_PRCTL, unix.SYS_MODIFY_LDT,
}

// newNamespaces are the flags of clone that the profile refuses.
const newNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWCGROUP

func containerdDefault() []unix.SockFilter {
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	end := func(action uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
	}
	jump := func(comparison uint16, k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_K | comparison, K: k, Jt: yes, Jf: no}
	}
	const allow, refuse = unix.SECCOMP_RET_ALLOW, unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	p := []unix.SockFilter{
		load(4), jump(unix.BPF_JEQ, unix.AUDIT_ARCH_X86_64, 1, 0), end(refuse),
		load(0),
		jump(unix.BPF_JEQ, unix.SYS_CLONE3, 0, 1), end(unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)),
		jump(unix.BPF_JEQ, unix.SYS_CLONE, 0, 4), load(16), jump(unix.BPF_JSET, newNamespaces, 0, 1), end(refuse), end(allow),
		jump(unix.BPF_JEQ, unix.SYS_SOCKET, 0, 4), load(16), jump(unix.BPF_JEQ, unix.AF_VSOCK, 0, 1), end(refuse), end(allow),
	}
	for _, call := range allowed {
		p = append(p, jump(unix.BPF_JEQ, call, 0, 1), end(allow))
	}
	return append(p, end(refuse))
}

// restrict makes children of this thread like the processes of a restricted pod: no capabilities, no new privileges, the default profile.
func restrict() error {
	runtime.LockOSThread() // Without an unlock, the thread ends with its goroutine.
	for c := range uintptr(unix.CAP_LAST_CAP + 1) {
		// A user without CAP_SETPCAP has no capabilities.
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil && !errors.Is(err, unix.EPERM) {
			return err
		}
	}
	p := containerdDefault()
	program := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
}
