// Command gohttp is a workload: Go's net/http with one fixed answer.
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

const (
	body  = "helloworld"
	drain = 100 * time.Millisecond
)

var errUsage = errors.New("usage: gohttp [--port PORT] [--burn ITERATIONS] [--tls FOLDER|self-signed]")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "gohttp:", err)
		if errors.Is(err, errUsage) {
			os.Exit(2)
		}
		os.Exit(1)
	}
}

func run(ctx context.Context, stdout io.Writer, args []string) error {
	flags := flag.NewFlagSet("gohttp", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	port := flags.Int("port", 8080, "the TCP port to listen on")
	iterations := flags.Uint64("burn", 0, "iterations of a planted loop per request, for tests with a known answer")
	encrypted := flags.String("tls", "", "speak HTTPS: the folder of tls.crt and tls.key, or self-signed")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	if flags.NArg() > 0 || *port < 1 || *port > 65535 {
		return errUsage
	}
	server := &http.Server{
		Addr:              ":" + strconv.Itoa(*port),
		Handler:           handler(*iterations),
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    8 << 10,
	}
	serve := server.ListenAndServe
	if *encrypted != "" {
		own, err := certificate(*encrypted, time.Now())
		if err != nil {
			return err
		}
		server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{own}}
		serve = func() error { return server.ListenAndServeTLS("", "") }
	}
	// The runtime sets GOMAXPROCS from CPU affinity and cgroup quota.
	if _, err := fmt.Fprintf(stdout, "gohttp: %s, port %d, GOMAXPROCS %d, burn %d\n", runtime.Version(), *port, runtime.GOMAXPROCS(0), *iterations); err != nil {
		return fmt.Errorf("writing the greeting: %w", err)
	}
	stopped := make(chan error, 1)
	go func() {
		<-ctx.Done()
		limit, cancel := context.WithTimeout(context.Background(), drain)
		defer cancel()
		err := server.Shutdown(limit)
		if errors.Is(err, context.DeadlineExceeded) {
			err = server.Close()
		}
		stopped <- err
	}()
	if err := serve(); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving: %w", err)
	}
	return <-stopped
}

func handler(iterations uint64) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		if burn(iterations) == 0 {
			// It never is, but the compiler cannot know, so it keeps the loop.
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		// Other servers send no date, and answers must be identical.
		w.Header()["Date"] = nil
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		// An error means that the client is gone.
		_, _ = io.WriteString(w, body)
	})
	return mux
}

// burn costs about two nanoseconds per iteration at 2.6 GHz (BenchmarkBurn): a dependency chain of shifts (xorshift64, which never reaches 0).
func burn(iterations uint64) uint64 {
	x := uint64(88172645463325252)
	for range iterations {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}
