package notifications

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/leader"
	"loadstone.dev/loadstone/internal/suite/notify"
)

const (
	// patience is the time limit of a sink's answer, including DNS lookup.
	patience = 10 * time.Second
	// maxAnswer limits the read part of an answer, which is never shown.
	maxAnswer = 4 << 10
	// maxHeader limits the answer's header. Proxies in front of a sink may add much.
	maxHeader = 64 << 10
)

// errOwn is a sink at a refused address.
var errOwn = errors.New("its host resolves to a loopback, link-local or cloud metadata address, which is not allowed")

// Way is the transport to sinks: no proxy, and no loopback, link-local or metadata addresses, whatever the host name.
func Way() *http.Transport {
	dialer := &net.Dialer{Timeout: patience, Control: func(_, address string, _ syscall.RawConn) error { return reachable(address) }}
	return &http.Transport{DialContext: dialer.DialContext, TLSHandshakeTimeout: patience, MaxResponseHeaderBytes: maxHeader, DisableKeepAlives: true}
}

// reachable refuses addresses where no sink may be.
func reachable(address string) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("reading an address: %w", err)
	}
	if !notify.Reachable(to.Addr()) {
		return errOwn
	}
	return nil
}

// Poster posts events. Only the status of an answer is shown, because the operator can reach hosts that users cannot. Redirects are not
// followed, for the same reason. The only error is leader.ErrLost.
func Poster(way http.RoundTripper) func(ctx context.Context, address string, event []byte) (notify.Answer, error) {
	c := &http.Client{Transport: way, Timeout: patience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return func(ctx context.Context, address string, event []byte) (notify.Answer, error) {
		q, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(event))
		if err != nil {
			//nolint:nilerr // The error quotes the address, which may hold a token.
			return notify.Answer{Reason: v1alpha1.ReasonSinkUnavailable, Message: "was not notified: its url is not valid"}, nil
		}
		q.Header.Set("Content-Type", notify.ContentType)
		q.Header.Set("User-Agent", "loadstone")
		answer, err := c.Do(q)
		if errors.Is(err, leader.ErrLost) {
			return notify.Answer{}, leader.ErrLost
		}
		if err != nil {
			return notify.Answer{Reason: v1alpha1.ReasonSinkUnavailable, Message: "does not answer: " + cause(err)}, nil
		}
		_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, maxAnswer)) // Its status has said it all.
		_ = answer.Body.Close()
		if answer.StatusCode/100 == 2 {
			return notify.Answer{}, nil
		}
		return refusal(answer), nil
	}
}

// refusal is the answer of a sink that did not accept an event.
func refusal(answer *http.Response) notify.Answer {
	says := strings.TrimSpace(fmt.Sprintf("answers %d %s", answer.StatusCode, http.StatusText(answer.StatusCode)))
	a := notify.Answer{Reason: v1alpha1.ReasonSinkRefused, Message: says}
	if answer.StatusCode/100 == 3 {
		a.Message += "; redirects are not followed: set url to the new address"
	}
	if seconds, err := strconv.ParseUint(answer.Header.Get("Retry-After"), 10, 16); err == nil {
		a.After = time.Duration(seconds) * time.Second
	}
	return a
}

// cause is why a sink did not answer, in our own words. Go's errors contain addresses, which may hold tokens or change at each try, and parts
// of what the sink sent.
func cause(err error) string {
	var timeout net.Error
	var lookup *net.DNSError
	var untrusted *tls.CertificateVerificationError
	var noTLS tls.RecordHeaderError
	var system *os.SyscallError
	var network *net.OpError
	switch {
	case errors.Is(err, errOwn):
		return errOwn.Error()
	case errors.As(err, &lookup) && lookup.IsNotFound:
		return "its host name does not exist"
	case errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Sprintf("no answer within %.0f s", patience.Seconds())
	case lookup != nil:
		return "DNS lookup of its host failed"
	case errors.As(err, &untrusted):
		return "its certificate is not trusted, or is for another host"
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &noTLS):
		return "its url starts with https://, but it does not support TLS"
	case errors.As(err, &network) && errors.As(network.Err, &system):
		return fmt.Sprintf("%s: %v", network.Op, system)
	case network != nil:
		return "the connection failed"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection was closed before an answer"
	}
	return "it did not send a valid HTTP answer"
}

// longestRest limits how long all sinks with one token are paused after a rate limit.
const longestRest = time.Hour

// allowance identifies a rate limit: a token at an API. It does not contain the token.
type allowance [sha256.Size]byte

func allowanceOf(at notify.Place, token string) allowance {
	return sha256.Sum256([]byte(at.API + "\n" + token))
}

// rests are the pauses by allowance, after rate limits. They are lost at a restart.
type rests struct {
	mu    sync.Mutex
	until map[allowance]time.Time
}

// refuses returns the failure while an allowance is paused; nil otherwise.
func (r *rests) refuses(a allowance, to notify.Forge, now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	left := r.until[a].Sub(now)
	if left <= 0 {
		return nil
	}
	return failure{notify.Answer{
		Reason: v1alpha1.ReasonSinkRefused, After: left + time.Second, // The suite's status knows no parts of a second.
		Message: "is paused: its rate limit is exceeded by another notification with the token of " + to.Kind + ".secretRef",
	}}
}

// note records the pause after a rate limit.
func (r *rests) note(a allowance, told error, now time.Time) {
	var f failure
	if !errors.As(told, &f) || f.After <= 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.until, func(_ allowance, until time.Time) bool { return !until.After(now) })
	if r.until == nil {
		r.until = map[allowance]time.Time{}
	}
	r.until[a] = now.Add(min(f.After, longestRest)).Truncate(time.Second) // As the suite's status has it: the sink that was asked is let through.
}
