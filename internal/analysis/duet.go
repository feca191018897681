package analysis

import (
	"slices"
	"time"

	"loadstone.dev/loadstone/internal/record"
)

// Sentences on what a duet's cell lacks.
const (
	frozen    = "The latencies are unknown, since in a duet the load generator is frozen while the other server has its turn."
	undivided = "The generator's traffic and its agent's CPU time are unknown, since the two servers of a duet share them."
)

// split makes two trials of each duet, one per server. It does not change its input.
func split(data record.RunData) record.RunData {
	entries, trials := data.Manifest.Trials, data.Trials
	data.Manifest.Trials, data.Trials = nil, nil
	for _, e := range entries {
		for k := range e.Servers {
			half := e
			half.Servers = first(e.Servers, k)
			data.Manifest.Trials = append(data.Manifest.Trials, half)
		}
	}
	for _, t := range trials {
		if len(t.Manifest.Servers) == 1 {
			data.Trials = append(data.Trials, t)
			continue
		}
		for k := range t.Manifest.Servers {
			data.Trials = append(data.Trials, half(t, k))
		}
	}
	return data
}

func first[T any](list []T, k int) []T {
	return slices.Concat(list[k:k+1], list[:k], list[k+1:])
}

// half returns one server's trial, with its peer second.
func half(t record.TrialData, k int) record.TrialData {
	own := record.MemberServer(k)
	t.Manifest.Servers = first(t.Manifest.Servers, k)
	t.Manifest.Pods = slices.DeleteFunc(slices.Clone(t.Manifest.Pods), func(p record.PodRecord) bool { return record.IsServer(p.Member) && p.Member != own })
	for i := range t.Manifest.Pods {
		if t.Manifest.Pods[i].Member == own {
			t.Manifest.Pods[i].Member = record.MemberServer(0)
		}
	}
	t.Servers = halfSeen(t.Servers, k)
	t.Rows = slices.DeleteFunc(slices.Clone(t.Rows), func(r record.Row) bool { return r.Server != k })
	for i := range t.Rows {
		t.Rows[i].Server = 0
	}
	t.Generators = slices.Clone(t.Generators)
	for i, g := range t.Generators {
		g.Cells = thaw(slices.DeleteFunc(slices.Clone(g.Cells), func(c record.CellRun) bool { return c.Server != k }))
		g.Responses = slices.DeleteFunc(slices.Clone(g.Responses), func(r record.Response) bool { return r.Server != k })
		t.Generators[i] = g
	}
	return t
}

func halfSeen(servers []record.ObserverResult, k int) []record.ObserverResult {
	if k >= len(servers) {
		return nil
	}
	servers = first(servers, k)
	servers[0].Cells = slices.Clone(servers[0].Cells)
	for i := range servers[0].Cells {
		servers[0].Cells[i].Series = nil // It shows the turns, not the server.
	}
	return servers
}

func thaw(runs []record.CellRun) []record.CellRun {
	for i := range runs {
		if runs[i].Measurement == nil {
			continue
		}
		m := *runs[i].Measurement
		m.DurationMicros = runs[i].ActiveNanos / int64(time.Microsecond)
		m.Latency, m.Unknown = nil, append(slices.Clone(m.Unknown), frozen, undivided)
		runs[i].Measurement = &m
	}
	return runs
}
