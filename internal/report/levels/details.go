package levels

import (
	"strings"

	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/table"
	"loadstone.dev/loadstone/internal/stats/inference"
)

func (v levels) spreadTable() table.Table {
	t := table.Table{Head: []table.Cell{
		v.Th("impl"), v.Th("quantity"), v.ThNum("n"), v.ThNum("mean"), v.ThNum("meansd"), v.ThNum("sd"), v.ThNum("min"), v.ThNum("most"),
	}}
	t.Head[5].Sub = "%"
	for _, l := range v.Table.Levels {
		s := v.body(l)
		for _, i := range v.Table.Implementations {
			s.Rows = append(s.Rows, v.spreadRows(*v.Table.Group(l.Point, i.Name), i)...)
		}
		t.Bodies = append(t.Bodies, s)
	}
	return t
}

func (v levels) spreadRows(g validity.Group, i planned.Implementation) []table.Row {
	kind := ""
	if g.LatencyKind != "" {
		kind = v.Say("latency.kind." + g.LatencyKind)
	}
	latency := v.Say("quantity.latency", kind)
	if g.MeanLatencyLow != nil {
		latency = v.Say("quantity.latency.high", kind)
	}
	var out []table.Row
	for _, q := range []struct {
		name  string
		of    *inference.Summary
		print func(float64) string
	}{
		{v.Say("quantity.throughput"), g.Throughput, format.Rate},
		{v.Say("quantity.latency.low", kind), g.MeanLatencyLow, format.Micros},
		{latency, g.MeanLatency, format.Micros},
		{v.Say("quantity.cpu"), g.CPUPerRequest, format.Micros},
		{v.Say("quantity.servercpu"), g.ServerCPUs, format.Digits},
		{v.Say("quantity.generatorcpu"), g.GeneratorCPUs, format.Digits},
		{v.Say("quantity.rss"), g.ServerRSS, format.Size},
		{v.Say("quantity.peak"), g.ServerPeakMemory, format.Size},
	} {
		if q.of == nil {
			continue
		}
		out = append(out, table.Row{Cells: []table.Cell{
			v.implementation(i), table.Word(q.name), table.Count(q.of.N), table.Num(q.print(q.of.Mean)), table.Num(format.OrMissing(q.of.StdDev, q.print)),
			table.Num(v.deviation(q.of)), table.Num(q.print(q.of.Min)), table.Num(q.print(q.of.Max)),
		}})
	}
	return out
}

func (v levels) rawTable() table.Table {
	t := table.Table{Head: []table.Cell{
		v.Th("impl"), v.ThNum("block"), v.ThNum("throughput"), v.ThNum("requests"), v.ThNum("cpu"), v.ThNum("servercpu"), v.ThNum("generatorcpu"),
		v.ThNum("latency"), v.ThNum("memory"), v.Th("validity"),
	}}
	t.Head[2].Sub = v.Say("unit.rate")
	for _, l := range v.Table.Levels {
		s := v.body(l)
		for _, i := range v.Table.Implementations {
			for _, c := range v.Table.Group(l.Point, i.Name).Cells {
				s.Rows = append(s.Rows, v.rawRow(c, i))
			}
		}
		t.Bodies = append(t.Bodies, s)
	}
	return t
}

func (v levels) rawRow(c validity.Cell, i planned.Implementation) table.Row {
	grade := table.Word(v.Say("Validity." + string(c.Validity)))
	if c.Validity != validity.Valid {
		grade.Tone = strings.ToLower(string(c.Validity))
	}
	name := table.Cell{Text: i.Name, Link: v.Beside(c.Raw)}
	if name.Link == "" {
		name.Sub = c.Trial
	}
	throughput := format.OrMissing(c.Throughput, format.Rate)
	if c.ThroughputIsBound {
		throughput = v.Say("atleast", throughput)
	}
	var codes []string
	for _, r := range c.Reasons {
		codes = append(codes, format.Apart(string(r.Code)))
	}
	grade.Sub = strings.Join(codes, ", ")
	return table.Row{Muted: c.Validity == validity.Void, Cells: []table.Cell{
		name,
		table.Count(c.Block),
		table.Num(throughput), table.Count(c.Requests), table.Num(format.OrMissing(c.CPUPerRequest, format.Micros)),
		table.Num(format.OrMissing(c.ServerCPUs, format.Digits)), table.Num(format.OrMissing(c.GeneratorCPUs, format.Digits)),
		table.Num(v.meanLatency(c)),
		table.Num(format.OrMissing(c.ServerRSS, format.Size)), grade,
	}}
}

func (v levels) meanLatency(c validity.Cell) string {
	if c.MeanLatency != nil && c.MeanLatencyLow != nil {
		return v.Between(*c.MeanLatencyLow, *c.MeanLatency)
	}
	return format.OrMissing(c.MeanLatency, format.Micros)
}
