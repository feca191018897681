package kernel

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// From linux/inet_diag.h, linux/unix_diag.h and net/tcp_states.h.
const (
	// stateListen is TCP_LISTEN.
	stateListen = 10
	// Offsets in an inet_diag_msg. Ports and addresses are in network order.
	diagLocalPort, diagRemotePort, diagLocal, diagRemote, diagInode = 4, 6, 8, 24, 68
	// unixRequestBytes is the size of unix_diag_req, unixMessageBytes that of unix_diag_msg, followed by attributes.
	unixRequestBytes, unixMessageBytes = 24, 16
	// unixShow asks for the name and the peer of each socket, which are the attributes unixName and unixPeer.
	unixShow           = 1 | 4
	unixName, unixPeer = 0, 2
)

// HeldSockets returns the inodes of the sockets that processes hold. It omits processes that end meanwhile.
func (p Proc) HeldSockets(pids []int) (map[uint32]bool, error) {
	held := map[uint32]bool{}
	for _, pid := range pids {
		entries, err := os.ReadDir(p.Path(pid, "fd"))
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("listing the descriptors of process %d: %w", pid, err)
		}
		for _, e := range entries {
			to, err := os.Readlink(filepath.Join(p.Path(pid, "fd"), e.Name()))
			inode, socket := strings.CutPrefix(to, "socket:[")
			if err != nil || !socket {
				continue
			}
			if n, err := strconv.ParseUint(strings.TrimSuffix(inode, "]"), 10, 32); err == nil {
				held[uint32(n)] = true
			}
		}
	}
	return held, nil
}

// Outside describes other processes that may work for the processes that hold some sockets: another listener on their port, and the other
// ends of their connections. Clients of their listening sockets are not listed.
func Outside(held map[uint32]bool, port int) ([]string, error) {
	var tcp []tcpSocket
	if err := askKernel(func(message []byte) error { return addTCP(&tcp, message) }, anyTCP(syscall.AF_INET), anyTCP(syscall.AF_INET6)); err != nil {
		return nil, err
	}
	request, body := newRequest(unixRequestBytes)
	body[0] = syscall.AF_UNIX
	binary.NativeEndian.PutUint32(body[4:], 1<<stateEstablished)
	binary.NativeEndian.PutUint32(body[12:], unixShow)
	var local []unixSocket
	if err := askKernel(func(message []byte) error { return addUnix(&local, message) }, request); err != nil {
		return nil, err
	}
	out := append(outsideTCP(tcp, held, port), outsideUnix(local, held)...)
	slices.Sort(out)
	return slices.Compact(out), nil
}

type tcpSocket struct {
	inode         uint32
	listens       bool
	local, remote netip.AddrPort
}

// anyTCP asks for listening and established sockets of a family.
func anyTCP(family byte) []byte {
	request, body := newRequest(diagRequestBytes)
	body[0], body[1] = family, syscall.IPPROTO_TCP
	binary.NativeEndian.PutUint32(body[4:], 1<<stateEstablished|1<<stateListen)
	return request
}

func addTCP(list *[]tcpSocket, message []byte) error {
	if len(message) < diagMessageBytes {
		return syscall.EBADMSG
	}
	address := func(at int) netip.Addr {
		a, _ := netip.AddrFromSlice(message[at : at+16])
		if message[0] == syscall.AF_INET {
			a, _ = netip.AddrFromSlice(message[at : at+4])
		}
		return a.Unmap()
	}
	*list = append(*list, tcpSocket{
		inode: binary.NativeEndian.Uint32(message[diagInode:]), listens: message[1] == stateListen,
		local:  netip.AddrPortFrom(address(diagLocal), binary.BigEndian.Uint16(message[diagLocalPort:])),
		remote: netip.AddrPortFrom(address(diagRemote), binary.BigEndian.Uint16(message[diagRemotePort:])),
	})
	return nil
}

// outsideTCP: a connection that waits to be accepted has no inode yet, so its port decides.
func outsideTCP(all []tcpSocket, held map[uint32]bool, port int) []string {
	own, foreign := map[uint16]bool{}, false
	ends := map[[2]netip.AddrPort]uint32{}
	for _, s := range all {
		switch {
		case !s.listens:
			ends[[2]netip.AddrPort{s.local, s.remote}] = s.inode
		case held[s.inode]:
			own[s.local.Port()] = true
		case int(s.local.Port()) == port:
			foreign = true
		}
	}
	var out []string
	if foreign || !own[uint16(port)] {
		out = append(out, fmt.Sprintf("another process listens on port %d", port))
	}
	for _, s := range all {
		if s.listens || !held[s.inode] || own[s.local.Port()] {
			continue
		}
		inode, here := ends[[2]netip.AddrPort{s.remote, s.local}]
		if here && (held[inode] || inode == 0 && own[s.remote.Port()]) {
			continue
		}
		out = append(out, fmt.Sprintf("it is connected to %s", s.remote))
	}
	return out
}

type unixSocket struct {
	inode, peer uint32
	name        string
}

func addUnix(list *[]unixSocket, message []byte) error {
	if len(message) < unixMessageBytes {
		return syscall.EBADMSG
	}
	if kind := message[1]; kind != syscall.SOCK_STREAM && kind != syscall.SOCK_SEQPACKET {
		return nil // Datagrams, such as to the system's log, ask for no work.
	}
	s := unixSocket{inode: binary.NativeEndian.Uint32(message[4:]), name: string(attribute(message[unixMessageBytes:], unixName))}
	if peer := attribute(message[unixMessageBytes:], unixPeer); len(peer) == 4 {
		s.peer = binary.NativeEndian.Uint32(peer)
	}
	*list = append(*list, s)
	return nil
}

// outsideUnix: a socket with a name belongs to the side that listened.
func outsideUnix(all []unixSocket, held map[uint32]bool) []string {
	names := map[uint32]string{}
	for _, s := range all {
		names[s.inode] = strings.ReplaceAll(strings.TrimRight(s.name, "\x00"), "\x00", "@")
	}
	var out []string
	for _, s := range all {
		if !held[s.inode] || s.peer == 0 || held[s.peer] || names[s.inode] != "" {
			continue
		}
		if name := names[s.peer]; name != "" {
			out = append(out, fmt.Sprintf("it is connected to the Unix socket %s", name))
		} else {
			out = append(out, "it is connected to another process by a Unix socket")
		}
	}
	return out
}
