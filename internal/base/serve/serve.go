// Package serve runs an HTTP server until a process ends.
package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

const patience = 2 * time.Second

// Until serves until ctx ends, then finishes requests in flight. Errors name the service.
func Until(ctx context.Context, h *http.Server, what string, serve func() error) error {
	done := make(chan error, 1)
	go func() { done <- serve() }()
	select {
	case err := <-done:
		return fmt.Errorf("serving %s: %w", what, err)
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	if err := h.Shutdown(stop); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("shutting down the server of %s: %w", what, err)
	}
	return nil
}
