package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"loadstone.dev/loadstone/internal/trial/protocol"
)

const (
	// maxCommand bounds a command: a trial's plan (up to 1.5 MiB in the cluster's store) in base64.
	maxCommand = 4 << 20
	maxHeader  = 16 << 10
)

// NewServer serves an agent at its sandbox's address, with limits on each request's time and size.
func NewServer(a *Agent) *http.Server {
	return &http.Server{
		Addr:              a.config.Sandbox.Address,
		Handler:           a.Handler(),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    maxHeader,
	}
}

// Handler serves the protocol's two requests.
func (a *Agent) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/state", func(w http.ResponseWriter, _ *http.Request) { a.answer(w) })
	mux.HandleFunc("POST /v1/command", a.receive)
	return mux
}

func (a *Agent) receive(w http.ResponseWriter, r *http.Request) {
	var e protocol.Envelope
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxCommand)).Decode(&e); err != nil {
		http.Error(w, "decoding the command: "+err.Error(), http.StatusBadRequest)
		return
	}
	o, err := protocol.Open(a.config.Key, e, a.config.Trial, a.config.Attempt, a.work.Member())
	if err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	if err := a.obey(o); err != nil {
		status := http.StatusInternalServerError
		if r, ok := errors.AsType[*refusal](err); ok {
			status = r.status
		}
		http.Error(w, err.Error(), status)
		return
	}
	a.answer(w)
}

func (a *Agent) answer(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	// An error means that the operator is gone; it will ask again.
	_ = json.NewEncoder(w).Encode(a.State())
}

// Answer is the reply of an agent behind a pipe to a command.
type Answer struct {
	State protocol.State `json:"state"`
	// Refused says why the command was refused; empty if it was not.
	Refused string `json:"refused,omitempty"`
}

// ServePipe executes JSON commands from in, one by one, and answers each until in ends. A command without content is answered with the agent's
// state. Commands are unsigned: the process at the other end started the agent.
func (a *Agent) ServePipe(in io.Reader, out io.Writer) error {
	commands, answers := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var c protocol.Command
		if err := commands.Decode(&c); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading a command: %w", err)
		}
		var answer Answer
		if c.Check != nil || c.Start != nil || c.Store != nil {
			if err := a.obey(c); err != nil {
				answer.Refused = err.Error()
			}
		}
		answer.State = a.State()
		if err := answers.Encode(answer); err != nil {
			return fmt.Errorf("answering a command: %w", err)
		}
	}
}
