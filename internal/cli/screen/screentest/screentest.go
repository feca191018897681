// Package screentest is a kernel terminal for tests that draws what people would see.
package screentest

import (
	"strconv"
	"strings"
	"sync"
)

// Page is a terminal's content. It supports lines, carriage returns, cursor up, and clearing below the cursor.
type Page struct {
	mu      sync.Mutex
	lines   [][]rune
	row     int
	column  int
	pending string
	// seen are all lines shown so far.
	seen []string
}

// Write draws text. A partial sequence waits for the next text.
func (p *Page) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	rest := p.pending + string(text)
	p.pending = ""
	for rest != "" {
		if rest[0] != '\x1b' {
			runes := []rune(rest)
			p.draw(runes[0])
			rest = string(runes[1:])
			continue
		}
		end := strings.IndexAny(rest, "AJ")
		if end < 0 {
			p.pending = rest
			break
		}
		p.obey(rest[len("\x1b["):end], rest[end])
		rest = rest[end+1:]
	}
	p.seen = append(p.seen, p.text()...)
	return len(text), nil
}

func (p *Page) draw(r rune) {
	for len(p.lines) <= p.row {
		p.lines = append(p.lines, nil)
	}
	switch r {
	case '\n':
		p.row, p.column = p.row+1, 0
	case '\r':
		p.column = 0
	default:
		line := p.lines[p.row]
		for len(line) <= p.column {
			line = append(line, ' ')
		}
		line[p.column] = r
		p.lines[p.row] = line
		p.column++
	}
}

// obey executes a sequence: A moves the cursor up, J clears below and right of it.
func (p *Page) obey(argument string, command byte) {
	switch {
	case command == 'A':
		n, err := strconv.Atoi(argument)
		if err != nil {
			n = 1
		}
		p.row = max(p.row-n, 0)
	case p.row < len(p.lines):
		p.lines = p.lines[:p.row+1]
		p.lines[p.row] = p.lines[p.row][:min(p.column, len(p.lines[p.row]))]
	}
}

func (p *Page) text() []string {
	var out []string
	for _, line := range p.lines {
		out = append(out, strings.TrimRight(string(line), " "))
	}
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

// Lines are what the terminal shows now.
func (p *Page) Lines() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text()
}

// Seen reports whether a line with all these texts was shown.
func (p *Page) Seen(texts ...string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, line := range p.seen {
		found := 0
		for _, text := range texts {
			if strings.Contains(line, text) {
				found++
			}
		}
		if found == len(texts) {
			return true
		}
	}
	return false
}
