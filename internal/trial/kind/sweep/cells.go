package sweep

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool/tools"
	"loadstone.dev/loadstone/internal/trial/kind"
)

func cells(p *record.Plan, loads []v1alpha1.Load) {
	p.Generators = record.Generators{Pods: DefaultGeneratorPods, CPUs: DefaultGeneratorCPUs}
	for _, l := range loads {
		c := commonCell(p, l)
		p.Generators.Pods, p.Generators.CPUs = max(p.Generators.Pods, c.Generators), max(p.Generators.CPUs, c.Threads)
		p.Loads = append(p.Loads, record.Load{Name: l.Name, Weight: weightOf(l)})
		for _, level := range l.Levels {
			at := c
			at.Connections, at.RequestsPerSecond, at.RampToRequestsPerSecond = level.Connections, level.RequestsPerSecond, level.RampToRequestsPerSecond
			steps(p, l, at)
		}
	}
}

// sized fills in a load's generators and duration, which checks need too.
func sized(l v1alpha1.Load) v1alpha1.Load {
	l.Generators.Pods, l.Generators.CPUs = max(l.Generators.Pods, DefaultGeneratorPods), max(l.Generators.CPUs, DefaultGeneratorCPUs)
	l.DurationSeconds = cmp.Or(l.DurationSeconds, DefaultDurationSeconds)
	return l
}

func commonCell(p *record.Plan, spec v1alpha1.Load) record.Cell {
	l := sized(spec)
	c := record.Cell{
		Load: l.Name, Tool: l.Tool, Generators: l.Generators.Pods, Threads: l.Generators.CPUs,
		Connection: cmp.Or(l.Connection, record.KeepAlive), Script: scriptOf(l.Script),
		WarmupSeconds: DefaultWarmupSeconds, DurationSeconds: l.DurationSeconds,
	}
	if l.StreamsPerConnection > 1 {
		c.StreamsPerConnection = l.StreamsPerConnection
	}
	if p.Order == record.OrderSlicedDuet {
		c.Order = p.Order
	}
	if l.WarmupSeconds == nil {
		p.Note("loads[%s].warmupSeconds defaults to %d", l.Name, c.WarmupSeconds)
	} else {
		c.WarmupSeconds = *l.WarmupSeconds
	}
	if spec.DurationSeconds == 0 {
		p.Note("loads[%s].durationSeconds defaults to %d", l.Name, c.DurationSeconds)
	}
	for i, r := range l.Requests {
		field := fmt.Sprintf("loads[%s].requests[%d]", l.Name, i)
		c.Mix = append(c.Mix, record.MixedRequest{Request: requestOf(p, field, r.Request), Weight: r.Weight})
	}
	noteMix(p, l.Name, c.Mix)
	if len(c.Mix) == 0 {
		c.Request = requestOf(p, fmt.Sprintf("loads[%s].request", l.Name), l.Request)
	}
	return c.Speaking(protocolOf(l.Protocol))
}

func requestOf(p *record.Plan, field string, r v1alpha1.Request) record.Request {
	out := asked(r)
	if defaultContentType(&out) {
		p.Note("%s.headers has no Content-Type: it defaults to %s", field, DefaultContentType)
	}
	switch {
	case out.Expect.AnyBody:
		p.Note("%s.expect.bodies is Any: response bodies are not compared, and an implementation may answer something else", field)
	case out.Expect.Body == nil:
		p.Note("%s.expect.body is not set: response bodies are compared with the first of their trial, and that with the baseline's", field)
	}
	return out
}

// asked fills in the defaults without notes.
func asked(r v1alpha1.Request) record.Request {
	out := kind.ReadRequest(r)
	out.Path, out.Expect.Status = cmp.Or(r.Path, "/"), cmp.Or(r.Expect.Status, DefaultStatus)
	return out
}

// defaultContentType adds a type to a body without one, and reports whether it did: ab would send its own choice, the
// others none.
func defaultContentType(r *record.Request) bool {
	if r.Body == "" && r.From == nil || slices.ContainsFunc(r.Headers, func(h record.Header) bool { return strings.EqualFold(h.Name, contentType) }) {
		return false
	}
	r.Headers = append(r.Headers, record.Header{Name: contentType, Value: DefaultContentType})
	return true
}

func protocolOf(p v1alpha1.Protocol) record.Protocol {
	if p == v1alpha1.ProtocolHTTP2 {
		return record.HTTP2
	}
	return ""
}

func scriptOf(s v1alpha1.Script) *record.Script {
	if s.IsZero() {
		return nil
	}
	return &s
}

// steps adds a level's cell, or one per step of its search, whose rates are found during a trial.
func steps(p *record.Plan, l v1alpha1.Load, c record.Cell) {
	if l.Search.IsZero() {
		p.Cells = append(p.Cells, c)
		return
	}
	search := l.Search
	search.StartRequestsPerSecond, search.Steps = cmp.Or(search.StartRequestsPerSecond, DefaultSearchStart), cmp.Or(search.Steps, DefaultSearchSteps)
	if l.Search.StartRequestsPerSecond == 0 {
		p.Note("loads[%s].search.startRequestsPerSecond defaults to %d", l.Name, search.StartRequestsPerSecond)
	}
	if l.Search.Steps == 0 {
		p.Note("loads[%s].search.steps defaults to %d", l.Name, search.Steps)
	}
	if floor := tools.Caveats(c, false).Pause.Milliseconds(); int64(search.MaxMilliseconds) < floor {
		p.Note("loads[%[1]s].search.maxMilliseconds is %[2]d: below %[3]d, %[4]s's own pauses cannot be told from the server's, so %[4]s may be the cause of a missed rate",
			l.Name, search.MaxMilliseconds, floor, l.Tool)
	}
	for step := range search.Steps {
		at := c
		at.Step, at.Search = step+1, &search
		p.Cells = append(p.Cells, at)
	}
}

// encrypted returns the index of the first implementation with TLS; -1 if none.
func encrypted(spec v1alpha1.BenchmarkRunSpec) int {
	return slices.IndexFunc(spec.Implementations, func(i v1alpha1.Implementation) bool { return i.TLS != v1alpha1.TLS{} })
}

func noteHandshakes(p *record.Plan, spec v1alpha1.BenchmarkRunSpec) {
	if encrypted(spec) < 0 {
		return
	}
	for _, l := range spec.Loads {
		if l.Connection != v1alpha1.PerRequest {
			continue
		}
		each := "a whole one, since " + string(l.Tool) + " resumes no session"
		if tools.Caveats(record.Cell{Tool: l.Tool}, true).Resumes {
			each = "which resumes the session where the server allows it"
		}
		p.Note("loads[%s].connection is PerRequest: with a server that speaks TLS each request begins with a handshake, %s", l.Name, each)
	}
}
