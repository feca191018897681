package httpcheck

import (
	"context"
	"io"
	"net/http"
	"time"

	"loadstone.dev/loadstone/internal/record"
)

const (
	readyPatience = 5 * time.Second
	firstPatience = time.Second
)

// Answers requests a path once and reports whether any HTTP answer comes within a second.
func Answers(ctx context.Context, server Server, path string) bool {
	_, err := status(ctx, server, path, firstPatience)
	return err == nil
}

// Ready requests a path until the status is 2xx, and returns the number of requests; 0 if ctx ended first.
func Ready(ctx context.Context, server Server, path string) int {
	for asked := 1; ctx.Err() == nil; asked++ {
		if code, err := status(ctx, server, path, readyPatience); err == nil && code/100 == http.StatusOK/100 {
			return asked
		}
		select {
		case <-ctx.Done():
		case <-time.After(awaitPause):
		}
	}
	return 0
}

// Page is an answer to a GET.
type Page struct {
	Status int
	// Body is at most the first 64 KiB; Bytes is the full size.
	Body  string
	Bytes int64
}

// Fetch requests a path once, with a timeout of five seconds. The error is a sentence.
func Fetch(ctx context.Context, server Server, path string) (Page, error) {
	p, err := get(ctx, server, path, readyPatience)
	if err != nil {
		return Page{}, unanswered("GET "+path, WithoutURL(err), readyPatience)
	}
	return p, nil
}

func status(ctx context.Context, server Server, path string, patience time.Duration) (int, error) {
	p, err := get(ctx, server, path, patience)
	return p.Status, err
}

// get requests a path over its own connection. A server without HTTP/2 still counts as ready; the check of its loads refuses it.
func get(ctx context.Context, server Server, path string, patience time.Duration) (Page, error) {
	page, err := getIn(ctx, server, server.Protocol, path, patience)
	if withoutHTTP2(err) {
		return getIn(ctx, server, "", path, patience)
	}
	return page, err
}

func getIn(ctx context.Context, server Server, p record.Protocol, path string, patience time.Duration) (Page, error) {
	m, err := request(server.Address, record.Request{Path: path, Protocol: p})
	if err != nil {
		return Page{}, err
	}
	s, err := openSession(ctx, server, p, time.Now().Add(patience))
	if err != nil {
		return Page{}, err
	}
	defer s.close()
	a, err := s.ask(m, io.Discard)
	return Page{Status: a.status, Body: string(a.body), Bytes: a.bytes}, err
}
