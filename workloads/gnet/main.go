// Command gnet is a workload: an HTTP server with one fixed answer on gnet, an event loop for Go.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/panjf2000/gnet/v2"
	"golang.org/x/sys/unix"
)

var errUsage = errors.New("usage: gnet [--port PORT]")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "gnet:", err)
		if errors.Is(err, errUsage) {
			os.Exit(2)
		}
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	port, err := portFrom(args)
	if err != nil {
		return err
	}
	limit, err := connectionLimit()
	if err != nil {
		return err
	}
	return serve(ctx, port, limit)
}

func serve(ctx context.Context, port, limit int) error {
	network, err := free(port)
	if err != nil {
		return fmt.Errorf("listening on port %d: %w", port, err)
	}
	s := &server{ctx: ctx, limit: limit}
	// With SO_REUSEPORT gnet accepts and serves in one thread; otherwise it uses another loop for accepting.
	err = gnet.Run(s, fmt.Sprintf("%s://:%d", network, port), gnet.WithNumEventLoop(1), gnet.WithReusePort(true),
		gnet.WithReuseAddr(true), gnet.WithTCPNoDelay(gnet.TCPNoDelay), gnet.WithLockOSThread(true), gnet.WithTicker(true))
	if err = errors.Join(err, s.broken); err != nil {
		return fmt.Errorf("serving: %w", err)
	}
	return nil
}

// portFrom parses "--port N" or "--port=N". Default: 8080.
func portFrom(args []string) (int, error) {
	flags := flag.NewFlagSet("gnet", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	port := flags.Int("port", 8080, "the TCP port to listen on")
	if err := flags.Parse(args); err != nil {
		return 0, fmt.Errorf("%w: %w", errUsage, err)
	}
	if flags.NArg() > 0 || *port < 1 || *port > 65535 {
		return 0, errUsage
	}
	return *port, nil
}

// free checks that the port is free, and whether IPv6 exists. With SO_REUSEPORT the kernel would let two servers share the port.
func free(port int) (network string, err error) {
	if err = bind(unix.AF_INET6, &unix.SockaddrInet6{Port: port}); err == nil {
		return "tcp", nil
	}
	if errors.Is(err, unix.EAFNOSUPPORT) || errors.Is(err, unix.EADDRNOTAVAIL) {
		err = bind(unix.AF_INET, &unix.SockaddrInet4{Port: port})
	}
	return "tcp4", err
}

func bind(family int, address unix.Sockaddr) error {
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	err = errors.Join(unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1), unix.Bind(fd, address), unix.Close(fd))
	return os.NewSyscallError("bind", err)
}

// connectionLimit returns how many connections the process may have, with descriptors reserved for other uses. Go's runtime has already raised
// the soft limit.
func connectionLimit() (int, error) {
	const others = 32
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err != nil {
		return 0, fmt.Errorf("reading the limit of open files: %w", err)
	}
	return int(max(files.Cur, others+1) - others), nil
}
