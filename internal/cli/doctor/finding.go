package doctor

import (
	"fmt"
	"strings"
)

// Level is how much a finding weighs.
type Level string

const (
	// Good means that nothing is lacking.
	Good Level = "good"
	// Note means that a run is truthful, with a limit that its report states.
	Note Level = "note"
	// Warning means that cells are likely to be marked, void or noisier than they need be.
	Warning Level = "warning"
	// Fault means that a run with the defaults is refused, or cannot be truthful.
	Fault Level = "fault"
)

// Finding is what one check has found.
type Finding struct {
	Check   string `json:"check"`
	Level   Level  `json:"level"`
	Message string `json:"message"`
	// Fix is the way out; empty where nothing is lacking.
	Fix string `json:"fix,omitempty"`
}

// Faults counts the findings that keep a run from being truthful.
func Faults(all []Finding) int {
	n := 0
	for _, f := range all {
		if f.Level == Fault {
			n++
		}
	}
	return n
}

// Text prints findings for people, a line each, and below it the way out.
func Text(all []Finding) string {
	var b strings.Builder
	for _, f := range all {
		fmt.Fprintf(&b, "%-8s %-14s %s\n", f.Level, f.Check, f.Message)
		if f.Fix != "" {
			fmt.Fprintf(&b, "%23s Fix: %s\n", "", f.Fix)
		}
	}
	return b.String()
}

// say makes a finding.
func say(check string, level Level, fix, format string, args ...any) Finding {
	return Finding{Check: check, Level: level, Message: fmt.Sprintf(format, args...), Fix: fix}
}
