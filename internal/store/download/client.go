package download

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/store/artifact"
)

const (
	fileDeadline = time.Minute
	ledDeadline  = 10 * time.Second
)

var (
	// ErrRefused: the operator refuses the download, or is unavailable.
	ErrRefused = errors.New("the operator refused the download")
	// ErrNotLed: the operator ignores runs of a namespace.
	ErrNotLed = errors.New("the operator does not lead the run")
)

// Client downloads files from a cluster's operator through the API server.
type Client struct {
	http *http.Client
	base *url.URL
	most int64
}

// NewClient makes a Client without connecting. system is the namespace of the operator.
func NewClient(config *rest.Config, system string) (*Client, error) {
	way, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("making a client of the operator: %w", err)
	}
	host, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("making a client of the operator: %w", err)
	}
	return &Client{way, host.JoinPath("api/v1/namespaces", system, "services", proxied, "proxy"), artifact.MaxObject}, nil
}

// Within returns a client that limits files to most bytes.
func (c *Client) Within(most int64) *Client { return &Client{c.http, c.base, most} }

// Led returns ErrNotLed if the operator ignores runs of a namespace. Another error means that this is unknown.
func (c *Client) Led(ctx context.Context, namespace string) error {
	ctx, cancel := context.WithTimeout(ctx, ledDeadline)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base.JoinPath(namespaces, url.PathEscape(namespace)).String(), nil)
	if err != nil {
		return fmt.Errorf("asking the operator for namespace %s: %w", namespace, err)
	}
	answer, err := c.http.Do(q)
	if err != nil {
		return fmt.Errorf("asking the operator for namespace %s: %w", namespace, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusNoContent {
		return nil
	}
	return refused(answer)
}

// Files are those of one run.
type Files struct {
	client          *Client
	namespace, name string
	prefix, key     string
}

// Of returns a run's files.
func (c *Client) Of(r *v1alpha1.BenchmarkRun) Files {
	return Files{c, r.Namespace, r.Name, PrefixOf(r), r.Status.DownloadKey}
}

// Hold reports whether a key is one of theirs.
func (f Files) Hold(key string) bool { return strings.HasPrefix(key, f.prefix+"/") }

// Get reads a file by its key and, unless sha is empty, checks its SHA-256.
func (f Files) Get(ctx context.Context, key, sha string) ([]byte, error) {
	file := strings.TrimPrefix(key, f.prefix+"/")
	if !f.Hold(key) {
		return nil, fmt.Errorf("%w: %s is no file of BenchmarkRun %s/%s", ErrRefused, key, f.namespace, f.name)
	}
	if f.key == "" {
		return nil, fmt.Errorf("%w: BenchmarkRun %s/%s has no download key yet: try again; if it stays so, the operator is older than this program or does not serve the namespace",
			ErrRefused, f.namespace, f.name)
	}
	ctx, cancel := context.WithTimeout(ctx, fileDeadline)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, address(f.client.base, f.namespace, f.name, file).String(), nil)
	if err != nil {
		return nil, fmt.Errorf("asking the operator for %s: %w", key, err)
	}
	q.Header.Set(AuthorizationHeader, authorization(f.key, f.namespace, f.name, file, time.Now()))
	answer, err := f.client.http.Do(q)
	if err != nil {
		return nil, fmt.Errorf("asking the operator for %s: %w", key, err)
	}
	defer answer.Body.Close()
	if err := refused(answer); err != nil {
		return nil, fmt.Errorf("asking the operator for %s: %w", key, err)
	}
	most := f.client.most
	tooLarge := fmt.Errorf("reading %s from the operator: %w: it is larger than the %d bytes that are read here", key, artifact.ErrMalformed, most)
	if answer.ContentLength > most {
		return nil, tooLarge
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, most+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s from the operator: %w", key, err)
	}
	if int64(len(body)) > most {
		return nil, tooLarge
	}
	return body, artifact.CheckSum(key, body, sha)
}

// Any answer of the API server itself is a refusal: the user lacks permission, or the operator is too old or unavailable.
func refused(answer *http.Response) error {
	if answer.StatusCode == http.StatusOK {
		return nil
	}
	said, err := io.ReadAll(io.LimitReader(answer.Body, 1<<10))
	if err != nil {
		return fmt.Errorf("reading why: %w", err)
	}
	text := strings.TrimSpace(string(said))
	if answer.Header.Get("Server") != answers {
		return fmt.Errorf("%w: the API server answers %s", ErrRefused, answer.Status)
	}
	switch answer.StatusCode {
	case http.StatusNotFound:
		return fmt.Errorf("%w: %s", artifact.ErrNotFound, text)
	case http.StatusMisdirectedRequest:
		return fmt.Errorf("%w: %s", ErrNotLed, text)
	case http.StatusServiceUnavailable:
		return fmt.Errorf("%s (%s)", text, answer.Status)
	case http.StatusBadGateway:
		return fmt.Errorf("%w: %s", artifact.ErrMalformed, text)
	}
	return fmt.Errorf("%w: %s", ErrRefused, text)
}
