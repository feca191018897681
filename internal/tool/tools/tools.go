// Package tools lists the load generators that Loadstone knows. A new one is a folder beside it and a line here.
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

// All are the tools by name. The users' scripts lie below the folder scripts.
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

// known are the tools as those see them who start none.
var known = All("")

// Needs is what a generator needs for its share of a cell; nothing if nobody knows the tool.
func Needs(share record.Cell) tool.Needs {
	if t, ok := known[share.Tool]; ok {
		return t.Needs(share)
	}
	return tool.Needs{}
}

// Caveats are those of a cell's tool; none if nobody knows it.
func Caveats(cell record.Cell, tls bool) tool.Caveats {
	if t, ok := known[cell.Tool]; ok {
		return t.Caveats(cell, tls)
	}
	return tool.Caveats{}
}

// Check is what the tool of a load cannot do of it; nothing if nobody knows the tool.
func Check(l tool.Load) []tool.Refusal {
	if t, ok := known[l.Tool]; ok {
		return t.Check(l)
	}
	return nil
}

// Able are the tools that can make a load as it is, whatever tool it names, in the order of their names.
func Able(l tool.Load) []record.Tool {
	var able []record.Tool
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if l.Tool = name; len(Check(l)) == 0 {
			able = append(able, name)
		}
	}
	return able
}
