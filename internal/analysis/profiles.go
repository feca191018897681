package analysis

import (
	"cmp"
	"slices"

	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/profiler"
	"loadstone.dev/loadstone/internal/profiler/callgrind"
	"loadstone.dev/loadstone/internal/profiler/perfstat"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/inference"
)

// Profile is a profiler's findings.
type Profile struct {
	record.Profile
	// Found is in spec order.
	Found []Profiled `json:"found"`
}

// Profiled is a profiler's findings on one implementation.
type Profiled struct {
	Implementation string `json:"implementation"`
	Trial          string `json:"trial"`
	// Missing says why there is no result; all fields below are then empty.
	Missing string `json:"missing,omitempty"`
	// Remarks say what Tool cannot see, and why it replaced the requested one. Cut says why launches are missing.
	Tool    profiler.Tool     `json:"tool,omitempty"`
	Remarks []profiler.Remark `json:"remarks,omitempty"`
	Cut     string            `json:"cut,omitempty"`
	// Asked counts requests, Wrong those answered wrongly.
	Launches int    `json:"launches"`
	Asked    int64  `json:"asked"`
	Wrong    int64  `json:"wrong"`
	Example  string `json:"example,omitempty"`
	// Silent launches never answered correctly.
	Silent int `json:"silent,omitempty"`
	// Unended launches did not end when told to.
	Unended     int   `json:"unended,omitempty"`
	Starved     int   `json:"starved,omitempty"`
	MemoryBytes int64 `json:"memoryBytes,omitempty"`
	OwnBytes    int64 `json:"ownBytes,omitempty"`
	// Said is the end of standard error of the last launch that ended badly.
	Said string `json:"said,omitempty"`
	// FirstAnswerMillis is the longest time to a first right answer.
	FirstAnswerMillis int64 `json:"firstAnswerMillis,omitempty"`
	// PerRequest is nil if unknown.
	PerRequest *Counted `json:"perRequest,omitempty"`
	// Counters are those of perf-stat.
	Counters []Counter     `json:"counters,omitempty"`
	Versus   *CountedRatio `json:"versus,omitempty"`
	// Result is from the launch with the gravest finding, or the last.
	Result *profiler.Result `json:"result,omitempty"`
	Flame  *callgrind.Graph `json:"flame,omitempty"`
}

// Counter is an event of the CPU or the kernel.
type Counter struct {
	Event string `json:"event"`
	Unit  string `json:"unit,omitempty"`
	// Whole is of the last launch; nil if not measured (see Why). Extrapolated values are estimates, since the event
	// shared its counter.
	Whole        *float64      `json:"whole,omitempty"`
	Why          string        `json:"why,omitempty"`
	Extrapolated bool          `json:"extrapolated,omitempty"`
	PerRequest   *Counted      `json:"perRequest,omitempty"`
	Versus       *CountedRatio `json:"versus,omitempty"`
}

