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

// Responses are the answers that a trial's first generator got.
func Responses(t *record.TrialData) []record.Response {
	if len(t.Generators) == 0 {
		return nil
	}
	return t.Generators[0].Responses
}

// Responses are what the check before the trial got for the level's requests, in their order; nil for one that it got no answer to.
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
	// SameBody is true if the baseline gave the same body in all its trials. One that gives another each time, such as the time of
	// day, cannot be compared with.
	SameBody bool
	// Least and Most are the sizes of its bodies.
	Least, Most int64
}

// NewReferences finds the baseline's answer to each request, by its key: the most frequent one of its trials.
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

// Sizes are the sizes of one implementation's answers to a request, over the checks of all its trials.
type Sizes struct{ least, most float64 }

// NewSizes gathers the sizes by the key of the request.
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

// wire is the size of an answer as it was sent, but for the frames of a chunked body.
func wire(r record.Response) float64 { return float64(r.HeaderBytes + r.BodyBytes) }

// AnswerBytes is what a cell's tools read for each answer, and what the checks before the trials got for one, in bytes of head and
// body on the wire.
type AnswerBytes struct {
	Each float64
	// Unfinished is the largest part of Each that can be of answers which were under way when the tools stopped.
	Unfinished float64
	// Least and Most are what the checks got; 0 if that is unknown, or says nothing of other answers.
	Least, Most float64
	// Slack is by how much the head may differ from the check's.
	Slack float64
}

const (
	// headSlack: from one answer to the next the numbers in a head change their length. All tools count what they read from the
	// connection, heads included: recorded cells of wrk, ab and k6 against servers of one page lie within a tenth of a byte.
	headSlack = 16
	// otherHeadSlack: HTTP/1.0 has other heads, and one request a connection asks for its end. "Transfer-Encoding: chunked" (28 bytes with
	// its line end), "Connection: keep-alive" (24) and "Keep-Alive: timeout=72" (24) come and go with that, two of them together.
	otherHeadSlack = 56
)

// answerBytes relates the bytes that the tools read to the answers; nil where there is nothing to relate: what TLS adds, or compressed heads save, is in no check.
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
	// What was cut off is less than an answer for each request in flight; errors cut off one each.
	cut := float64(f.Level.InFlight()+f.Errors.Sum()) / float64(f.Requests)
	var largest float64
	if f.Level.Scripted {
		b.Slack = 0 // Nobody has checked what a script asks for.
	} else if sizes, ok := f.checked(); ok {
		b.Least, b.Most, largest = sizes.least, sizes.most, sizes.largest
		// Requests of a mix that were made and not answered are counted with the others, and nobody knows of which kind they are.
		if len(f.Level.Mix) > 0 {
			b.Slack += cut * (largest - sizes.smallest)
		}
	}
	b.Unfinished = cut * max(largest, b.Each/(1+cut))
	return &b
}

// mixedSizes are the sizes of answers to a level's requests, as the checks got them: the mean of the mix between least and most, and the smallest and the
// largest of its answers.
type mixedSizes struct{ least, most, smallest, largest float64 }

// checked are the sizes of the answers, each request of a mix as often as the tools have made it; false if one is not known, or not to be compared.
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

// WarmupAudit is what the agents saw of the answers beside the warm-up.
func (f *Facts) WarmupAudit() record.Audit {
	return f.audits(func(r *record.CellRun) *record.Audit { return r.Audit })
}

// MeasuredAudit are the answers that an agent read beside the measured load, and the connections that it opened for them.
func (f *Facts) MeasuredAudit() record.Audit {
	return f.audits(func(r *record.CellRun) *record.Audit { return r.MeasuredAudit })
}

// audits adds up audits of one kind. The example is the first generator's that has one.
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

// Caveats are what must be known of the cell's tool to read what it said.
func (f *Facts) Caveats() tool.Caveats { return tools.Caveats(f.Level.Cell(), f.Implementation.TLS) }

// KeepsOpen reports whether the level is of connections that stay open, each with as many requests in flight as it has streams.
func (f *Facts) KeepsOpen() bool {
	return f.Level.Connection == record.KeepAlive && f.Level.RequestsPerSecond == 0 && f.Level.Step == 0
}

// Opened is the number of connections of the level: those that it holds, or those that the server has accepted meanwhile.
func (f *Facts) Opened() float64 {
	n := int64(max(f.Level.Connections, 1))
	if f.Seen != nil {
		n = max(n, f.Seen.Network.PassiveOpens)
	}
	return float64(n)
}

// Reopened is the number of connections that the server accepted beyond the level's own and the audit's, for each request.
func (f *Facts) Reopened() float64 {
	if !f.ServerNetwork() || f.Requests <= 0 {
		return 0
	}
	return max(float64(f.Seen.Network.PassiveOpens-int64(f.Level.Connections)-f.MeasuredAudit().Connections)/float64(f.Requests), 0)
}

// ServerNetwork reports whether the server's network namespace was read.
func (f *Facts) ServerNetwork() bool { return f.Seen != nil && f.Seen.Network.SegmentsOut > 0 }

// Handshakes are those of the server's namespace; nil if they were not read.
func (f *Facts) Handshakes() *record.Handshakes {
	if f.Seen == nil {
		return nil
	}
	return f.Seen.Network.Handshakes
}

// SynRetransmits is how many segments of handshakes were sent again: by the generators or by the server, whichever saw more, since both
// repeat theirs where an answer is lost. It is false if neither was read.
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
