package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// printCells runs cells one after the other and prints their results. NAME=CASE renames a case, so that two programs can be compared.
func printCells(ctx context.Context, out io.Writer, program string, cases []string) error {
	for _, c := range cases {
		name, own, renamed := strings.Cut(c, "=")
		if !renamed {
			own = name
		}
		command := exec.CommandContext(ctx, program, "cell", own, "--seconds", "1")
		command.Stderr = os.Stderr // Its error messages say what to do.
		text, err := command.Output()
		if err != nil {
			return fmt.Errorf("running the cell %s of %s: %w", own, program, err)
		}
		said, err := parseCell(text, own)
		if err != nil {
			return fmt.Errorf("running the cell %s of %s: %w", own, program, err)
		}
		if err := said.print(out, name); err != nil {
			return err
		}
	}
	return nil
}

type cell struct {
	Case        string  `json:"case"`
	Operations  int64   `json:"operations"`
	WallSeconds float64 `json:"wallSeconds"`
	CPUSeconds  float64 `json:"cpuSeconds"`
	// P99WaitSeconds is 0 in cases without waiting.
	P99WaitSeconds float64 `json:"p99WaitSeconds"`
	// WritersCPUSeconds is the CPU time of the threads that do the operations, if there are other threads; else 0.
	WritersCPUSeconds float64 `json:"writersCPUSeconds"`
}

func parseCell(text []byte, name string) (c cell, err error) {
	text = bytes.TrimSpace(text)
	if bytes.Count(text, []byte("\n")) > 0 {
		return c, errors.New("it printed more than one line")
	}
	if err := json.Unmarshal(text, &c); err != nil {
		return c, fmt.Errorf("it printed no line of JSON: %w", err)
	}
	switch {
	case c.Case != name:
		return c, fmt.Errorf("it ran the case %q", c.Case)
	case c.Operations < 1 || c.WallSeconds <= 0 || c.CPUSeconds <= 0:
		return c, fmt.Errorf("it counted %d operations in %g s, with %g s of CPU time", c.Operations, c.WallSeconds, c.CPUSeconds)
	}
	return c, nil
}

func (c cell) print(out io.Writer, name string) error {
	each := float64(c.Operations)
	others := 0.0
	if c.WritersCPUSeconds > 0 {
		others = max(0, c.CPUSeconds-c.WritersCPUSeconds)
	}
	e := json.NewEncoder(out)
	for _, v := range []struct {
		metric  string
		seconds float64
	}{{wallTime, c.WallSeconds / each}, {cpuTime, c.CPUSeconds / each}, {p99Wait, c.P99WaitSeconds}, {othersCPUTime, others / each}} {
		if v.seconds == 0 {
			continue // A program has none of it.
		}
		err := e.Encode(map[string]any{
			"schema": "loadstone.case/v1", "case": name, "metric": v.metric, "unit": "ns", "better": "Less", "value": 1e9 * v.seconds,
		})
		if err != nil {
			return fmt.Errorf("printing the case %s: %w", name, err)
		}
	}
	return nil
}

// The metrics of a case.
const (
	wallTime      = "Time"
	cpuTime       = "CPU time"
	p99Wait       = "p99 wait"
	othersCPUTime = "CPU time of others"
)