// Counted summarizes repeated counts of the same thing.
type Counted struct {
	N      int     `json:"n"`
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// Spread returns the range as a share of the median.
func (c Counted) Spread() float64 { return (c.Max - c.Min) / c.Median }

// CountedRatio has no test: counts are exact but for the program's own differences.
type CountedRatio struct {
	// Ratio is of medians; Low and High are the extremes of any two launches.
	Ratio float64 `json:"ratio"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	// Apart: no counts overlap; false if either was counted once.
	Apart bool `json:"apart"`
	Once  bool `json:"once,omitempty"`
}

func profiles(data record.RunData, p planned.Run) []Profile {
	var out []Profile
	for _, planned := range data.Manifest.Plan.Profiles {
		own := Profile{Profile: planned}
		for _, line := range data.Manifest.Plan.Following {
			if line.Type == record.ProfileType && line.Item == planned.Name && len(line.Servers) == 1 {
				own.Found = append(own.Found, profiled(data, line))
			}
		}
		own.compare(p.Baseline)
		out = append(out, own)
	}
	return out
}

func profiled(data record.RunData, line record.PlannedTrial) Profiled {
	out := Profiled{Implementation: line.Servers[0], Trial: line.Name}
	i := slices.IndexFunc(data.Following, func(t record.TrialData) bool { return t.Manifest.Name == line.Name })
	if i < 0 || len(data.Following[i].Servers) != 1 || data.Following[i].Servers[0].Profiled == nil {
		out.Missing = whyMissing(data.Manifest.Following, line.Name)
		return out
	}
	found := data.Following[i].Servers[0].Profiled
	out.Tool, out.Remarks, out.Cut, out.Flame = found.Tool, found.Remarks, found.Cut, found.Flame
	out.Launches = len(found.Launches)
	for k := range found.Launches {
		out.add(&found.Launches[k])
	}
	out.memory(data.Manifest.Plan, line)
	if r := out.Result; r != nil {
		out.Remarks = append(slices.Clone(out.Remarks), r.Limits...)
	}
	out.PerRequest = perRequest(found.Launches, func(fewer, more profiler.Result) (float64, bool) {
		v, err := profiler.PerRequest(fewer, more)
		return v, err == nil
	})
	if out.Result != nil {
		out.Counters = counters(out.Result.Counters, found.Launches)
	}
	return out
}

func (p *Profiled) memory(all record.Plan, line record.PlannedTrial) {
	i := slices.IndexFunc(all.Implementations, func(i record.Implementation) bool { return i.Name == p.Implementation })
	k := slices.IndexFunc(all.Profiles, func(r record.Profile) bool { return r.Name == line.Item })
	if p.Starved > 0 && i >= 0 && k >= 0 {
		p.OwnBytes = all.Implementations[i].MemoryBytes
		p.MemoryBytes = profiler.MemoryBytes(all.Profiles[k].Tool, p.OwnBytes)
	}
}

func whyMissing(entries []record.TrialEntry, name string) string {
	i := slices.IndexFunc(entries, func(e record.TrialEntry) bool { return e.Name == name })
	if i < 0 {
		return "the run ended before it"
	}
	return cmp.Or(entries[i].Message, entries[i].Reason)
}

func (p *Profiled) add(l *record.Launch) {
	p.Asked, p.Wrong = p.Asked+l.Asked, p.Wrong+l.Wrong
	p.Example, p.Said = cmp.Or(p.Example, l.Example), cmp.Or(l.Said, p.Said)
	p.FirstAnswerMillis = max(p.FirstAnswerMillis, l.FirstAnswerMillis)
	if l.Killed {
		p.Unended++
	}
	if l.OutOfMemory {
		p.Starved++
	}
	if l.FirstAnswerMillis == 0 {
		p.Silent++
	}
	if p.Result == nil || len(l.Unread) == 0 && !graver(p.Result, &l.Result) {
		p.Result = &l.Result
	}
}

func graver(a, b *profiler.Result) bool {
	return a.Memcheck != nil && b.Memcheck != nil && a.Memcheck.Verdicts.Rank() > b.Memcheck.Verdicts.Rank()
}

// perRequest uses each launch with more requests and the one with fewer before it, if both ended well and answered
// correctly.
func perRequest(launches []record.Launch, each func(fewer, more profiler.Result) (float64, bool)) *Counted {
	var values []float64
	for k := 1; k < len(launches); k += 2 {
		fewer, more := launches[k-1], launches[k]
		if !sound(fewer) || !sound(more) {
			continue
		}
		if v, known := each(fewer.Result, more.Result); known {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return nil
	}
	return &Counted{N: len(values), Median: inference.Median(values), Min: slices.Min(values), Max: slices.Max(values)}
}

func counters(last []perfstat.Counter, launches []record.Launch) []Counter {
	var out []Counter
	for _, c := range last {
		one := Counter{Event: c.Event, Unit: c.Unit, Whole: c.Value, Why: c.Why}
		one.PerRequest = perRequest(launches, func(fewer, more profiler.Result) (float64, bool) { return profiler.EachOf(c.Event, fewer, more) })
		for _, l := range launches {
			one.Extrapolated = one.Extrapolated || slices.ContainsFunc(l.Counters, func(o perfstat.Counter) bool { return o.Event == c.Event && o.Extrapolated() })
		}
		out = append(out, one)
	}
	return out
}

func sound(l record.Launch) bool {
	return l.Asked > 0 && l.Wrong == 0 && !l.Killed && !l.TimedOut && !l.OutOfMemory && len(l.Unread) == 0
}

func (p *Profile) compare(baseline string) {
	i := slices.IndexFunc(p.Found, func(f Profiled) bool { return f.Implementation == baseline })
	if i < 0 {
		return
	}
	base := p.Found[i]
	for k := range p.Found {
		f := &p.Found[k]
		if k == i || countsOf(f.Tool) != countsOf(base.Tool) {
			continue
		}
		f.Versus = versus(f.PerRequest, base.PerRequest)
		for n := range f.Counters {
			c := &f.Counters[n]
			if b := slices.IndexFunc(base.Counters, func(b Counter) bool { return b.Event == c.Event }); b >= 0 {
				c.Versus = versus(c.PerRequest, base.Counters[b].PerRequest)
			}
		}
	}
}

// versus returns nil if a ratio has no meaning.
func versus(own, base *Counted) *CountedRatio {
	if own == nil || base == nil || own.Min <= 0 || base.Min <= 0 {
		return nil
	}
	return &CountedRatio{
		Ratio: own.Median / base.Median, Low: own.Min / base.Max, High: own.Max / base.Min,
		Once:  own.N == 1 || base.N == 1,
		Apart: own.N > 1 && base.N > 1 && (own.Min > base.Max || own.Max < base.Min),
	}
}

// countsOf: callgrind and cachegrind count the same instructions.
func countsOf(t profiler.Tool) profiler.Tool {
	if t == profiler.Cachegrind {
		return profiler.Callgrind
	}
	return t
}

// ProfileGap is a profile that ran and went wrong.
type ProfileGap struct {
	Profile        string `json:"profile"`
	Implementation string `json:"implementation"`
	// Why is empty if the counts tell.
	Why      string `json:"why,omitempty"`
	Launches int    `json:"launches"`
	Silent   int    `json:"silent,omitempty"`
	Starved  int    `json:"starved,omitempty"`
	Unended  int    `json:"unended,omitempty"`
	// Example is a wrong answer.
	Example string `json:"example,omitempty"`
}

// profileGaps leaves out failed trials, which are reported themselves.
func (t Table) profileGaps() []ProfileGap {
	var out []ProfileGap
	for _, p := range t.Profiles {
		for _, f := range p.Found {
			g := ProfileGap{
				Profile: p.Name, Implementation: f.Implementation, Launches: f.Launches, Silent: f.Silent, Starved: f.Starved, Unended: f.Unended, Example: f.Example,
			}
			if f.Result != nil {
				for _, r := range f.Result.Trouble() {
					g.Why = cmp.Or(g.Why, r.Sentence)
				}
			}
			if g.Why = cmp.Or(g.Why, f.Cut); f.Missing == "" && (g.Why != "" || f.Silent+f.Starved+f.Unended > 0) {
				out = append(out, g)
			}
		}
	}
	return out
}
