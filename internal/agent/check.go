package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/protocol"
)

const (
	// checkLimit is how long a server may take to answer one request of a check.
	checkLimit = 5 * time.Second
	// maxBody is read of a body; no expected body is longer.
	maxBody = 64<<10 + 1
	// maxShown is how much of a body a sentence shows, in bytes.
	maxShown = 80
)

// checkAll sends every request once, at the same time, and returns protocol.CheckedOK or the first one's sentence.
func checkAll(ctx context.Context, c protocol.Check) string {
	client := &http.Client{
		Timeout:       checkLimit,
		Transport:     &http.Transport{Proxy: nil, DisableCompression: true, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	failed := make([]error, len(c.Request))
	var group sync.WaitGroup
	for i, r := range c.Request {
		group.Go(func() { failed[i] = checkOne(ctx, client, c.Target, r) })
	}
	group.Wait()
	for _, err := range failed {
		if err != nil {
			return err.Error()
		}
	}
	return protocol.CheckedOK
}

func checkOne(ctx context.Context, client *http.Client, target string, r v1alpha1.Request) error {
	path, status := r.Path, int(r.Expect.Status)
	if path == "" {
		path = "/"
	}
	if status == 0 {
		status = http.StatusOK
	}
	what := "GET " + path
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+target+path, nil)
	if err != nil {
		return fmt.Errorf("%s cannot be sent: %w", what, withoutURL(err))
	}
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("%s was not answered: %w", what, withoutOperation(err))
	}
	defer response.Body.Close()
	if response.StatusCode != status {
		return fmt.Errorf("%s answered %d instead of %d", what, response.StatusCode, status)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBody))
	if err != nil {
		return fmt.Errorf("%s was not answered to the end: %w", what, withoutOperation(err))
	}
	if want := r.Expect.Body; want != nil && string(body) != *want {
		return fmt.Errorf("%s answered the body %s instead of %s", what, show(string(body)), show(*want))
	}
	return nil
}

// withoutOperation is the reason of a failed request; a time-out is said in words.
func withoutOperation(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok && u.Timeout() {
		return fmt.Errorf("no answer within %v", checkLimit)
	}
	return withoutURL(err)
}

// show quotes a body, the beginning of a long one.
func show(s string) string {
	if len(s) <= maxShown {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprintf("%q... (%d bytes)", s[:maxShown], len(s))
}
