// Package progress tells people what a program that measures is doing, and about how long it will still take. Nothing depends on what it prints.
package progress

import (
	"fmt"
	"io"
	"time"
)

// Log is where it is told.
type Log struct {
	w io.Writer
	// left is what is reckoned to be left, from since on.
	left  time.Duration
	since time.Time
}

// New is a log of which nothing is expected yet.
func New(w io.Writer) *Log { return &Log{w: w} }

// Expect notes that all that is left is reckoned to take so long from now on.
func (l *Log) Expect(left time.Duration) { l.left, l.since = left, time.Now() }

// Say prints a line.
func (l *Log) Say(format string, args ...any) {
	_, _ = fmt.Fprintf(l.w, format+"\n", args...) // For people only.
}

// Step prints a line that tells what goes on, and about how long everything will still take.
func (l *Log) Step(format string, args ...any) {
	left := max(l.left-time.Since(l.since), 0).Round(time.Second)
	l.Say("%s (about %s left in all)", fmt.Sprintf(format, args...), left)
}
