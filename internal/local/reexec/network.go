package reexec

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"loadstone.dev/loadstone/internal/local/image"
)

// Network is a network namespace with a loopback interface only. Only root could enter it, so the process that holds it starts all others.
type Network struct {
	cmd *exec.Cmd
	to  *net.UnixConn
}

type begun struct {
	PID    int    `json:"pid,omitempty"`
	Failed string `json:"failed,omitempty"`
}

// inherited are the machine's settings that a new network namespace does not have.
var inherited = []string{
	"core/somaxconn", "ipv4/ip_local_port_range", "ipv4/ip_local_reserved_ports", "ipv4/ip_unprivileged_port_start",
	"ipv4/tcp_abort_on_overflow", "ipv4/tcp_autocorking", "ipv4/tcp_fastopen", "ipv4/tcp_fin_timeout", "ipv4/tcp_max_syn_backlog",
	"ipv4/tcp_max_tw_buckets", "ipv4/tcp_moderate_rcvbuf", "ipv4/tcp_notsent_lowat", "ipv4/tcp_sack", "ipv4/tcp_slow_start_after_idle",
	"ipv4/tcp_syncookies", "ipv4/tcp_timestamps", "ipv4/tcp_tw_reuse", "ipv4/tcp_window_scaling", "ipv6/bindv6only",
}

const settingsFolder = "/proc/sys/net"

// OpenNetwork makes a network with the machine's settings, which ends with this thread.
func OpenNetwork() (*Network, error) {
	n, err := openNetwork(settings())
	if err != nil {
		return nil, fmt.Errorf("making a network namespace: %w", err)
	}
	return n, nil
}

func openNetwork(settings []string) (*Network, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	to, from, err := pair(unix.SOCK_SEQPACKET)
	if err != nil {
		return nil, err
	}
	defer from.Close() //nolint:errcheck // The holder has it.

	n := &Network{cmd: exec.Command(self, append([]string{NetworkCommand}, settings...)...)} //nolint:noctx // It ends with its standard input.
	conn, err := net.FileConn(to)
	if err = errors.Join(err, to.Close()); err != nil {
		return nil, err
	}
	n.to = conn.(*net.UnixConn)
	n.cmd.Stdin, n.cmd.Stderr, n.cmd.SysProcAttr = from, os.Stderr, apart()
	out, err := n.cmd.StdoutPipe()
	if err == nil {
		err = n.cmd.Start()
	}
	if err != nil {
		return nil, errors.Join(err, n.to.Close())
	}
	var ready begun
	if err := json.NewDecoder(out).Decode(&ready); err != nil {
		ready.Failed = "its process has ended"
	}
	if ready.Failed != "" {
		n.End()
		return nil, errors.New(ready.Failed)
	}
	return n, nil
}

func apart() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, Cloneflags: unix.CLONE_NEWNET}
	if uid, gid := os.Geteuid(), os.Getegid(); !image.ChangesUser() {
		a.Cloneflags |= unix.CLONE_NEWUSER
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		a.AmbientCaps = []uintptr{unix.CAP_NET_ADMIN}
	}
	return a
}

func pair(sort int) (own, other *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, sort|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("making a socket: %w", err)
	}
	return os.NewFile(uintptr(fds[0]), "socket"), os.NewFile(uintptr(fds[1]), "socket"), nil
}

// Proc is the /proc that shows this network.
func (n *Network) Proc() string {
	if n == nil {
		return "/proc"
	}
	return fmt.Sprintf("/proc/%d", n.cmd.Process.Pid)
}

// End ends the network, after its processes.
func (n *Network) End() {
	if n == nil {
		return
	}
	_ = n.to.Close() // It ends the holder.
	_ = n.cmd.Wait() // It was not measured.
}

