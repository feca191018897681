package recordtest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"loadstone.dev/loadstone/internal/record"
)

const slicesPerSecond = 10

// machine has a wandering speed: the log of its slowness returns to 0 within about half a minute.
type machine struct {
	rng   *rand.Rand
	sd    float64
	level float64
}

func newMachine(o Options) *machine {
	return &machine{rng: rand.New(rand.NewPCG(o.Seed, 2)), sd: o.Drift}
}

func (m *machine) slice() float64 {
	const stay = 0.997
	m.level = m.level*stay + m.sd*math.Sqrt(1-stay*stay)*m.rng.NormFloat64()
	return math.Exp(m.level)
}

func (m *machine) over(seconds int32) float64 {
	var work float64
	n := int(seconds) * slicesPerSecond
	for range n {
		work += 1 / m.slice()
	}
	for range 2 * n {
		m.slice()
	}
	return float64(n) / work
}

func (m *machine) turns(seconds int32) [2]float64 {
	var work [2]float64
	n := int(seconds) * slicesPerSecond
	for range n {
		first := m.rng.IntN(2)
		work[first] += 1 / m.slice()
		work[1-first] += 1 / m.slice()
	}
	return [2]float64{float64(n) / work[0], float64(n) / work[1]}
}

func (o Options) block(rng *rand.Rand) [][]Server {
	var trials [][]Server
	for _, k := range rng.Perm(len(o.Servers)) {
		trials = append(trials, []Server{o.Servers[k]})
	}
	if o.Duet {
		return [][]Server{{trials[0][0], trials[1][0]}}
	}
	return trials
}

// addDuet adds a duet's level to a trial; one generator loads both servers.
func (o Options) addDuet(rng *rand.Rand, m *machine, t *record.TrialData, servers []Server, connections int32, start time.Time) {
	slow := m.turns(o.Seconds)
	var runs [2]record.CellRun
	var seen [2]record.CellObservation
	for i, raw := range []string{"sweep-%d.wrk.txt", "sweep-%d." + record.MemberServer(1) + ".wrk.txt"} {
		both, server := o.cell(rng, slow[i], servers[i], connections, start)
		runs[i], seen[i] = both[0], server
		run := &runs[i]
		run.Raw, run.Server = fmt.Sprintf(raw, connections), i
		run.ActiveNanos, run.Turns = run.Measurement.DurationMicros*1000, int64(o.Seconds)*slicesPerSecond
		run.Measurement.DurationMicros *= 2
		run.Ended = run.Started.Add(2 * run.Ended.Sub(run.Started))
		// The generator reads nothing that both servers share.
		run.FirstConnection, run.Audit, run.AgentCPUNanos, run.Network = nil, nil, 0, record.Network{}
		t.Manifest.Artifacts = append(t.Manifest.Artifacts, object(o.Name, t.Manifest.Name, record.MemberGenerator(0), run.Raw))
	}
	for i := range seen {
		strangers := seen[i].BusyNanos - seen[i].CPUNanos
		seen[i].CoreNanos *= 2
		seen[i].BusyNanos = seen[0].CPUNanos + seen[1].CPUNanos + strangers
		seen[i].Ended = seen[i].Started.Add(2 * seen[i].Ended.Sub(seen[i].Started))
	}
	g := &t.Generators[0]
	g.Cells = append(g.Cells, runs[:]...)
	if len(t.Servers) < len(seen) {
		t.Servers = append(t.Servers, record.ObserverResult{})
	}
	t.Servers[0].Cells, t.Servers[1].Cells = append(t.Servers[0].Cells, seen[0]), append(t.Servers[1].Cells, seen[1])
}

func (o Options) nameDuet(t *record.TrialData, s Server) {
	t.Manifest.Servers, t.Servers[1].Environment = append(t.Manifest.Servers, s.Name), t.Servers[0].Environment
	g := &t.Generators[0]
	for _, r := range slices.Clone(g.Responses) {
		r.Server = 1
		g.Responses = append(g.Responses, r)
	}
	for i := range t.Manifest.Pods {
		t.Manifest.Pods[i].QOSClass = "Burstable"
	}
	t.Manifest.Pods = append(t.Manifest.Pods, record.PodRecord{
		Name: t.Manifest.Name + "-" + record.MemberServer(1), Member: record.MemberServer(1), Node: "server", QOSClass: "Burstable", Image: image(s.Name), ImageID: "sha256:" + digest(s.Name),
	})
	t.Manifest.Artifacts = append(t.Manifest.Artifacts, object(o.Name, t.Manifest.Name, record.MemberServer(1), "result.json"))
}
