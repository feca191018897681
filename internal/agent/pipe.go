package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"loadstone.dev/loadstone/internal/trial/protocol"
)

// Answer is what an agent behind a pipe answers to a command.
type Answer struct {
	State protocol.State `json:"state"`
	// Refused says why the command was not done; empty if it was.
	Refused string `json:"refused,omitempty"`
}

// ServePipe does commands that come as JSON one after the other, and answers each, until in ends. A command that asks for nothing is
// answered with the agent's state. Nothing is signed: whoever holds the other ends of the pipes has started the agent.
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