func (n *Network) begin(c Child, files []*os.File) (int, func() Exit, error) {
	own, other, err := pair(unix.SOCK_STREAM)
	if err != nil {
		return 0, nil, err
	}
	fds := []int{int(other.Fd())}
	for _, f := range files {
		fds = append(fds, int(f.Fd()))
	}
	_, _, err = n.to.WriteMsgUnix([]byte{0}, unix.UnixRights(fds...), nil)
	err = errors.Join(err, other.Close())
	if err == nil {
		err = json.NewEncoder(own).Encode(c)
	}
	answers, answer := json.NewDecoder(own), begun{}
	if err == nil {
		err = answers.Decode(&answer)
	}
	switch {
	case err != nil:
		err = fmt.Errorf("the process with the network of the run has ended: %w", err)
	case answer.Failed != "":
		err = errors.New(answer.Failed)
	}
	if err != nil {
		return 0, nil, errors.Join(err, own.Close())
	}
	return answer.PID, func() Exit {
		defer own.Close() //nolint:errcheck // It was only read.
		var e Exit
		if answers.Decode(&e) != nil {
			return Exit{Code: -1, Text: "lost with the network of the run"}
		}
		return e
	}, nil
}

// holdNetwork sets a network up and starts processes in it until in ends.
func holdNetwork(args []string, in io.Reader, out io.Writer) error {
	runtime.LockOSThread()
	from := socketOf(in)
	if from == nil {
		return usageError(NetworkCommand)
	}
	var ready begun
	if err := setUp(args); err != nil {
		ready.Failed = err.Error()
	}
	if err := json.NewEncoder(out).Encode(ready); err != nil {
		return err
	}
	for {
		files, err := receive(from)
		if len(files) == 0 || err != nil {
			return err
		}
		beginChild(files[0], files[1:])
	}
}

func socketOf(in io.Reader) *net.UnixConn {
	file, isFile := in.(*os.File)
	if !isFile {
		return nil
	}
	conn, err := net.FileConn(file)
	if err != nil {
		return nil
	}
	own, _ := conn.(*net.UnixConn)
	return own
}

func receive(from *net.UnixConn) (files []*os.File, err error) {
	const mostFiles = 8
	rights := make([]byte, unix.CmsgSpace(4*mostFiles))
	_, size, _, _, err := from.ReadMsgUnix(make([]byte, 1), rights)
	switch {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, err
	}
	messages, err := unix.ParseSocketControlMessage(rights[:size])
	if err != nil {
		return nil, err
	}
	for _, m := range messages {
		fds, err := unix.ParseUnixRights(&m)
		if err != nil {
			return nil, err
		}
		for _, fd := range fds {
			files = append(files, os.NewFile(uintptr(fd), "passed"))
		}
	}
	return files, nil
}

func beginChild(control *os.File, files []*os.File) {
	answers := json.NewEncoder(control)
	var c Child
	err := json.NewDecoder(control).Decode(&c)
	pid, wait := 0, func() Exit { return Exit{} }
	if err == nil {
		pid, wait, err = c.begin(files)
	}
	for _, f := range files {
		_ = f.Close() // The child has it.
	}
	if err != nil {
		_ = answers.Encode(begun{Failed: err.Error()}) // Without a reader, the run is over.
		_ = control.Close()
		return
	}
	_ = answers.Encode(begun{PID: pid})
	go func() {
		_ = answers.Encode(wait())
		_ = control.Close()
	}()
}

func settings() (all []string) {
	for _, name := range inherited {
		if text, err := os.ReadFile(filepath.Join(settingsFolder, name)); err == nil {
			all = append(all, name+"="+strings.TrimSpace(string(text)))
		}
	}
	return all
}

// setUp ends without the capabilities that it needs.
func setUp(settings []string) error {
	for _, s := range settings {
		name, value, _ := strings.Cut(s, "=")
		file := filepath.Join(settingsFolder, name)
		text, err := os.ReadFile(file)
		if err != nil || strings.TrimSpace(string(text)) == value {
			continue // This kernel has it for all networks.
		}
		if err := os.WriteFile(file, []byte(value), 0); err != nil {
			return fmt.Errorf("setting net/%s to %q: %w", name, value, err)
		}
	}
	if err := raiseLoopback(); err != nil {
		return fmt.Errorf("setting up the loopback interface: %w", err)
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("dropping capabilities: %w", err)
	}
	return nil
}

func raiseLoopback() error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(socket) //nolint:errcheck // It was only asked.
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP)
	return unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, lo)
}
