package measured

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/tool/tools"
)

// Responses returns the answers of a trial's first generator.
func Responses(t *record.TrialData) []record.Response {
	if len(t.Generators) == 0 {
		return nil
	}
	return t.Generators[0].Responses
}

// Responses returns the pre-trial answer to each of the level's requests; nil for a missing one.
func (f *Facts) Responses() []*record.Response {
	var out []*record.Response
	for _, a := range f.Level.Asked() {
		out = append(out, util.First(Responses(f.Trial), func(r *record.Response) bool { return r.Key() == a.Key }))
	}
	return out
}

// Reference is the baseline's answer to one request.
type Reference struct {
	record.Response
	// SameBody: the body never changed. A changing one cannot be compared.
	SameBody    bool
	Least, Most int64
}

// NewReferences returns the baseline's most frequent answers, by request key.
func NewReferences(trials []*record.TrialData) map[string]*Reference {
	counts := map[string]map[record.Response]int{}
	for _, t := range trials {
		for _, r := range Responses(t) {
			if counts[r.Key()] == nil {
				counts[r.Key()] = map[record.Response]int{}
			}
			r.HeaderBytes = 0
			counts[r.Key()][r]++
		}
	}
	out := map[string]*Reference{}
	for key, seen := range counts {
		answers := slices.SortedFunc(maps.Keys(seen), func(a, b record.Response) int {
			return cmp.Or(cmp.Compare(seen[b], seen[a]), cmp.Compare(a.Status, b.Status), cmp.Compare(a.BodySHA256, b.BodySHA256))
		})
		same := !slices.ContainsFunc(answers, func(r record.Response) bool { return r.BodySHA256 != answers[0].BodySHA256 })
		ref := &Reference{Response: answers[0], SameBody: same, Least: answers[0].BodyBytes, Most: answers[0].BodyBytes}
		for _, r := range answers {
			ref.Least, ref.Most = min(ref.Least, r.BodyBytes), max(ref.Most, r.BodyBytes)
		}
		out[key] = ref
	}
	return out
}

// Sizes bounds one implementation's answers to a request.
type Sizes struct{ least, most float64 }

// NewSizes returns the smallest and largest answer in bytes by request key, from the checks before the load.
func NewSizes(trials []*record.TrialData) map[string]Sizes {
	out := map[string]Sizes{}
	for _, t := range trials {
		for _, r := range Responses(t) {
			if r.HeaderBytes <= 0 {
				continue
			}
			s, ok := out[r.Key()]
			if !ok {
				s.least = math.Inf(1)
			}
			out[r.Key()] = Sizes{least: min(s.least, wire(r)), most: max(s.most, wire(r))}
		}
	}
	return out
}

// wire leaves out the framing of a chunked body.
func wire(r record.Response) float64 { return float64(r.HeaderBytes + r.BodyBytes) }

// AnswerBytes compares the bytes that tools read per answer with the checks' answers, head and body.
type AnswerBytes struct {
	Each float64
	// Unfinished is the part of Each that unfinished answers can explain.
	Unfinished float64
	// Least and Most are from the checks; 0 if unknown.
	Least, Most float64
	// Slack is the allowed difference of heads.
	Slack float64
}

const (
	// headSlack: numbers in a head vary in length. Tools count all bytes of the connection, heads included: recorded
	// cells of wrk, ab and k6 agree within 0.1 byte.
	headSlack = 16
	// otherHeadSlack: HTTP/1.0 and one request per connection change the head. "Transfer-Encoding: chunked" (28 bytes
	// with line end), "Connection: keep-alive" (24) and "Keep-Alive: timeout=72" (24) come and go, two at a time.
	otherHeadSlack = 56
)

// answerBytes relates the bytes read to the answers; nil if they are not comparable: no check sees TLS overhead or
// compressed heads.
func (f *Facts) answerBytes() *AnswerBytes {
	caveats := f.Caveats()
	if !f.Complete() || f.Requests <= 0 || caveats.OtherBytes {
		return nil
	}
	var read int64
	b := AnswerBytes{Slack: headSlack}
	for _, m := range f.Measurements() {
		read += m.Bytes
	}
	b.Each = float64(read) / float64(f.Requests)
	if caveats.OtherHeads || f.Level.Connection != record.KeepAlive {
		b.Slack = otherHeadSlack
	}
	// At the end, each request in flight may be cut off; each error cuts off one more.
	cut := float64(f.Level.InFlight()+f.Errors.Sum()) / float64(f.Requests)
	var largest float64
	if f.Level.Scripted {
		b.Slack = 0 // What a script asks for is unchecked.
	} else if sizes, ok := f.checked(); ok {
		b.Least, b.Most, largest = sizes.least, sizes.most, sizes.largest
		// Unanswered requests of a mix are counted too, but their kind is unknown.
		if len(f.Level.Mix) > 0 {
			b.Slack += cut * (largest - sizes.smallest)
		}
	}
	b.Unfinished = cut * max(largest, b.Each/(1+cut))
	return &b
}

