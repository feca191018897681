package conformance

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// ignore pipelines requests for as long as the server reads, then reads all answers. The limit far exceeds socket buffers, which grow to tens
// of megabytes: only a server that buffers in its own memory reaches it.
func ignore(address string) error {
	c, err := dial(address)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	if err := errors.Join(c.SetReadBuffer(64<<10), c.SetWriteBuffer(64<<10)); err != nil {
		return fmt.Errorf("setting the size of buffers: %w", err)
	}
	const batch, limit = 100, 3_000_000
	text := strings.Repeat(plain, batch)
	sent := 0
	for sent < limit {
		if err := c.SetWriteDeadline(time.Now().Add(500 * time.Millisecond)); err != nil {
			return fmt.Errorf("setting a deadline: %w", err)
		}
		n, err := io.WriteString(c.TCPConn, text)
		if sent += batch; err != nil {
			// The server stopped reading, perhaps temporarily. The rest of the batch is sent when there is room.
			go func() { _, _ = io.WriteString(c, text[n:]) }()
			break
		}
	}
	if sent >= limit {
		return fmt.Errorf("the server took %d requests of a client that reads nothing", sent)
	}
	r := bufio.NewReader(c)
	for i := range sent {
		if _, _, err := receive(r, http.MethodGet); err != nil {
			return fmt.Errorf("answer %d of %d: %w", i+1, sent, err)
		}
	}
	return nil
}

// crowd opens idle connections and half requests, checks that another client is answered meanwhile, then asks on each.
func crowd(address string) error {
	const size = 400
	clients := make([]client, 0, size)
	defer func() {
		for _, c := range clients {
			_ = c.Close()
		}
	}()
	begun := func(i int) int { return i % 2 * len(plain) / 2 }
	for i := range size {
		c, err := dial(address)
		if err != nil {
			return err
		}
		clients = append(clients, c)
		if err := write(c, []string{plain[:begun(i)]}); err != nil {
			return err
		}
	}
	if _, _, err := exchange(address, repeat(plain, 10), 10); err != nil {
		return fmt.Errorf("beside %d slow clients: %w", size, err)
	}
	for i, c := range clients {
		if err := write(c, []string{plain[begun(i):]}); err != nil {
			return fmt.Errorf("client %d: %w", i+1, err)
		}
		response, _, err := receive(bufio.NewReader(c), http.MethodGet)
		if err != nil {
			return fmt.Errorf("client %d: %w", i+1, err)
		}
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("client %d got %s", i+1, response.Status)
		}
	}
	return nil
}
