package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/histogram"
)

// keep extracts the stored data of a run. Loadstone decides what counts.
func keep(data record.RunData) (*results, error) {
	table, err := analysis.Analyse(data)
	if err != nil {
		return nil, err
	}
	h, err := headOf(data)
	if err != nil {
		return nil, err
	}
	r := &results{head: h}
	trials := map[string]record.TrialData{}
	for _, t := range data.Trials {
		trials[t.Manifest.Name] = t
	}
	for _, g := range table.Groups {
		for _, c := range g.Cells {
			s, err := sightOf(g.Implementation, g.Point, c, trials[c.Trial])
			if err != nil {
				return nil, fmt.Errorf("keeping %s of %s in %s: %w", g.Name(), g.Implementation, c.Trial, err)
			}
			r.sights = append(r.sights, s)
		}
	}
	for _, p := range table.Programs {
		s := judged(p.Implementation, p.Cell)
		s.Cases = printed(trials[p.Trial].Rows)
		r.sights = append(r.sights, s)
	}
	slices.SortStableFunc(r.sights, func(a, b sight) int { return cmp.Compare(a.Block, b.Block) })
	return r, nil
}

// headOf identifies the run. All its trials ran on the machine of the first one.
func headOf(data record.RunData) (head, error) {
	m := data.Manifest
	spec, err := json.Marshal(m.Spec)
	if err != nil {
		return head{}, fmt.Errorf("encoding the spec of %s: %w", m.Run.Name, err)
	}
	sum := sha256.Sum256(spec)
	h := head{
		Run: m.Run.Name, SpecSHA256: hex.EncodeToString(sum[:]), Started: m.Started, Ended: m.Ended, Loadstone: m.Operator,
		Blocks: m.Blocks, RepeatBlocks: m.RepeatBlocks, Programs: map[string]string{},
	}
	for _, t := range data.Trials {
		for k, name := range t.Manifest.Servers {
			for _, p := range t.Manifest.Pods {
				if p.Member == record.MemberServer(k) {
					h.Programs[name] = p.ImageID
				}
			}
		}
		if own, ok := t.Server(0); ok && h.Machine == (machine{}) {
			e := own.Environment
			h.Machine = machine{CPUModel: e.CPUModel, CPUs: e.OnlineCPUs, MemoryBytes: e.MemoryBytes, Kernel: e.Kernel, OS: e.OS}
		}
		if len(t.Generators) > 0 {
			h.Tools = cmp.Or(h.Tools, t.Generators[0].Environment.ToolVersion)
		}
	}
	return h, nil
}

func judged(implementation string, c validity.Cell) sight {
	s := sight{Block: c.Block, Implementation: implementation, Failed: c.ImplementationFailure()}
	for _, r := range c.Reasons {
		into := &s.Suspect
		if r.Weight == validity.Void {
			into = &s.Void
		}
		if !slices.Contains(*into, r.Code) {
			*into = append(*into, r.Code)
		}
	}
	return s
}

// sightOf stores the counts of a cell. It fails if they give other values than Loadstone's.
func sightOf(implementation string, at record.Point, c validity.Cell, t record.TrialData) (sight, error) {
	s := judged(implementation, c)
	s.At, s.GeneratorAtLimit = at, c.ThroughputIsBound
	k := slices.Index(t.Manifest.Servers, implementation)
	for _, g := range t.Generators {
		for _, run := range g.Cells {
			if run.Point == at && run.Server == k && run.Measurement != nil && c.Throughput != nil {
				s.addRun(run)
			}
		}
	}
	own, _ := t.Server(k)
	for _, seen := range own.Cells {
		if seen.Point == at {
			s.addSeen(seen, c, len(t.Servers) == 1)
		}
	}
	if v, ok := c.Observed(measured.Fairness); ok {
		s.Jain = &v
	}
	if len(t.Servers) == 1 && len(t.Generators) > 0 {
		s.P99Micros = p99Of(t.Generators[0], at)
	}
	if !same(cpuPerRequest(s), c.CPUPerRequest) {
		return s, fmt.Errorf("%d ns of CPU time for %d and %d requests are not the %v µs that Loadstone computes", s.CPUNanos, s.Requests, s.AgentRequests, known(c.CPUPerRequest))
	}
	if !same(rate(s), c.Throughput) {
		return s, fmt.Errorf("%d requests in %d ns are not the %v a second that Loadstone computes", s.Requests, s.LoadNanos, known(c.Throughput))
	}
	return s, nil
}

func (s *sight) addRun(run record.CellRun) {
	s.Requests += run.Measurement.Requests
	s.LoadNanos = run.LoadNanos()
	if run.MeasuredAudit != nil {
		s.AgentRequests += run.MeasuredAudit.Requests
	}
}

// Servers in turns share some of them.
func (s *sight) addSeen(seen record.CellObservation, c validity.Cell, alone bool) {
	if c.CPUPerRequest != nil {
		s.CPUNanos = seen.CPUNanos
	}
	s.ContextSwitches = seen.VoluntarySwitches + seen.InvoluntarySwitches
	if !alone {
		return
	}
	s.RSSStartBytes, s.RSSBytes = seen.RSSStartBytes, seen.RSSBytes
	if seen.Sockets != nil {
		s.Unanswered = &seen.Sockets.Unanswered
	}
}

// p99Of is the p99 that the tool measured, or 0.
func p99Of(g record.GeneratorResult, at record.Point) int64 {
	for _, run := range g.Cells {
		if run.Point != at || run.Measurement == nil {
			continue
		}
		for _, l := range run.Measurement.Latency {
			if l.Kind != record.Observed {
				continue
			}
			if h, err := histogram.Decode(l.HDR); err == nil {
				return h.Quantile(0.99)
			}
		}
	}
	return 0
}

func printed(rows []record.Row) map[string]map[string]float64 {
	out := map[string]map[string]float64{}
	for _, row := range rows {
		if row.Void != "" {
			continue
		}
		if out[row.Case] == nil {
			out[row.Case] = map[string]float64{}
		}
		out[row.Case][row.Metric] = row.Value
	}
	return out
}

// same reports whether two values are equal, or both unknown.
func same(v float64, other *float64) bool {
	if other == nil {
		return math.IsNaN(v)
	}
	return v == *other
}
