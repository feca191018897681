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
	// patience is how long a sink may take to answer, from the first look for its host on.
	patience = 10 * time.Second
	// maxAnswer bounds what is read of an answer, which says nothing that anybody is shown.
	maxAnswer = 4 << 10
	// maxHeader bounds its header, without which its status is not known: those who stand before a sink may add much.
	maxHeader = 64 << 10
)

// errOwn is a sink at an address to which nothing is sent.
var errOwn = errors.New("its host resolves to a loopback, link-local or cloud metadata address, which is not allowed")

// Way is how sinks are reached: by no proxy, and at no address that only the operator's own pod and node are at, whatever name they have.
func Way() *http.Transport {
	dialer := &net.Dialer{Timeout: patience, Control: func(_, address string, _ syscall.RawConn) error { return reachable(address) }}
	return &http.Transport{DialContext: dialer.DialContext, TLSHandshakeTimeout: patience, MaxResponseHeaderBytes: maxHeader, DisableKeepAlives: true}
}

// reachable refuses the addresses at which no sink may be.
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

// Poster posts events. What a sink answers is not shown, but for its status: the operator reaches what others do not. No redirect is followed,
// since it would lead the operator elsewhere than the suite says. An error is lease.ErrLost, which says nothing of the sink.
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

// refusal is what a sink says that has not taken an event.
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

// cause is why a sink does not answer, in sentences of its own: without addresses, some of which hold a token and others are another one at each
// try, and without a word of what the sink has sent, of which the errors of Go's client hold parts.
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

// longestRest bounds for how long all sinks of a token leave a forge alone that one of them was asked to: it lets in within an hour.
const longestRest = time.Hour

// allowance is what a forge counts as one: a token at an API, whatever is told with it. It shows no token.
type allowance [sha256.Size]byte

func allowanceOf(at notify.Place, token string) allowance {
	return sha256.Sum256([]byte(at.API + "\n" + token))
}

// rests are until when forges are left alone by all who have an allowance, since one of them was asked to wait. They are lost with the operator, which then
// asks once more.
type rests struct {
	mu    sync.Mutex
	until map[allowance]time.Time
}

// refuses is the answer to who asks before a forge may be asked again; nil if it may.
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

// note takes down how long a forge asks to be left alone, if that is why it was not told.
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
