package view

import (
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/table"
)

func (v *View) finding(f validity.Finding) string {
	subject := v.Say("finding.server")
	switch {
	case f.Subject == measured.SubjectServer:
	case v.manyGenerators() && f.Subject != "" && f.Subject != measured.SubjectGenerator:
		subject = f.Subject
	default:
		subject = v.Say("finding.generator")
	}
	details := ""
	if len(f.Details) > 0 {
		details = ": " + strings.Join(f.Details, "; ")
	}
	extent := func(print func(float64) string) string {
		if f.Least == f.Most {
			return print(f.Most)
		}
		return v.Say("range", print(f.Least), print(f.Most))
	}
	return strings.NewReplacer(
		"{subject}", subject, "{details}", details, "{share}", extent(format.Percent), "{value}", extent(format.Digits),
		"{limit}", format.PlainPercent(f.Limit), "{bound}", format.Plain(f.Limit), "{count}", format.Integer(int64(f.Most)),
	).Replace(v.Say("finding." + string(f.Code)))
}

func (v *View) hits(f validity.Finding, cells int) string {
	if len(f.Blocks) == cells && cells > 1 {
		return v.Say("hit.all")
	}
	var blocks []string
	for _, b := range f.Blocks {
		blocks = append(blocks, format.Integer(b))
	}
	return v.Count("hit.some", len(f.Blocks), strings.Join(blocks, ", "))
}

// Notes returns a group's findings in words.
func (v *View) Notes(g validity.Group) []table.Note {
	if v.Level(g.Point).StreamsPerConnection > 1 {
		of := *v
		of.Language = v.OfStreams()
		v = &of
	}
	return v.NotesOf(g.Findings, len(g.Cells))
}

// NotesOf returns findings in words, for this number of cells or trials.
func (v *View) NotesOf(findings []validity.Finding, of int) []table.Note {
	var out []table.Note
	for _, f := range findings {
		n := table.Note{Weight: v.Say("Validity." + string(f.Weight)), Where: v.hits(f, of), Text: v.finding(f), Tone: "suspect"}
		if f.Scope != validity.ScopeCell {
			n.Scope = v.Say("scope." + string(f.Scope))
		}
		if f.Weight == validity.Void {
			n.Tone = "void"
		}
		n.Code = string(f.Code)
		out = append(out, n)
	}
	return out
}

func (v *View) manyGenerators() bool {
	return slices.ContainsFunc(v.Table.Levels, func(l planned.Level) bool { return l.Generators > 1 })
}
