package profiler

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/profiler/lines"
)

// Messages are valgrind's messages.
type Messages struct {
	// Tool is what ran, such as "Memcheck"; empty if it did not start.
	Tool string `json:"tool,omitempty"`
	// UnknownInstruction is the address of an instruction unknown to valgrind, UnknownBytes its first bytes; or empty.
	UnknownInstruction string `json:"unknownInstruction,omitempty"`
	UnknownBytes       string `json:"unknownBytes,omitempty"`
	// StackSwitches counts warnings of a changed stack pointer; valgrind prints three at most. MaxStackFrame is the limit that would avoid them.
	StackSwitches int   `json:"stackSwitches,omitempty"`
	MaxStackFrame int64 `json:"maxStackFrame,omitempty"`
	// MissingSymbols is the object whose missing symbols prevent a start, such as "ld-linux-x86-64.so.2".
	MissingSymbols string `json:"missingSymbols,omitempty"`
	// Crash is valgrind's own failure, such as an assertion, or empty.
	Crash string `json:"crash,omitempty"`
	// TooManyErrors: memcheck stopped distinguishing errors.
	TooManyErrors bool `json:"tooManyErrors,omitempty"`
	// Signal ended the program, such as "SIGILL", or empty.
	Signal string `json:"signal,omitempty"`
}

// Graver merges two processes' messages. Counts are added; of texts the first's have priority.
func (m Messages) Graver(o Messages) Messages {
	return Messages{
		Tool: cmp.Or(m.Tool, o.Tool), UnknownInstruction: cmp.Or(m.UnknownInstruction, o.UnknownInstruction), UnknownBytes: cmp.Or(m.UnknownBytes, o.UnknownBytes),
		StackSwitches: m.StackSwitches + o.StackSwitches, MaxStackFrame: max(m.MaxStackFrame, o.MaxStackFrame),
		MissingSymbols: cmp.Or(m.MissingSymbols, o.MissingSymbols), Crash: cmp.Or(m.Crash, o.Crash), TooManyErrors: m.TooManyErrors || o.TooManyErrors,
		Signal: cmp.Or(m.Signal, o.Signal),
	}
}

const (
	maxText   = 400
	prefixEnd = "== "
)

// ParseMessages parses valgrind's messages. An empty file is valid: a process killed at once prints nothing.
func ParseMessages(r io.Reader) (Messages, error) {
	var m Messages
	reader := lines.NewReader(r)
	for reader.Next() {
		m.read(strings.TrimSpace(words(reader.Line())))
	}
	if err := reader.Err(); err != nil {
		return m, fmt.Errorf("reading valgrind's messages: %w", err)
	}
	return m, nil
}

func words(line string) string {
	if rest, found := strings.CutPrefix(line, "=="); found {
		if _, after, found := strings.Cut(rest, prefixEnd); found {
			return after
		}
		return ""
	}
	return line
}

func (m *Messages) read(line string) {
	take := func(into *string, before, after string) {
		if _, rest, found := strings.Cut(line, before); found && *into == "" {
			value, _, _ := strings.Cut(rest, after)
			*into = printed.Clip(strings.TrimSpace(value), maxText)
		}
	}
	switch {
	case m.Tool == "" && strings.Contains(line, ", a "):
		m.Tool = printed.Clip(line[:strings.Index(line, ", a ")], maxText)
	case strings.Contains(line, "unhandled instruction bytes"):
		take(&m.UnknownBytes, "unhandled instruction bytes: ", "\n")
	case strings.Contains(line, "Unrecognised instruction at address"):
		take(&m.UnknownInstruction, "at address ", ".")
	case strings.HasPrefix(line, "Warning: client switching stacks?"):
		m.StackSwitches++
	case strings.HasPrefix(line, "to suppress, use: --max-stackframe="):
		m.frame(line)
	case strings.Contains(line, "symbols from the object with soname:"):
		take(&m.MissingSymbols, "soname:", "\n")
	case strings.Contains(line, "Assertion '") && strings.Contains(line, "failed"), strings.Contains(line, "the 'impossible' happened"):
		if m.Crash == "" {
			m.Crash = printed.Clip(line, maxText)
		}
	case strings.HasPrefix(line, "More than ") && strings.Contains(line, "errors detected"):
		m.TooManyErrors = true
	case strings.HasPrefix(line, "Process terminating with default action of signal"):
		take(&m.Signal, "(", ")")
	}
}

func (m *Messages) frame(line string) {
	_, rest, _ := strings.Cut(line, "--max-stackframe=")
	digits, _, _ := strings.Cut(rest, " ")
	if n, err := lines.Count(digits); err == nil {
		m.MaxStackFrame = max(m.MaxStackFrame, n)
	}
}
