package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// header is the first line of a recording.
type header struct {
	Recorded time.Time `json:"recorded"`
	Machine  string    `json:"machine"`
	Seed     uint64    `json:"seed"`
	Blocks   int       `json:"blocks"`
	// Figures are the names of those that were chosen.
	Figures []string `json:"figures"`
}

// entry is one cell of one block.
type entry struct {
	place
	Block int `json:"block"`
	// Attempt counts from 1 how often the set was measured in this block. The last one that is not disturbed counts.
	Attempt  int       `json:"attempt"`
	At       time.Time `json:"at"`
	Measured measured  `json:"measured"`
	// StrangersCPUs is how many CPUs others used during the set, on average, StealCPUs how many the hypervisor took.
	StrangersCPUs float64 `json:"strangersCPUs"`
	StealCPUs     float64 `json:"stealCPUs"`
	// Disturbed says why the set was dropped, if it was.
	Disturbed string `json:"disturbed,omitempty"`
}

// failure says why a cell is not measured any more.
type failure struct {
	place
	Why string `json:"why"`
}

// line is one of the three.
type line struct {
	Header  *header  `json:"header,omitempty"`
	Entry   *entry   `json:"cell,omitempty"`
	Failure *failure `json:"failure,omitempty"`
}

// spot is where and when a cell was measured.
type spot struct {
	place
	block int
}

// recording is what a file says.
type recording struct {
	header
	entries  map[spot]entry
	failures map[place]string
}

// read reads a recording. The last line may be cut off: whoever is interrupted leaves what there is.
func read(from io.Reader) (recording, error) {
	r := recording{entries: map[spot]entry{}, failures: map[place]string{}}
	s := bufio.NewScanner(from)
	for n := 1; s.Scan(); n++ {
		var l line
		if err := json.Unmarshal(s.Bytes(), &l); err != nil {
			if s.Scan() || n == 1 {
				return r, fmt.Errorf("reading line %d of the raw data: %w", n, err)
			}
			break
		}
		switch {
		case (l.Header != nil) != (n == 1):
			return r, fmt.Errorf("reading line %d of the raw data: the first line is the header, and only it", n)
		case l.Header != nil:
			r.header = *l.Header
		case l.Entry != nil && l.Entry.Disturbed == "":
			r.entries[spot{l.Entry.place, l.Entry.Block}] = *l.Entry
		case l.Failure != nil:
			r.failures[l.Failure.place] = l.Failure.Why
		}
	}
	if err := s.Err(); err != nil {
		return r, fmt.Errorf("reading the raw data: %w", err)
	}
	if r.Blocks < 1 {
		return r, errors.New("reading the raw data: it has no header, or one without blocks")
	}
	return r, nil
}

// chosen says whether a figure was to be measured.
func (r recording) chosen(name string) bool { return slices.Contains(r.Figures, name) }
