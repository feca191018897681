package validity

import (
	"cmp"
	"slices"

	"loadstone.dev/loadstone/internal/base/util"
)

// Finding gathers the reasons of one kind over the cells of a group.
type Finding struct {
	Code    Code     `json:"code"`
	Weight  Validity `json:"weight"`
	Scope   Scope    `json:"scope"`
	Subject string   `json:"subject,omitempty"`
	// Blocks are those whose cells it hit.
	Blocks []int32 `json:"blocks"`
	// Least and Most are the range of Reason.Value, Limit is Reason.Limit.
	Least float64 `json:"least,omitempty"`
	Most  float64 `json:"most,omitempty"`
	Limit float64 `json:"limit,omitempty"`
	// Details are the distinct texts, at most maxDetails of them: untrusted.
	Details []string `json:"details,omitempty"`
}

// maxDetails bounds the distinct texts of a finding: a tool may fail with another text each time.
const maxDetails = 3

// Findings gathers what hit a group's cells, void reasons first.
func Findings(cells []Cell) []Finding {
	out := []Finding{}
	for _, c := range cells {
		for _, r := range c.Reasons {
			f := util.First(out, func(f *Finding) bool { return f.Code == r.Code && f.Weight == r.Weight && f.Subject == r.Subject })
			if f == nil {
				out = append(out, Finding{Code: r.Code, Weight: r.Weight, Scope: r.Scope, Subject: r.Subject, Least: r.Value, Most: r.Value, Limit: r.Limit})
				f = &out[len(out)-1]
			}
			f.Blocks = append(f.Blocks, c.Block)
			f.Least, f.Most = min(f.Least, r.Value), max(f.Most, r.Value)
			if r.Detail != "" && len(f.Details) < maxDetails && !slices.Contains(f.Details, r.Detail) {
				f.Details = append(f.Details, r.Detail)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Finding) int {
		return cmp.Compare(gravest(a.Weight), gravest(b.Weight))
	})
	return out
}

// gravest orders weights for people: what voids a cell comes first.
func gravest(w Validity) int {
	if w == Void {
		return 0
	}
	return 1
}
