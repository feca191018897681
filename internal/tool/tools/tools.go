// Package tools lists the known load generators. A new one is a folder next to this and a line here.
package tools

import (
	"maps"
	"slices"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/tool/ab"
	"loadstone.dev/loadstone/internal/tool/h2load"
	"loadstone.dev/loadstone/internal/tool/k6"
	"loadstone.dev/loadstone/internal/tool/vegeta"
	"loadstone.dev/loadstone/internal/tool/wrk"
)

// All returns the tools by name. Users' scripts lie below the folder scripts.
func All(scripts string) map[record.Tool]tool.Tool {
	all := map[record.Tool]tool.Tool{}
	for _, t := range []tool.Tool{
		ab.Tool{},
		h2load.Tool{},
		k6.Tool{Scripts: scripts},
		vegeta.Tool{},
		wrk.Tool{Scripts: scripts},
	} {
		all[t.Name()] = t
	}
	return all
}

// known is for callers that start no tool.
var known = All("")

// Needs returns a generator's needs for its share of a cell; zero for an unknown tool.
func Needs(share record.Cell) tool.Needs {
	if t, ok := known[share.Tool]; ok {
		return t.Needs(share)
	}
	return tool.Needs{}
}

// Caveats returns those of a cell's tool; zero for an unknown tool.
func Caveats(cell record.Cell, tls bool) tool.Caveats {
	if t, ok := known[cell.Tool]; ok {
		return t.Caveats(cell, tls)
	}
	return tool.Caveats{}
}

// Check returns what a load's tool cannot do; nothing for an unknown tool.
func Check(l tool.Load) []tool.Refusal {
	if t, ok := known[l.Tool]; ok {
		return t.Check(l)
	}
	return nil
}

// Able returns the tools that can make a load, whatever tool it names, sorted by name.
func Able(l tool.Load) []record.Tool {
	var able []record.Tool
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if l.Tool = name; len(Check(l)) == 0 {
			able = append(able, name)
		}
	}
	return able
}
