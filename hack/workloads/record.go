package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/record"
)

// results are the stored data of a run, or why there are none. Figures use only these, so that a run and its record give the same figures. A record
// has JSON lines: the head, then one sight per line.
type results struct {
	head    head
	sights  []sight
	missing string
}

// head identifies the run, its programs and the machine.
type head struct {
	Run string `json:"run"`
	// SpecSHA256 is the digest of the spec as JSON with sorted keys.
	SpecSHA256 string    `json:"specSHA256,omitempty"`
	Started    time.Time `json:"started"`
	Ended      time.Time `json:"ended"`
	Loadstone  string    `json:"loadstone"`
	// Blocks counts planned blocks, RepeatBlocks those that replace disturbed ones.
	Blocks       int32             `json:"blocks"`
	RepeatBlocks int32             `json:"repeatBlocks,omitempty"`
	Machine      machine           `json:"machine"`
	Tools        string            `json:"tools,omitempty"`
	Programs     map[string]string `json:"programs,omitempty"`
	// Sources are digests of the spec and of the sources of the programs, by path.
	Sources map[string]string `json:"sources,omitempty"`
}

type machine struct {
	CPUModel    string `json:"cpuModel"`
	CPUs        string `json:"cpus"`
	MemoryBytes int64  `json:"memoryBytes"`
	Kernel      string `json:"kernel"`
	OS          string `json:"os"`
}

// sight has the values of an implementation in a block: of a cell, or of a process that measures itself. Missing values are unknown.
type sight struct {
	Block          int32        `json:"block"`
	Implementation string       `json:"implementation"`
	At             record.Point `json:"at,omitzero"`
	// Void says why it does not count; Suspect why it may be inaccurate.
	Void    []validity.Code `json:"void,omitempty"`
	Suspect []validity.Code `json:"suspect,omitempty"`
	// Failed: it is void because the implementation failed.
	Failed bool `json:"implementationFailed,omitempty"`

	// CPUNanos is the server's CPU time for requests of tool and agent.
	CPUNanos      int64 `json:"cpuNanos,omitempty"`
	Requests      int64 `json:"requests,omitempty"`
	AgentRequests int64 `json:"agentRequests,omitempty"`
	// ContextSwitches are those of all the server's threads.
	ContextSwitches int64 `json:"contextSwitches,omitempty"`
	LoadNanos       int64 `json:"loadNanos,omitempty"`
	// GeneratorAtLimit: the throughput is the load generator's.
	GeneratorAtLimit bool `json:"generatorAtLimit,omitempty"`
	// The tool measures P99Micros. Jain is the fairness index over connections; Unanswered counts connections without an answer.
	P99Micros  int64    `json:"p99Micros,omitempty"`
	Jain       *float64 `json:"jain,omitempty"`
	Unanswered *int64   `json:"unanswered,omitempty"`
	// Resident memory of the server at the start and at the end.
	RSSStartBytes int64 `json:"rssStartBytes,omitempty"`
	RSSBytes      int64 `json:"rssBytes,omitempty"`
	// SystemCalls counts the server's system calls for the requests.
	SystemCalls int64   `json:"systemCalls,omitempty"`
	BusierShare float64 `json:"busierShare,omitempty"`
	// StartNanos is the time from start to first answer, ProgramBytes the file size.
	StartNanos   int64 `json:"startNanos,omitempty"`
	ProgramBytes int64 `json:"programBytes,omitempty"`

	// Cases are printed values, by case and metric.
	Cases map[string]map[string]float64 `json:"cases,omitempty"`
}

func (r *results) encode() ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(r.head); err != nil {
		return nil, fmt.Errorf("encoding the record of %s: %w", r.head.Run, err)
	}
	for _, s := range r.sights {
		if err := e.Encode(s); err != nil {
			return nil, fmt.Errorf("encoding the record of %s: %w", r.head.Run, err)
		}
	}
	return out.Bytes(), nil
}

func decode(text []byte, run string) (*results, error) {
	r := &results{}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&r.head); err != nil {
		return nil, fmt.Errorf("reading the head of the record of %s: %w", run, err)
	}
	if r.head.Run != run {
		return nil, fmt.Errorf("reading the record of %s: it is one of the run %q", run, r.head.Run)
	}
	for {
		var s sight
		err := d.Decode(&s)
		if errors.Is(err, io.EOF) {
			return r, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading sight %d in the record of %s: %w", len(r.sights)+1, run, err)
		}
		if s.Block < 1 || s.Implementation == "" {
			return nil, fmt.Errorf("reading sight %d in the record of %s: it has no block or no implementation", len(r.sights)+1, run)
		}
		r.sights = append(r.sights, s)
	}
}
