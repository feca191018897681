package kernel

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// inode returns that of a socket, as descriptors show it.
func inode(t *testing.T, s any) uint32 {
	t.Helper()
	own, ok := s.(syscall.Conn)
	if !ok {
		t.Fatalf("%T is no socket", s)
	}
	raw, err := own.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var info unix.Stat_t
	if err := raw.Control(func(fd uintptr) { err = unix.Fstat(int(fd), &info) }); err != nil {
		t.Fatal(err)
	}
	return uint32(info.Ino)
}

// openPair returns a listener, and both ends of a connection to it.
func openPair(t *testing.T, network, address string) (l net.Listener, client, server net.Conn) {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	if client, err = net.Dial(network, l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	if server, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	return l, client, server
}

func TestWorkThatOtherProcessesMayDoIsSeen(t *testing.T) {
	own, ownClient, ownServer := openPair(t, "tcp", "127.0.0.1:0")
	other, client, server := openPair(t, "tcp", "127.0.0.1:0")
	path := filepath.Join(t.TempDir(), "s")
	local, localClient, localServer := openPair(t, "unix", path)
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	first, second := os.NewFile(uintptr(pair[0]), "first"), os.NewFile(uintptr(pair[1]), "second")
	t.Cleanup(func() { _ = first.Close(); _ = second.Close() })
	port := own.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert // It listens on TCP.
	for name, tc := range map[string]struct {
		held []any
		want string
	}{
		"a server with a client":             {held: []any{own, ownServer}},
		"a server that asks itself":          {held: []any{own, ownServer, ownClient}},
		"another process listens":            {held: []any{other}, want: "another process listens on port"},
		"a connection to another process":    {held: []any{own, client}, want: "it is connected to " + other.Addr().String()},
		"a connection inside":                {held: []any{own, client, server, other}},
		"a client of another port":           {held: []any{own, server, other}},
		"a Unix socket of another process":   {held: []any{own, localClient}, want: "it is connected to the Unix socket " + path},
		"a client of a Unix socket":          {held: []any{own, localServer, local}},
		"a pair whose other end another has": {held: []any{own, first}, want: "it is connected to another process by a Unix socket"},
		"a pair of its own":                  {held: []any{own, first, second}},
	} {
		t.Run(name, func(t *testing.T) {
			held := map[uint32]bool{}
			for _, s := range tc.held {
				held[inode(t, s)] = true
			}
			got, err := Outside(held, port)
			if said := strings.Join(got, "; "); err != nil || !strings.HasPrefix(said, tc.want) || tc.want == "" && said != "" {
				t.Errorf("it says %q, %v; want %q", said, err, tc.want)
			}
		})
	}
	held, err := Proc("/proc").HeldSockets([]int{os.Getpid()})
	if err != nil || !held[inode(t, own)] || !held[inode(t, localClient)] {
		t.Errorf("this process holds %v, %v", held, err)
	}
}
