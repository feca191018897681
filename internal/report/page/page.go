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

// Page is a report for people: how it came out, and its sections.
type Page struct {
	Lang, Title, Kicker, Run, When string
	Headline                       []Entry
	Badges                         []Badge
	ContentsTitle                  string
	// Sections are all that a page can have, in their order; it shows those that have data.
	Sections []Section
}

// Section is a part of a page under a heading of its own, and a line of the contents.
type Section struct {
	// ID is the section's name, in addresses and of its template.
	ID, Title string
	// Templates have one of the section's name, which is given the section. It prints nothing that can be seen where there is no data.
	Templates *template.Template
	// Data is what the template prints; nil where the page has no such section.
	Data any
}

//go:embed page.gohtml
var pageTemplates string

// StyleSheet is the look of a page: its colours in light and dark, text, tables and pictures.
//
//go:embed page.css
var StyleSheet string

// base holds what all pages and sections are made of, with the style sheet put in its place before parsing: all of it is ours, so that
// no value needs to be trusted. Its own text is the foot of a page.
var base = template.Must(template.New("foot").Parse(
	strings.Replace(pageTemplates, "/* style sheet */", StyleSheet, 1) + chart.Templates + table.Templates,
))

// Templates reads the templates of sections, which can use those of charts, tables and facts.
func Templates(text string) *template.Template {
	return template.Must(template.Must(base.Clone()).Parse(text))
}

// HTML prints the page as one file that needs nothing else.
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
	return out.Bytes(), nil
}

// Entry is one sentence of the headline, with what stands below it.
type Entry struct {
	// Tone is faster, slower, same or unknown.
	Title, Tone string
	Lines       []string
}

// Badge is one thing to know at a glance.
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

// Extra is the data of a section of leads and one table, and one more that is folded.
type Extra struct {
	Leads       []string
	Table       table.Table
	FoldedTitle string
	Folded      table.Table
}

// Detail is a table that is folded among all the data.
type Detail struct {
	Title, Lead string
	Table       table.Table
}
