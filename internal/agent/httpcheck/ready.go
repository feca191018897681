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
func Answers(ctx context.Context, server Server, path string) bool {
	_, err := status(ctx, server, path, firstPatience)
	return err == nil
}

// Ready asks for a path until the answer has a status of 2xx, and returns how often it has asked. It ends with ctx, and then returns 0.
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
	// Body is its beginning, at most 64 KiB of it; Bytes is the size of all of it.
	Body  string
	Bytes int64
}

// Fetch asks for a path once, for which the server has five seconds. The error is a sentence.
func Fetch(ctx context.Context, server Server, path string) (Page, error) {
	p, err := get(ctx, server, path, readyPatience)
	if err != nil {
		return Page{}, unanswered("GET "+path, WithoutURL(err), readyPatience)
	}
	return p, nil
}

// status is that of one answer.
func status(ctx context.Context, server Server, path string, patience time.Duration) (int, error) {
	p, err := get(ctx, server, path, patience)
	return p.Status, err
}

// get is one answer, over a connection of its own. That a server knows no HTTP/2 is for the check of its loads to say: it is ready all the same.
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