type mixedSizes struct{ least, most, smallest, largest float64 }

// checked weights requests of a mix by their counts; false if a size is unknown.
func (f *Facts) checked() (mixedSizes, bool) {
	asked, answers := f.Level.Asked(), f.Responses()
	counts := f.ByRequest
	if len(asked) == 1 {
		counts = []int64{1}
	}
	sum := mixedSizes{smallest: math.Inf(1)}
	var all float64
	for i, a := range asked {
		own := answers[i]
		if own == nil || own.HeaderBytes <= 0 || a.AnyBody || len(counts) != len(asked) {
			return mixedSizes{}, false
		}
		least, most := wire(*own), wire(*own)
		if s, ok := f.sizes[a.Key]; ok {
			least, most = min(least, s.least), max(most, s.most)
		}
		n := float64(counts[i])
		sum.least, sum.most, all = sum.least+n*least, sum.most+n*most, all+n
		sum.smallest, sum.largest = min(sum.smallest, least), max(sum.largest, most)
	}
	if all == 0 {
		return mixedSizes{}, false
	}
	sum.least, sum.most = sum.least/all, sum.most/all
	return sum, true
}

// WarmupAudit returns the agents' audit of the warm-up.
func (f *Facts) WarmupAudit() record.Audit {
	return f.audits(func(r *record.CellRun) *record.Audit { return r.Audit })
}

// MeasuredAudit returns the agents' audit of the measured time.
func (f *Facts) MeasuredAudit() record.Audit {
	return f.audits(func(r *record.CellRun) *record.Audit { return r.MeasuredAudit })
}

// LoadAudit returns the agents' audit of answers to the tools, during the measured time.
func (f *Facts) LoadAudit() record.Audit {
	return f.audits(func(r *record.CellRun) *record.Audit { return r.LoadAudit })
}

func (f *Facts) audits(of func(*record.CellRun) *record.Audit) record.Audit {
	var all record.Audit
	for _, r := range f.Runs {
		if r == nil || of(r) == nil {
			continue
		}
		a := of(r)
		all.Requests += a.Requests
		all.WrongStatus += a.WrongStatus
		all.WrongBody += a.WrongBody
		all.Failed += a.Failed
		all.Connections += a.Connections
		all.Example = cmp.Or(all.Example, a.Example)
	}
	return all
}

// Caveats returns the limits of the cell's tool.
func (f *Facts) Caveats() tool.Caveats { return tools.Caveats(f.Level.Cell(), f.Implementation.TLS) }

// KeepsOpen reports whether connections stay open, all streams in use.
func (f *Facts) KeepsOpen() bool {
	return f.Level.Connection == record.KeepAlive && f.Level.RequestsPerSecond == 0 && f.Level.Step == 0
}

// Opened returns the connections held or accepted, whichever is more.
func (f *Facts) Opened() float64 {
	n := int64(max(f.Level.Connections, 1))
	if f.Seen != nil {
		n = max(n, f.Seen.Network.PassiveOpens)
	}
	return float64(n)
}

// Reopened returns connections per request beyond the level's and the audit's.
func (f *Facts) Reopened() float64 {
	if !f.ServerNetwork() || f.Requests <= 0 {
		return 0
	}
	return max(float64(f.Seen.Network.PassiveOpens-int64(f.Level.Connections)-f.MeasuredAudit().Connections)/float64(f.Requests), 0)
}

// ServerNetwork reports whether the server's network counters were read: a loaded server sends at least one segment.
func (f *Facts) ServerNetwork() bool { return f.Seen != nil && f.Seen.Network.SegmentsOut > 0 }

// Handshakes returns nil if they were not read.
func (f *Facts) Handshakes() *record.Handshakes {
	if f.Seen == nil {
		return nil
	}
	return f.Seen.Network.Handshakes
}

// SynRetransmits returns resent handshake segments, by the side that saw more, since both resend. False if neither
// was read.
func (f *Facts) SynRetransmits() (float64, bool) {
	var clients, server int64
	known := false
	for _, r := range f.Runs {
		if r != nil && r.Network.Handshakes != nil {
			known = true
			clients += r.Network.Handshakes.SynRetransmits
		}
	}
	if h := f.Handshakes(); h != nil {
		known, server = true, h.SynRetransmits
	}
	return float64(max(clients, server)), known
}
