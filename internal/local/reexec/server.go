package reexec

import (
	"context"
	"flag"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"loadstone.dev/loadstone/internal/base/serve"
)

// serveEqual is the server that a calibration measures where none is named: Go's own, with one fixed answer on one port of this machine, until ctx ends.
func serveEqual(ctx context.Context, args []string) error {
	f := flag.NewFlagSet(ServerCommand, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	port := f.Int("port", 0, "the port to listen on")
	if err := f.Parse(args); err != nil || f.NArg() > 0 || *port < 1 {
		return usageError(ServerCommand)
	}
	h := &http.Server{
		Addr:              net.JoinHostPort("127.0.0.1", strconv.Itoa(*port)),
		Handler:           http.HandlerFunc(answer),
		ReadHeaderTimeout: 10 * time.Second,
	}
	return serve.Until(ctx, h, "a calibration", h.ListenAndServe)
}

func answer(w http.ResponseWriter, _ *http.Request) {
	const text = "helloworld"
	w.Header().Set("Content-Type", "text/plain")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	_, _ = io.WriteString(w, text) // An error means that the client has gone.
}
