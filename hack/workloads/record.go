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

// results are what is kept of a run, or why there is nothing. Figures are made of nothing else, so that those of a run and of its record are the same.
// A record is a file of lines of JSON: the head, and then what was seen, a line each.
type results struct {
	head    head
	sights  []sight
	missing string
}

// head tells which run it was, and of what on which machine.
type head struct {
	Run string `json:"run"`
	// SpecSHA256 is the digest of the run's spec, as JSON with sorted keys.
	SpecSHA256 string    `json:"specSHA256,omitempty"`
	Started    time.Time `json:"started"`
	Ended      time.Time `json:"ended"`
	// Loadstone is the version that has led it.
	Loadstone string `json:"loadstone"`
	// Blocks is how many planned blocks it had, RepeatBlocks how many in the place of disturbed ones.
	Blocks       int32   `json:"blocks"`
	RepeatBlocks int32   `json:"repeatBlocks,omitempty"`
	Machine      machine `json:"machine"`
	Tools        string  `json:"tools,omitempty"`
	// Programs are digests of the implementations' programs with the files that their arguments name.
	Programs map[string]string `json:"programs,omitempty"`
}

// machine is one on which was measured.
type machine struct {
	CPUModel    string `json:"cpuModel"`
	CPUs        string `json:"cpus"`
	MemoryBytes int64  `json:"memoryBytes"`
	Kernel      string `json:"kernel"`
	OS          string `json:"os"`
}

// sight is what was seen of an implementation in a block: in a cell, or of a process that measures itself. What is absent is unknown.
type sight struct {
	Block          int32        `json:"block"`
	Implementation string       `json:"implementation"`
	At             record.Point `json:"at,omitzero"`
	// Void and Suspect are why it does not count, and why it is to be taken with care.
	Void    []validity.Code `json:"void,omitempty"`
	Suspect []validity.Code `json:"suspect,omitempty"`
	// Failed says that it is void because the implementation failed, and nobody else.
	Failed bool `json:"implementationFailed,omitempty"`

	// CPUNanos is the server's CPU time for the requests of the tool and of its agent.
	CPUNanos      int64 `json:"cpuNanos,omitempty"`
	Requests      int64 `json:"requests,omitempty"`
	AgentRequests int64 `json:"agentRequests,omitempty"`
	// ContextSwitches are those of all the server's threads.
	ContextSwitches int64 `json:"contextSwitches,omitempty"`
	// LoadNanos is for how long the tool made load, in nanoseconds.
	LoadNanos int64 `json:"loadNanos,omitempty"`
	// GeneratorAtLimit says that the throughput is the load generator's, and none of the server.
	GeneratorAtLimit bool `json:"generatorAtLimit,omitempty"`
	// P99Micros is that of the requests as the tool measured them, Jain the index of fairness over connections, Unanswered how many of these got no answer.
	P99Micros  int64    `json:"p99Micros,omitempty"`
	Jain       *float64 `json:"jain,omitempty"`
	Unanswered *int64   `json:"unanswered,omitempty"`
	// RSSStartBytes and RSSBytes are the server's resident memory at the start and at the end.
	RSSStartBytes int64 `json:"rssStartBytes,omitempty"`
	RSSBytes      int64 `json:"rssBytes,omitempty"`
	// SystemCalls is how many the server made for the requests.
	SystemCalls int64 `json:"systemCalls,omitempty"`
	// BusierShare is the share of connections that the busier one of its two threads has.
	BusierShare float64 `json:"busierShare,omitempty"`
	// StartNanos is how long the server took from its start to its first answer, ProgramBytes the size of its file.
	StartNanos   int64 `json:"startNanos,omitempty"`
	ProgramBytes int64 `json:"programBytes,omitempty"`

	// Cases are the values that a process printed, by case and metric.
	Cases map[string]map[string]float64 `json:"cases,omitempty"`
}

// encode is the record of a run.
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

// decode reads the record of a run of a name.
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
			return nil, fmt.Errorf("reading what was seen %d in the record of %s: %w", len(r.sights)+1, run, err)
		}
		if s.Block < 1 || s.Implementation == "" {
			return nil, fmt.Errorf("reading what was seen %d in the record of %s: it has no block or no implementation", len(r.sights)+1, run)
		}
		r.sights = append(r.sights, s)
	}
}
