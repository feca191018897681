package local

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// Core is what one CPU has done up to an instant. Other than Usage it can be asked while processes live, and it is exact to a tick only.
type Core struct {
	at          time.Time
	name        string
	busy, steal time.Duration
}

// NewCore looks at a CPU.
func NewCore(cpu string) (Core, error) {
	c := Core{at: time.Now(), name: "cpu" + cpu}
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return c, fmt.Errorf("looking at CPU %s: %w", cpu, err)
	}
	line, err := lineOf(string(text), c.name)
	c.busy, c.steal = parseStat(line)
	return c, err
}

// lineOf is the line of /proc/stat that begins with a name.
func lineOf(text, name string) (string, error) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, name+" ") {
			return line, nil
		}
	}
	return "", fmt.Errorf("reading /proc/stat: it has no %s", name)
}

// Since tells which share of the CPU others used than who used a time of it, and which share was stolen.
func (c Core) Since(ours time.Duration) (strangers, steal float64, err error) {
	now, err := NewCore(strings.TrimPrefix(c.name, "cpu"))
	seconds := now.at.Sub(c.at).Seconds()
	return max(0, (now.busy-c.busy-ours).Seconds()/seconds), (now.steal - c.steal).Seconds() / seconds, err
}
