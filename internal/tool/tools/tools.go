// Package tools lists the load generators that Loadstone knows. A new one is a folder beside it and a line here.
package tools

import (
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/tool/ab"
	"loadstone.dev/loadstone/internal/tool/k6"
	"loadstone.dev/loadstone/internal/tool/vegeta"
	"loadstone.dev/loadstone/internal/tool/wrk"
)

// All are the tools by name. The users' scripts lie below the folder scripts.
func All(scripts string) map[record.Tool]tool.Tool {
	return map[record.Tool]tool.Tool{
		record.ToolWrk: wrk.Tool{Scripts: scripts}, record.ToolAb: ab.Tool{}, record.ToolK6: k6.Tool{Scripts: scripts}, record.ToolVegeta: vegeta.Tool{},
	}
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

// Traits are those of a tool; none if nobody knows it.
func Traits(name record.Tool) tool.Traits {
	if t, ok := known[name]; ok {
		return t.Traits()
	}
	return tool.Traits{}
}
