package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"loadstone.dev/loadstone/internal/agent/httpcheck"
	"loadstone.dev/loadstone/internal/base/timing"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/store/certs"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

const (
	storeLimit = 2 * time.Minute
	putLimit   = 60 * time.Second
	// firstPause follows the first failure; each further pause doubles, up to maxPause.
	firstPause = 200 * time.Millisecond
	maxPause   = 5 * time.Second
)

// uploader puts files to signed URLs. A signed URL is a secret: errors never contain one.
type uploader struct {
	dir    string
	client *http.Client
	pause  func(ctx context.Context, d time.Duration) error
}

func newUploader(dir string) uploader {
	return uploader{
		dir: dir,
		client: &http.Client{
			Timeout: putLimit,
			// The object store is internal, so environment proxies do not apply.
			Transport:     &http.Transport{Proxy: nil, MaxIdleConnsPerHost: 1, IdleConnTimeout: 30 * time.Second},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		pause: func(ctx context.Context, d time.Duration) error { return timing.SleepUntil(ctx, time.Now().Add(d)) },
	}
}

func (u uploader) trusting(bundle string) (uploader, error) {
	trusted, err := certs.TLS(bundle)
	if trusted == nil || err != nil {
		return u, err
	}
	client := *u.client
	client.Transport = &http.Transport{Proxy: nil, MaxIdleConnsPerHost: 1, IdleConnTimeout: 30 * time.Second, TLSClientConfig: trusted}
	u.client = &client
	return u, nil
}

// put uploads one file and retries until ctx ends, unless a retry is useless.
func (u uploader) put(ctx context.Context, d protocol.Destination) error {
	pause := firstPause
	for {
		final, err := u.putOnce(ctx, d)
		if err == nil {
			return nil
		}
		err = fmt.Errorf("storing %s: %w", d.Name, err)
		if final || u.pause(ctx, pause) != nil {
			return err
		}
		pause = min(2*pause, maxPause)
	}
}

// putOnce uploads a file. A final error would recur on retry.
func (u uploader) putOnce(ctx context.Context, d protocol.Destination) (final bool, err error) {
	f, err := os.Open(filepath.Join(u.dir, d.Name))
	if err != nil {
		return true, err
	}
	defer f.Close() //nolint:errcheck // The file is only read; the client may have closed it already.
	request, err := newPut(ctx, f, d)
	if err != nil {
		return true, err
	}
	response, err := u.client.Do(request)
	if reason := certs.Explain(err); reason != nil {
		return true, reason
	}
	if err != nil {
		return false, httpcheck.WithoutURL(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 64<<10))
	if err != nil {
		return false, fmt.Errorf("reading the answer: %w", httpcheck.WithoutURL(err))
	}
	switch code := response.StatusCode; code {
	case http.StatusOK, http.StatusPreconditionFailed:
		return false, nil
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return false, refused(code, body)
	default:
		return code < http.StatusInternalServerError, refused(code, body)
	}
}

func newPut(ctx context.Context, f *os.File, d protocol.Destination) (*http.Request, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPut, d.URL, f)
	if err != nil {
		return nil, errors.New("the URL is not valid")
	}
	request.ContentLength = info.Size()
	if info.Size() == 0 {
		// A body of unknown length would be sent in chunks, which S3 rejects.
		request.Body = http.NoBody
	}
	for name, value := range d.Headers {
		if strings.EqualFold(name, "Host") {
			request.Host = value
			continue
		}
		request.Header.Set(name, value)
	}
	return request, nil
}

var plainCode = regexp.MustCompile(`^[A-Za-z0-9]{1,64}$`)

// refused returns S3's status and its code, if any.
func refused(status int, body []byte) error {
	var answer struct {
		Code string `xml:"Code"`
	}
	if err := xml.Unmarshal(body, &answer); err != nil || !plainCode.MatchString(answer.Code) {
		return fmt.Errorf("the object store answered %d", status)
	}
	return fmt.Errorf("the object store answered %d %s", status, answer.Code)
}

// keep writes a worker's record next to its other files and describes them all.
func keep(dir string, result any, names []string) ([]protocol.File, error) {
	if err := writeJSON(filepath.Join(dir, record.ResultFile), result); err != nil {
		return nil, err
	}
	return describe(dir, append(names, record.ResultFile))
}

func writeJSON(path string, v any) error {
	body, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding %s: %w", filepath.Base(path), err)
	}
	if err := os.WriteFile(path, append(body, '\n'), 0o600); err != nil {
		return fmt.Errorf("writing %s: %w", filepath.Base(path), err)
	}
	return nil
}

// describe syncs files to disk and returns their sizes and digests.
func describe(dir string, names []string) ([]protocol.File, error) {
	files := make([]protocol.File, 0, len(names))
	for _, name := range names {
		f, err := describeOne(dir, name)
		if err != nil {
			return nil, fmt.Errorf("describing %s: %w", name, err)
		}
		files = append(files, f)
	}
	return files, nil
}

func describeOne(dir, name string) (file protocol.File, err error) {
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return file, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := f.Sync(); err != nil {
		return file, err
	}
	digest := sha256.New()
	size, err := io.Copy(digest, f)
	if err != nil {
		return file, err
	}
	return protocol.File{Name: name, Bytes: size, SHA256: hex.EncodeToString(digest.Sum(nil))}, nil
}
