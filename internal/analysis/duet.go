package analysis

import (
	"slices"
	"time"

	"loadstone.dev/loadstone/internal/record"
)

// Sentences that say what a cell of a duet does not have.
const (
	frozen    = "The latencies are unknown, since in a duet the load generator is frozen while the other server has its turn."
	undivided = "The generator's traffic and its agent's CPU time are unknown, since the two servers of a duet share them."
)

// split reads each trial of a duet as two trials of the same block, one of each server. What is no duet stays as it is, and the
// records that come in are not changed.
func split(data record.RunData) record.RunData {
	entries, trials := data.Manifest.Trials, data.Trials
	data.Manifest.Trials, data.Trials = nil, nil
	for _, e := range entries {
		data.Manifest.Trials = append(data.Manifest.Trials, e)
		if e.Beside != "" {
			e.Implementation, e.Beside = e.Beside, e.Implementation
			data.Manifest.Trials = append(data.Manifest.Trials, e)
		}
	}
	for _, t := range trials {
		if t.Manifest.Beside == "" {
			data.Trials = append(data.Trials, t)
			continue
		}
		data.Trials = append(data.Trials, side(t, record.RoleServer), side(t, record.RoleBeside))
	}
	return data
}

// side is one server's half of a duet, as a trial of its own whose Beside is the other half.
func side(t record.TrialData, role string) record.TrialData {
	other := record.RoleBeside
	if role == record.RoleBeside {
		other = record.RoleServer
		t.Manifest.Implementation, t.Manifest.Beside = t.Manifest.Beside, t.Manifest.Implementation
		t.Server, t.Beside = t.Beside, t.Server
	}
	t.Manifest.Pods = slices.DeleteFunc(slices.Clone(t.Manifest.Pods), func(p record.PodRecord) bool { return p.Role == other })
	for i := range t.Manifest.Pods {
		if t.Manifest.Pods[i].Role == role {
			t.Manifest.Pods[i].Role = record.RoleServer
		}
	}
	t.Server.Cells = slices.Clone(t.Server.Cells)
	for i := range t.Server.Cells {
		t.Server.Cells[i].Series = nil // It shows the turns, and nothing of the server.
	}
	t.Generators = slices.Clone(t.Generators)
	for i, g := range t.Generators {
		if role == record.RoleBeside {
			g.Cells, g.Responses = g.Beside, g.BesideResponses
		}
		g.Cells, g.Beside, g.BesideResponses = thaw(g.Cells), nil, nil
		t.Generators[i] = g
	}
	return t
}

// thaw makes of each measurement one that took as long as the tool was let run.
func thaw(runs []record.CellRun) []record.CellRun {
	out := slices.Clone(runs)
	for i := range out {
		if out[i].Measurement == nil {
			continue
		}
		m := *out[i].Measurement
		m.DurationMicros = out[i].ActiveNanos / int64(time.Microsecond)
		m.Latency, m.Unknown = nil, append(slices.Clone(m.Unknown), frozen, undivided)
		out[i].Measurement = &m
	}
	return out
}
