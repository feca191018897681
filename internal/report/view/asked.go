package view

import (
	"slices"

	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/report/format"
)

// Mixes says of each load that sends a mix of requests that its numbers are of all of them.
func (v *View) Mixes() []string {
	var loads []string
	count := map[string]int{}
	for _, r := range v.Table.Requests {
		if !mixed(r) {
			continue
		}
		if !slices.Contains(loads, r.Load) {
			loads = append(loads, r.Load)
		}
		count[r.Load]++
	}
	var out []string
	for _, load := range loads {
		out = append(out, v.Say("mix.lead", load, format.Integer(count[load])))
	}
	return out
}

// Protocols says of each load that asks in HTTP/2 that it does, and what that means.
func (v *View) Protocols() []string {
	var loads, out []string
	for _, l := range v.Table.Levels {
		if l.Protocol == record.HTTP2 {
			loads = append(loads, l.Load)
		}
	}
	for _, r := range v.Table.Requests {
		if r.Protocol == record.HTTP2 {
			loads = append(loads, r.Load)
		}
	}
	for i, load := range loads {
		if !slices.Contains(loads[:i], load) {
			out = append(out, v.Say("http2.lead", load))
		}
	}
	return out
}

// mixed reports whether a request is one of several of its load.
func mixed(r planned.Request) bool { return r.Share > 0 }
