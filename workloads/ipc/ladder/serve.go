package ladder

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// inherited is the other process's first inherited descriptor.
const inherited = 3

// Peer is the other process: it serves inherited connections until all are gone. Arguments: the rung's name, the number of connections, and
// the descriptors of each.
func Peer(args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("the other process has %d arguments, want 3", len(args))
	}
	rung, ok := Find(args[0])
	connections, err := strconv.Atoi(args[1])
	each, err2 := strconv.Atoi(args[2])
	if err := errors.Join(err, err2); err != nil || !ok {
		return fmt.Errorf("the other process has the arguments %q: %w", args, err)
	}
	fds := make([][]int, connections)
	for i := range fds {
		for j := range each {
			fds[i] = append(fds[i], inherited+i*each+j)
			unix.CloseOnExec(inherited + i*each + j)
		}
	}
	return serveAll(rung, fds)
}

// serveAll uses one goroutine per connection.
func serveAll(rung Rung, fds [][]int) error {
	results := make(chan error, len(fds))
	for _, own := range fds {
		conn, err := rung.conn(own, false)
		if err != nil {
			return err
		}
		go func() { results <- serve(conn) }()
	}
	for range fds {
		if err := <-results; err != nil {
			return err // The others end with this process.
		}
	}
	return nil
}

// serve serves a connection until the other side is gone.
func serve(conn *Conn) error {
	s := &server{conn: conn}
	for {
		if err := s.turn(); s.over(err) {
			return conn.Close()
		} else if err != nil {
			return errors.Join(err, conn.Close())
		}
	}
}

func files(fds []int) (all []*os.File) {
	for _, fd := range fds {
		all = append(all, os.NewFile(uintptr(fd), "inherited"))
	}
	return all
}
