package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const startPatience = 20 * time.Second

// printStarts starts servers (NAME=PROGRAM) in turns and prints a record line for each start.
func printStarts(ctx context.Context, out io.Writer, tries string, servers []string) error {
	n, err := strconv.Atoi(tries)
	if err != nil || n < 1 || n > 1000 {
		return fmt.Errorf("starting servers %q times: it is to be a number from 1 to 1000", tries)
	}
	e := json.NewEncoder(out)
	for block := range n {
		for _, server := range servers {
			name, program, _ := strings.Cut(server, "=")
			s, err := startOf(ctx, program)
			if err != nil {
				return fmt.Errorf("starting %s: %w", server, err)
			}
			s.Block, s.Implementation = int32(block)+1, name
			if err := e.Encode(s); err != nil {
				return fmt.Errorf("printing a start of %s: %w", name, err)
			}
		}
	}
	return nil
}

func startOf(ctx context.Context, program string) (s sight, err error) {
	file, err := os.Stat(program)
	if err != nil {
		return s, fmt.Errorf("looking at the program: %w", err)
	}
	address, err := freeAddress()
	if err != nil {
		return s, err
	}
	_, port, _ := net.SplitHostPort(address)
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	command := exec.CommandContext(ctx, program, "--port="+port)
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.WaitDelay = startPatience
	began := time.Now()
	if err := command.Start(); err != nil {
		return s, fmt.Errorf("starting the program: %w", err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = command.Wait() // Its exit code is not checked here. Without an answer the start fails.
		cancel()
	}()
	err = firstAnswer(ctx, "http://"+address+"/")
	took := time.Since(began)
	cancel()
	<-ended
	return sight{StartNanos: took.Nanoseconds(), ProgramBytes: file.Size()}, err
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("looking for a free port: %w", err)
	}
	return l.Addr().String(), l.Close()
}

func firstAnswer(ctx context.Context, address string) error {
	ask, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return fmt.Errorf("asking: %w", err)
	}
	for ctx.Err() == nil {
		response, err := http.DefaultClient.Do(ask)
		if err != nil {
			continue // Not listening yet.
		}
		response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("it answered %s", response.Status)
		}
		return nil
	}
	return errors.New("it ended, or its time did, before it answered")
}
