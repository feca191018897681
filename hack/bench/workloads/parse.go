package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// parseCase reads the line of a micro-benchmark's cell.
func parseCase(out []byte, name string) (measured, error) {
	var said struct {
		Case        string   `json:"case"`
		Operations  int64    `json:"operations"`
		WallSeconds float64  `json:"wallSeconds"`
		CPUSeconds  *float64 `json:"cpuSeconds"`
	}
	text := bytes.TrimSpace(out)
	if bytes.Count(text, []byte("\n")) > 0 {
		return measured{}, errors.New("it printed more than one line")
	}
	if err := json.Unmarshal(text, &said); err != nil {
		return measured{}, fmt.Errorf("it printed no line of JSON: %w", err)
	}
	switch {
	case said.Case != name:
		return measured{}, fmt.Errorf("it ran the case %q", said.Case)
	case said.Operations < 1:
		return measured{}, fmt.Errorf("it counted %d operations", said.Operations)
	case said.WallSeconds < seconds:
		return measured{}, fmt.Errorf("it took %g s instead of %d or more", said.WallSeconds, seconds)
	case said.CPUSeconds == nil || *said.CPUSeconds <= 0:
		return measured{}, errors.New("it told no CPU time")
	}
	return measured{Operations: said.Operations, WallSeconds: said.WallSeconds, CPUSeconds: *said.CPUSeconds}, nil
}

const systemCallEvent = "raw_syscalls:sys_enter"

// parsePerf reads the count of system calls from perf's CSV.
func parsePerf(text string) (int64, error) {
	for line := range strings.Lines(text) {
		fields := strings.Split(strings.TrimSpace(line), ",")
		if len(fields) > 2 && fields[2] == systemCallEvent {
			n, err := strconv.ParseInt(fields[0], 10, 64)
			if err != nil {
				return 0, fmt.Errorf("perf counted no system calls: %q", strings.TrimSpace(line))
			}
			return n, nil
		}
	}
	return 0, fmt.Errorf("perf said nothing of %s", systemCallEvent)
}
