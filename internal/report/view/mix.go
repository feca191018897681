package view

import (
	"slices"

	"loadstone.dev/loadstone/internal/planned"
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

// mixed reports whether a request is one of several of its load.
func mixed(r planned.Request) bool { return r.Share > 0 }
