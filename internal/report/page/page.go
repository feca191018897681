package page

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"strings"

	"loadstone.dev/loadstone/internal/report/chart"
	"loadstone.dev/loadstone/internal/report/table"
)

// Page is a report: headline and sections.
type Page struct {
	Lang, Title, Kicker, Run, When string
	Headline                       []Entry
	Badges                         []Badge
	ContentsTitle                  string
	// Sections are in order; those without data are not shown.
	Sections []Section
}

// Section is a part of a page with a heading and a line in the contents.
type Section struct {
	// ID names the section in addresses and its template.
	ID, Title string
	// Templates has the section's template. It prints nothing visible without data.
	Templates *template.Template
	Data      any
}

//go:embed page.gohtml
var pageTemplates string

// StyleSheet is the look of a page, light and dark.
//
//go:embed page.css
var StyleSheet string

// base has the common templates, with the style sheet inserted before parsing: it is ours, so no value needs to be
// trusted. Its own text is the foot of a page.
var base = template.Must(template.New("foot").Parse(
	strings.Replace(pageTemplates, "/* style sheet */", StyleSheet, 1) + chart.Templates + table.Templates,
))

// Templates parses section templates, which can use those of charts, tables and facts.
func Templates(text string) *template.Template {
	return template.Must(template.Must(base.Clone()).Parse(text))
}

// HTML prints the page as one self-contained file.
func (p Page) HTML() ([]byte, error) {
	var out bytes.Buffer
	if err := base.ExecuteTemplate(&out, "head", p); err != nil {
		return nil, fmt.Errorf("printing the head of a page: %w", err)
	}
	for _, s := range p.Sections {
		if err := s.Templates.ExecuteTemplate(&out, s.ID, s); err != nil {
			return nil, fmt.Errorf("printing the section %s: %w", s.ID, err)
		}
	}
	if err := base.Execute(&out, p); err != nil {
		return nil, fmt.Errorf("printing the foot of a page: %w", err)
	}
	return bytes.Clone(out.Bytes()), nil // Without the buffer's spare memory.
}

// Entry is one sentence of the headline, with lines below.
type Entry struct {
	// Tone is faster, slower, same or unknown.
	Title, Tone string
	Lines       []string
}

// Badge is a fact at a glance.
type Badge struct {
	Text string
	// Tone is good, care, bad or plain.
	Tone string
}

// Fact is a named value; Differs marks one that should not.
type Fact struct {
	Name    string
	Values  []string
	Differs string
}

// Extra is the data of a section with leads, a table and a folded table.
type Extra struct {
	Leads       []string
	Table       table.Table
	FoldedTitle string
	Folded      table.Table
}

// Detail is a folded table in the section of all data.
type Detail struct {
	Title, Lead string
	Table       table.Table
}
