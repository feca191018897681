package httpcheck

import (
	"context"
	"io"
	"net/http"
	"time"

	"loadstone.dev/loadstone/internal/record"
)

const (
	// readyPatience is how long one answer may take while a server gets ready.
	readyPatience = 5 * time.Second
	// firstPatience is how long the first answer of a server may take after its port has opened.
	firstPatience = time.Second
)

// Answers asks for a path once and reports whether an HTTP answer comes within a second, whatever its status.
func Answers(ctx context.Context, target, path string) bool {
	_, err := status(ctx, target, path, firstPatience)
	return err == nil
}

// Ready asks for a path until the answer has a status of 2xx. It ends with ctx, and then reports false.
func Ready(ctx context.Context, target, path string) bool {
	for ctx.Err() == nil {
		if code, err := status(ctx, target, path, readyPatience); err == nil && code/100 == http.StatusOK/100 {
			return true
		}
		select {
		case <-ctx.Done():
		case <-time.After(awaitPause):
		}
	}
	return false
}

// status is that of one answer, over a connection of its own.
func status(ctx context.Context, target, path string, patience time.Duration) (int, error) {
	text, err := request(target, record.Request{Path: path})
	if err != nil {
		return 0, err
	}
	s, err := openSession(ctx, target, time.Now().Add(patience))
	if err != nil {
		return 0, err
	}
	defer s.close()
	a, err := s.ask(text, io.Discard)
	return a.status, err
}
