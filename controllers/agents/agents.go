package agents

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

// Client sends requests to the agents of a trial.
type Client interface {
	State(ctx context.Context, ip string) (protocol.State, error)
	Command(ctx context.Context, ip string, o protocol.Command) (protocol.State, error)
	Clock(ctx context.Context, ip string) (Clock, error)
}

// Clock is an agent's clock compared with ours: Offset = theirs - ours, accurate to half of RoundTrip.
type Clock struct{ Offset, RoundTrip time.Duration }

const (
	stateTimeout = 2 * time.Second
	// commandTimeout covers a Check, which sends real requests with a separate timeout.
	commandTimeout = 30 * time.Second
	clockRounds    = 5
	maxState       = 4 << 20
)

// maxQuoted bounds quotes of an answer.
const maxQuoted = 200

// Refusal is an agent's error answer.
type Refusal struct {
	// Status is such as "422 Unprocessable Entity", Code its number.
	Status  string
	Code    int
	Message string
}

// Error implements error.
func (r *Refusal) Error() string { return fmt.Sprintf("answered %s: %s", r.Status, r.Message) }

// Final reports whether the agent would refuse a retry, too: not if only its state or a timeout prevented the request.
func (r *Refusal) Final() bool {
	switch r.Code {
	case http.StatusConflict, http.StatusRequestTimeout, http.StatusTooManyRequests:
		return false
	}
	return r.Code >= http.StatusBadRequest && r.Code < http.StatusInternalServerError
}

// HTTP is the Client for agents in pods.
type HTTP struct {
	key    ed25519.PrivateKey
	client *http.Client
}

var _ Client = HTTP{}

// New returns a client that signs commands with a key. It does not follow redirects: another process in the pod could take the agent's port
// and redirect the operator into its network.
func New(key ed25519.PrivateKey, by http.RoundTripper) HTTP {
	return HTTP{key: key, client: &http.Client{
		Transport:     by,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// State implements Client.
func (a HTTP) State(ctx context.Context, ip string) (protocol.State, error) {
	return a.do(ctx, stateTimeout, http.MethodGet, ip, "/v1/state", nil)
}

// Command implements Client.
func (a HTTP) Command(ctx context.Context, ip string, o protocol.Command) (protocol.State, error) {
	env, err := protocol.Seal(a.key, o)
	if err != nil {
		return protocol.State{}, err
	}
	body, err := json.Marshal(env)
	if err != nil {
		return protocol.State{}, fmt.Errorf("encoding envelope: %w", err)
	}
	return a.do(ctx, commandTimeout, http.MethodPost, ip, "/v1/command", body)
}

// Clock implements Client: the fastest of several round trips tells the offset best.
func (a HTTP) Clock(ctx context.Context, ip string) (Clock, error) {
	var best Clock
	for i := range clockRounds {
		sent := time.Now()
		s, err := a.State(ctx, ip)
		if err != nil {
			return Clock{}, err
		}
		rt := time.Since(sent)
		if i == 0 || rt < best.RoundTrip {
			best = Clock{Offset: s.Now.Sub(sent.Add(rt / 2).Round(0)), RoundTrip: rt}
		}
	}
	return best, nil
}

func (a HTTP) do(ctx context.Context, timeout time.Duration, method, ip, path string, body []byte) (protocol.State, error) {
	var s protocol.State
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	url := "http://" + net.JoinHostPort(ip, strconv.Itoa(protocol.Port)) + path
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return s, fmt.Errorf("asking agent at %s: %w", ip, err)
	}
	resp, err := a.client.Do(req)
	if err != nil {
		return s, fmt.Errorf("asking agent: %w", err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxState))
	if err != nil {
		return s, fmt.Errorf("reading answer of agent at %s: %w", ip, err)
	}
	if resp.StatusCode != http.StatusOK {
		return s, fmt.Errorf("the agent at %s %w", ip, &Refusal{
			Status: util.Clip(resp.Status, maxQuoted), Code: resp.StatusCode, Message: util.Clip(strings.TrimSpace(string(data)), maxQuoted),
		})
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("decoding answer of agent at %s: %w", ip, err)
	}
	if err := s.Check(); err != nil {
		return protocol.State{}, fmt.Errorf("%s does not answer like an agent: %w", ip, err)
	}
	return s, nil
}
