package analysis

import (
	"math"
	"slices"

	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/inference"
)

// NoiseBlocks is the default number of blocks: the noise is stated for it.
const NoiseBlocks = 10

func fitting(c *record.Calibration, fingerprint string) *record.Calibration {
	if c == nil || c.Schema != record.CalibrationSchema || c.Fingerprint != fingerprint {
		return nil
	}
	return c
}

// twins returns two contenders that differ by name only.
func twins(p record.Plan) (a, b string, ok bool) {
	for i, x := range p.Implementations {
		for _, y := range p.Implementations[i+1:] {
			if x.Role != record.RoleReference && y.Role != record.RoleReference && x.Image == y.Image && slices.Equal(x.Command, y.Command) && x.SetAlike(y) &&
				x.CPUs == y.CPUs && x.MemoryBytes == y.MemoryBytes {
				return x.Name, y.Name, true
			}
		}
	}
	return "", "", false
}

// noise returns an A/A run's noise floor; nil with fewer than MinBlocks pairs at every level. With counted unpinned
// cells it returns only their number, since their noise is not that of pinned runs.
func noise(t Table, data record.RunData) (floor *record.Calibration, unpinned int) {
	a, b, ok := twins(data.Manifest.Plan)
	if !ok || t.Fingerprint == "" {
		return nil, 0
	}
	if unpinned = t.unpinned(a) + t.unpinned(b); unpinned > 0 {
		return nil, unpinned
	}
	c := record.Calibration{
		Schema: record.CalibrationSchema, Run: data.Manifest.Run, Fingerprint: t.Fingerprint, Ended: data.Manifest.Ended,
		Implementations: [2]string{a, b}, Blocks: NoiseBlocks,
	}
	for _, m := range []verdict.Metric{verdict.CPUPerRequest, verdict.Throughput} {
		pairs, squares, levels := 0, 0.0, 0
		for _, l := range t.Levels {
			r := verdict.ByBlock(m, t.Group(l.Point, a), t.Group(l.Point, b))
			if r.Blocks < verdict.MinBlocks {
				continue
			}
			point := l.Point
			c.Entries = append(c.Entries, noiseOf(m, &point, r.Blocks, *r.LogStdDev))
			pairs, squares, levels = pairs+r.Blocks, squares+*r.LogStdDev**r.LogStdDev, levels+1
		}
		if levels > 0 {
			c.Entries = append(c.Entries, noiseOf(m, nil, pairs, math.Sqrt(squares/float64(levels))))
		}
	}
	if len(c.Entries) == 0 {
		return nil, 0
	}
	return &c, 0
}

func (t Table) unpinned(implementation string) int {
	n := 0
	for _, g := range t.Groups {
		for _, c := range g.Cells {
			if g.Implementation == implementation && c.Validity != validity.Void && !c.Pinning.Pinned {
				n++
			}
		}
	}
	return n
}

func noiseOf(m verdict.Metric, at *record.Point, n int, sd float64) record.Noise {
	p := inference.Prospect{SD: sd, Alpha: verdict.Alpha * verdict.LoadsShare * verdict.DecidingShare, Margin: math.Log1p(inference.EquivalenceMargin)}
	return record.Noise{Metric: string(m), Point: at, N: n, LogStdDev: sd, Detectable: math.Expm1(p.Detectable(NoiseBlocks))}
}

// FloorOf returns the noise floor at a level of ordinary noise.
func (t Table) FloorOf(m verdict.Metric) *record.Noise {
	if t.NoiseFloor == nil {
		return nil
	}
	return util.First(t.NoiseFloor.Entries, func(n *record.Noise) bool { return n.Point == nil && n.Metric == string(m) })
}

// Calibrates reports whether the run is an A/A run with a noise floor.
func (t Table) Calibrates() bool { return t.NoiseFloor != nil && t.NoiseFloor.Run.UID == t.Run.UID }
