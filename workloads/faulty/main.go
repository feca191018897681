// Command faulty is a test implementation: gohttp's answer with optional planted faults or, as "faulty cases", a program that measures itself.
// Its figures mean nothing.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

const drain = 100 * time.Millisecond

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "faulty:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, stdout io.Writer, args []string) error {
	if len(args) > 0 && args[0] == "cases" {
		return printCases(stdout, args[1:])
	}
	port, f, err := parse(args)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", ":"+strconv.Itoa(port))
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	if _, err := fmt.Fprintf(stdout, "faulty: listening on %s, faults %+v\n", listener.Addr(), f); err != nil {
		return errors.Join(fmt.Errorf("writing the greeting: %w", err), listener.Close())
	}
	counted, err := serve(ctx, listener, newHandler(f))
	line, encoding := json.Marshal(counted)
	if encoding != nil {
		return fmt.Errorf("encoding the counts: %w", errors.Join(encoding, err))
	}
	if _, writing := fmt.Fprintf(stdout, "%s\n", line); writing != nil {
		return fmt.Errorf("writing the counts: %w", errors.Join(writing, err))
	}
	return err
}

func parse(args []string) (port int, f faults, err error) {
	flags := flag.NewFlagSet("faulty", flag.ContinueOnError)
	flags.IntVar(&port, "port", 8080, "the TCP port to listen on")
	flags.Uint64Var(&f.ErrorEvery, "error-every", 0, "answer each Nth request with 500")
	flags.Uint64Var(&f.WrongBodyEvery, "wrong-body-every", 0, "answer each Nth request with as many bytes, but others")
	flags.DurationVar(&f.WrongBodyAfter, "wrong-body-after", 0, "the time from the first request on after which each answer has as many bytes, but others")
	flags.Uint64Var(&f.WrongLengthEvery, "wrong-length-every", 0, "answer each Nth request with a longer body")
	flags.Uint64Var(&f.CloseEvery, "close-every", 0, "close the connection after each Nth answer")
	flags.Uint64Var(&f.HangEvery, "hang-every", 0, "never answer each Nth request")
	flags.Int64Var(&f.ServeOnly, "serve-only", 0, "answer on N connections at a time, and never on those beyond")
	flags.DurationVar(&f.SlowAfter, "slow-after", 0, "the time from the first request on after which -slow-by begins")
	flags.DurationVar(&f.SlowBy, "slow-by", 0, "the CPU time that each answer then costs more")
	flags.Uint64Var(&f.Leak, "leak", 0, "keep that many bytes of memory per request")
	flags.Uint64Var(&f.Spin, "spin", 0, "the CPU time in nanoseconds that each answer costs more")
	flags.StringVar(&f.Answer, "answer", "helloworld", "the body of a good answer")
	flags.IntVar(&f.Backlog, "backlog", 0, "let no more than N connections wait to be accepted, and one")
	flags.DurationVar(&f.AcceptPause, "accept-pause", 0, "the pause after each connection that is accepted")
	flags.DurationVar(&f.ExitAfter, "exit-after", 0, "the time from the first request on after which the server exits with status 1")
	if err := flags.Parse(args); err != nil {
		return 0, f, fmt.Errorf("reading the flags: %w", err)
	}
	if flags.NArg() > 0 {
		return 0, f, fmt.Errorf("reading the flags: %q is none", flags.Arg(0))
	}
	if f.Answer == "" && f.WrongBodyEvery > 0 {
		return 0, f, errors.New("reading the flags: -wrong-body-every needs an -answer that is not empty")
	}
	if f.Answer == "" && f.WrongBodyAfter > 0 {
		return 0, f, errors.New("reading the flags: -wrong-body-after needs an -answer that is not empty")
	}
	return port, f, nil
}

var errExit = errors.New("serving: -exit-after is over")

// serve answers until ctx ends, and returns its counts. It has no timeouts: it is for trusted clients, and some faults last as long as the
// client wants.
func serve(ctx context.Context, listener net.Listener, h *handler) (counts, error) {
	f := h.faults
	server := &http.Server{Handler: h, MaxHeaderBytes: 8 << 10, ConnState: h.connection}
	stopped := make(chan error, 1)
	go func() {
		select {
		case <-ctx.Done():
			stopped <- shutdown(server)
		case <-h.exit:
			stopped <- errors.Join(errExit, server.Close())
		}
	}()
	if f.Backlog > 0 {
		if err := shorten(listener, f.Backlog); err != nil {
			return h.counts(), errors.Join(err, listener.Close())
		}
	}
	if f.AcceptPause > 0 {
		listener = slowListener{Listener: listener, pause: f.AcceptPause}
	}
	if f.ServeOnly > 0 {
		listener = &limitedListener{Listener: listener, limit: f.ServeOnly, ignored: &h.ignored}
	}
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return h.counts(), fmt.Errorf("serving: %w", err)
	}
	return h.counts(), <-stopped
}

func shutdown(server *http.Server) error {
	limit, cancel := context.WithTimeout(context.Background(), drain)
	defer cancel()
	err := server.Shutdown(limit)
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close()
	}
	return err
}
