package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/agent/observe"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

func watching(t *testing.T) *Agent {
	t.Helper()
	config := Config{Trial: testTrial, Attempt: testAttempt, Member: "server-0", Dir: t.TempDir()}
	own, err := config.Observer(1)
	if err != nil {
		t.Fatal(err)
	}
	return New(t.Context(), config, observe.New(own))
}

var errBroken = errors.New("the pipe is broken")

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errBroken }

func TestAPipeEndsAsItsCommandsDo(t *testing.T) {
	for name, tc := range map[string]struct {
		commands string
		answers  int
		want     string
	}{
		"no command":                       {"", 0, ""},
		"one command":                      {"{}\n", 1, ""},
		"commands that come at once":       {"{}{}\n\n{} ", 3, ""},
		"a command that nobody has ended":  {`{}` + "\n" + `{"start": {`, 1, "reading a command: unexpected EOF"},
		"what is no command":               {`{}` + "\n" + `start at once`, 1, "reading a command: invalid character"},
		"a command with a field that errs": {`{"attempt": "first"}`, 0, "reading a command: json: cannot unmarshal"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			err := watching(t).ServePipe(strings.NewReader(tc.commands), &out)
			if (err == nil) != (tc.want == "") || err != nil && !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("it ends with %v, want %q", err, tc.want)
			}
			answers := 0
			for read := json.NewDecoder(&out); ; answers++ {
				var a Answer
				if err := read.Decode(&a); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatal(err)
				}
				if a.State.Member != "server-0" || a.State.Phase != protocol.Idle || a.Refused != "" {
					t.Errorf("it answers %+v", a)
				}
			}
			if answers != tc.answers {
				t.Errorf("it answers %d times, want %d", answers, tc.answers)
			}
		})
	}
}

func TestAnAgentThatCannotAnswerEnds(t *testing.T) {
	err := watching(t).ServePipe(strings.NewReader("{}{}"), brokenPipe{})
	if !errors.Is(err, errBroken) || !strings.HasPrefix(err.Error(), "answering a command: ") {
		t.Errorf("it ends with %v", err)
	}
}
