package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// answerEnd is how the answer of every server of the table ends.
const answerEnd = "helloworld"

// countAnswers keeps a request outstanding on each of n connections for a time, and says how many answers each of them got.
func countAnswers(ctx context.Context, target string, n int, during time.Duration) ([]int64, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	connections := make([]net.Conn, 0, n)
	for range n {
		var d net.Dialer
		c, err := d.DialContext(ctx, "tcp", target)
		if err != nil {
			return nil, fmt.Errorf("opening connection %d of %d: %w", len(connections)+1, n, err)
		}
		defer c.Close()
		connections = append(connections, c)
	}
	end := time.Now().Add(during)
	counts, errs := make([]int64, n), make([]error, n)
	var group sync.WaitGroup
	for i, c := range connections {
		if err := c.SetDeadline(end); err != nil {
			return nil, fmt.Errorf("setting a deadline: %w", err)
		}
		// Whoever interrupts does not wait for the deadline.
		stop := context.AfterFunc(ctx, func() { _ = c.Close() })
		defer stop()
		group.Go(func() { counts[i], errs[i] = answers(c, end) })
	}
	group.Wait()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("counting answers: %w", ctx.Err())
	}
	return counts, errors.Join(errs...)
}

// answers counts those of a connection. A server that closes it has answered no more; one that answers something else is an error.
func answers(c net.Conn, end time.Time) (n int64, err error) {
	request := []byte("GET / HTTP/1.1\r\nHost: bench\r\n\r\n")
	var buffer [1024]byte
	for time.Now().Before(end) {
		if _, err := c.Write(request); err != nil {
			return n, nil //nolint:nilerr // The time is over, or the server has closed the connection: both are in the count.
		}
		for have := 0; !bytes.HasSuffix(buffer[:have], []byte(answerEnd)); {
			more, err := c.Read(buffer[have:])
			if err != nil {
				return n, nil //nolint:nilerr // As above.
			}
			if have += more; have == len(buffer) {
				return n, fmt.Errorf("counting answers: %w: %q", errNotOurs, buffer[:40])
			}
		}
		if !bytes.HasPrefix(buffer[:], []byte("HTTP/1.1 200 ")) {
			return n, fmt.Errorf("counting answers: %w: %q", errNotOurs, buffer[:40])
		}
		n++
	}
	return n, nil
}

var errNotOurs = errors.New("the answer is not the one that all servers give")

// jainIndex is 1 if all counts are equal and 1/n if all but one are 0.
func jainIndex(counts []int64) float64 {
	var sum, squares float64
	for _, n := range counts {
		sum += float64(n)
		squares += float64(n) * float64(n)
	}
	if squares == 0 {
		return 0
	}
	return sum * sum / (float64(len(counts)) * squares)
}
