package phrase

import (
	"strings"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/report/format"
)

// noiseMetrics are the metrics that have a noise floor, in the order in which it is said.
var noiseMetrics = []verdict.Metric{verdict.Throughput, verdict.CPUPerRequest}

// NoiseFloor returns the noise floor of the machine in a sentence, or that there is none; nothing where the machine is unknown.
func (l Lexicon) NoiseFloor(t analysis.Table) string {
	if t.Fingerprint == "" {
		return ""
	}
	if t.NoiseFloor == nil && t.NoiseFloorUnpinned > 0 {
		return l.Say("noise.unpinned", l.Count("cells", t.NoiseFloorUnpinned))
	}
	if t.NoiseFloor == nil {
		return l.Say("noise.none")
	}
	var floors []string
	n := 0
	for _, m := range noiseMetrics {
		if f := t.FloorOf(m); f != nil {
			floors, n = append(floors, l.Say("noise.metric", format.Percent(f.Detectable), l.Metric(m))), max(n, f.N)
		}
	}
	c := t.NoiseFloor
	return l.Say("noise.floor", format.Day(c.Ended), format.Integer(n), strings.Join(floors, l.Say("noise.and")), l.Count("blocks", c.Blocks))
}

// NoiseLine returns in one line what an A/A run has found, or that it has found nothing.
func (l Lexicon) NoiseLine(t analysis.Table) string {
	if t.NoiseFloorUnpinned > 0 {
		return l.Say("line.noise.unpinned", l.Count("cells", t.NoiseFloorUnpinned))
	}
	if !t.Calibrates() {
		return l.Say("line.noise.none", t.Rules.MinBlocks)
	}
	var floors []string
	n := 0
	for _, m := range noiseMetrics {
		if f := t.FloorOf(m); f != nil {
			floors, n = append(floors, l.Say("line.noise.metric", format.Percent(f.Detectable), l.Metric(m))), max(n, f.N)
		}
	}
	c := t.NoiseFloor
	return l.Say("line.noise", format.Day(c.Ended), format.Integer(n), strings.Join(floors, ", "), l.Count("blocks", c.Blocks))
}
