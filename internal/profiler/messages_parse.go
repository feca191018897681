package profiler

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/profiler/lines"
)

// Messages are what valgrind said.
type Messages struct {
	// Tool is what ran, such as "Memcheck"; empty if it did not start.
	Tool string `json:"tool,omitempty"`
	// UnknownInstruction is the address of an instruction that valgrind does not know, and UnknownBytes are its first bytes; empty if there is none.
	UnknownInstruction string `json:"unknownInstruction,omitempty"`
	UnknownBytes       string `json:"unknownBytes,omitempty"`
	// StackSwitches are the warnings that the stack pointer leapt; valgrind prints three at most. MaxStackFrame is what it would have taken for none.
	StackSwitches int   `json:"stackSwitches,omitempty"`
	MaxStackFrame int64 `json:"maxStackFrame,omitempty"`
	// MissingSymbols is the object without whose symbols valgrind does not start the program, such as "ld-linux-x86-64.so.2".
	MissingSymbols string `json:"missingSymbols,omitempty"`
	// Crash is what valgrind itself failed at, such as an assertion; empty if it did not.
	Crash string `json:"crash,omitempty"`
	// TooManyErrors reports whether memcheck stopped to tell errors apart.
	TooManyErrors bool `json:"tooManyErrors,omitempty"`
	// Signal is what ended the program, such as "SIGILL"; empty if none did.
	Signal string `json:"signal,omitempty"`
}

// Graver is what was said of two processes: of each thing, what the first says if it says anything.
func (m Messages) Graver(o Messages) Messages {
	return Messages{
		Tool: cmp.Or(m.Tool, o.Tool), UnknownInstruction: cmp.Or(m.UnknownInstruction, o.UnknownInstruction), UnknownBytes: cmp.Or(m.UnknownBytes, o.UnknownBytes),
		StackSwitches: m.StackSwitches + o.StackSwitches, MaxStackFrame: max(m.MaxStackFrame, o.MaxStackFrame),
		MissingSymbols: cmp.Or(m.MissingSymbols, o.MissingSymbols), Crash: cmp.Or(m.Crash, o.Crash), TooManyErrors: m.TooManyErrors || o.TooManyErrors,
		Signal: cmp.Or(m.Signal, o.Signal),
	}
}

const (
	// maxText bounds what is kept of a line, in bytes.
	maxText = 400
	// prefixEnd ends what valgrind writes before each line: "==PID== " or "--PID-- ".
	prefixEnd = "== "
)

// Parse reads valgrind's messages. An empty file is no error: a process that is killed at once says nothing.
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

// words is a line without valgrind's prefix.
func words(line string) string {
	if rest, found := strings.CutPrefix(line, "=="); found {
		if _, after, found := strings.Cut(rest, prefixEnd); found {
			return after
		}
		return ""
	}
	return line
}

// read notes what one line says.
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

// frame keeps the largest leap of the stack pointer.
func (m *Messages) frame(line string) {
	_, rest, _ := strings.Cut(line, "--max-stackframe=")
	digits, _, _ := strings.Cut(rest, " ")
	if n, err := lines.Count(digits); err == nil {
		m.MaxStackFrame = max(m.MaxStackFrame, n)
	}
}
