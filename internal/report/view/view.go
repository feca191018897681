package view

import (
	"net/url"
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/report/chart"
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/phrase"
	"loadstone.dev/loadstone/internal/report/table"
	"loadstone.dev/loadstone/internal/stats/inference"
)

// View is a table with what all its sections share: words, names of levels, looks.
type View struct {
	phrase.Lexicon
	Table analysis.Table
	Looks map[string]chart.Look
}

// New returns a view in a lexicon's words. Contenders get looks in spec order, references their own.
func New(t analysis.Table, l phrase.Lexicon) *View {
	if t.Run.WholeTrials {
		l.Language = l.OfPrograms()
	}
	v := &View{Lexicon: l, Table: t, Looks: map[string]chart.Look{}}
	next := 0
	for _, i := range t.Implementations {
		reference := i.Role == record.RoleReference
		v.Looks[i.Name] = chart.LookOf(next, reference)
		if !reference {
			next++
		}
	}
	return v
}

// Confidence returns that of the intervals.
func (v *View) Confidence() string { return format.PlainPercent(v.Table.Rules.Confidence) }

// Level returns the level at a point; empty if there is none.
func (v *View) Level(p record.Point) planned.Level {
	if l := slices.IndexFunc(v.Table.Levels, func(l planned.Level) bool { return l.Point == p }); l >= 0 {
		return v.Table.Levels[l]
	}
	return planned.Level{}
}

// PointName names a level within its load.
func (v *View) PointName(p record.Point) string {
	name, l := v.Count("connections", int(p.Connections)), v.Level(p)
	if l.StreamsPerConnection > 1 {
		name = v.Say("level.streams", name, format.Integer(l.StreamsPerConnection))
	}
	switch {
	case p.RequestsPerSecond > 0 && l.RampToRequestsPerSecond > 0:
		return v.Say("level.ramp", name, format.Integer(p.RequestsPerSecond), format.Integer(l.RampToRequestsPerSecond))
	case p.RequestsPerSecond > 0:
		return v.Say("level.rate", name, format.Integer(p.RequestsPerSecond))
	}
	return name
}

// Legend shows how implementations are drawn.
func (v *View) Legend(of []planned.Implementation) []chart.Legend {
	var out []chart.Legend
	for _, i := range of {
		l := chart.Legend{Name: i.Name, Look: v.Looks[i.Name]}
		switch {
		case i.Role == record.RoleReference:
			l.Note = v.Say("legend.reference")
		case i.Baseline && len(v.Table.Comparisons) > 0:
			l.Note = v.Say("legend.baseline")
		}
		out = append(out, l)
	}
	return out
}

// Drawn returns the implementations that set a picture's scale: the contenders, or all if there are none.
func (v *View) Drawn() []planned.Implementation {
	out := slices.DeleteFunc(slices.Clone(v.Table.Implementations), func(i planned.Implementation) bool { return i.Role == record.RoleReference })
	if len(out) == 0 {
		return v.Table.Implementations
	}
	return out
}

// ReferencesDrawn returns the implementations that do not set the scale.
func (v *View) ReferencesDrawn() []planned.Implementation {
	return slices.DeleteFunc(slices.Clone(v.Table.Implementations), func(i planned.Implementation) bool {
		return slices.ContainsFunc(v.Drawn(), func(d planned.Implementation) bool { return d.Name == i.Name })
	})
}

// LevelName names a level with its load.
func (v *View) LevelName(p record.Point) string { return v.Say("forest.level", p.Load, v.PointName(p)) }

// Th heads a column of words.
func (v *View) Th(key string) table.Cell { return table.Word(v.Say("th." + key)) }

// ThInterval heads a column of intervals.
func (v *View) ThInterval() table.Cell { return table.Num(v.Say("th.interval", v.Confidence())) }

// ThNum heads a column of numbers.
func (v *View) ThNum(key string) table.Cell { return table.Num(v.Say("th." + key)) }

// Limits prints an interval, which may have an open end.
func (v *View) Limits(low, high *float64, print func(float64) string) string {
	switch {
	case low != nil && high != nil:
		return v.Say("range", print(*low), print(*high))
	case low != nil:
		return v.Say("atleast", print(*low))
	case high != nil:
		return v.Say("atmost", print(*high))
	}
	return format.Missing
}

// Mean prints a mean, if there is one.
func (v *View) Mean(s *inference.Summary, print func(float64) string) string {
	if s == nil {
		return format.Missing
	}
	return print(s.Mean)
}

// Beside returns an object's address relative to the report, which lies two folders below its run; empty if the key
// is outside the run's folder. It works in the bucket and in a copy of the folder.
func (v *View) Beside(key string) string {
	parts := strings.Split(v.BelowRun(key), "/")
	for i, part := range parts {
		if part == "" || part == "." || part == ".." {
			return ""
		}
		parts[i] = url.PathEscape(part)
	}
	return "../../" + strings.Join(parts, "/")
}

// BelowRun returns the part of a key below the run's folder; empty if it is outside. For a run on one machine, the
// folder is the first part of the key, whatever its name.
func (v *View) BelowRun(key string) string {
	r := v.Table.Run
	_, rest, found := strings.Cut("/"+key, "/"+r.Namespace+"/"+r.Name+"-"+r.UID[:min(8, len(r.UID))]+"/")
	if !found && r.Namespace == record.LocalNamespace {
		_, rest, _ = strings.Cut(key, "/")
	}
	return rest
}

// Mixes notes, for each load with a mix, that its numbers are of all its requests.
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

// Protocols notes each load in HTTP/2, and what that means.
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

func mixed(r planned.Request) bool { return r.Share > 0 }
