package profiles

import (
	"path"
	"strconv"
	"strings"

	"loadstone.dev/loadstone/internal/profiler/massif"
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/table"
)

const (
	// leastHeld is the share of the peak below which a place is left out of a tree.
	leastHeld = 0.01
	// treeLines bounds the lines of a tree: the file has all.
	treeLines = 60
	// indent begins a line of a tree, once for each place above it.
	indent = "\u00a0\u00a0"
)

// heap shows what held the memory at its peak, as a tree from the places that asked for it to those that led there.
func (v profiles) heap(name string, m massif.Result, pages bool) part {
	peak := m.Peak()
	if peak == nil || peak.Tree == nil {
		return part{}
	}
	title := v.Say("profiles.peak."+kindOf(pages), name)
	t := table.Table{Head: []table.Cell{v.th("function"), table.Num(v.Say("profiles.held")), table.Num(v.Say("profiles.share")), v.th("where")}}
	var body table.Body
	for _, b := range peak.Tree.Branches(leastHeld, treeLines) {
		body.Rows = append(body.Rows, v.branch(b))
	}
	if len(body.Rows) == 0 {
		return part{}
	}
	t.Bodies = append(t.Bodies, body)
	leads := []string{v.Say("profiles.treeLead")}
	if stacks := m.PeakStacks(); stacks > 0 {
		leads = append([]string{v.Say("profiles.stacks", size(peak.HeapBytes), size(peak.ExtraBytes), size(peak.StackBytes), size(stacks))}, leads...)
	}
	return part{Title: title, Leads: leads, Table: t.Finish(title, false)}
}

// branch is a line of a tree: a place, or those that are left out.
func (v profiles) branch(b massif.Branch) table.Row {
	row := table.Row{Cells: []table.Cell{{Mono: true, Wrap: true}, table.Num(size(b.Bytes)), table.Num(format.Percent(b.Share)), {}}}
	switch {
	case b.Cut == 0:
		row.Cells[0].Text, row.Cells[3] = b.Function, table.Wrapped(placeOf(b.Node), "")
	case b.Full:
		row.Muted, row.Cells[0].Text = true, v.Count("profiles.full", b.Cut)
	default:
		row.Muted, row.Cells[0].Text = true, v.Count("profiles.small", b.Cut)
	}
	row.Cells[0].Text = strings.Repeat(indent, b.Depth) + row.Cells[0].Text
	return row
}

// placeOf is the line of a node, or the object that holds it.
func placeOf(n massif.Node) string {
	if n.File == "" {
		return ""
	}
	if n.Line == 0 {
		return path.Base(n.File)
	}
	return path.Base(n.File) + ":" + strconv.Itoa(n.Line)
}

func size(bytes int64) string { return format.Size(float64(bytes)) }
