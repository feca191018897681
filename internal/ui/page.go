package ui

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"loadstone.dev/loadstone/internal/report/chart"
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/page"
)

// Frame is what all pages have in common.
type Frame struct {
	// Cluster names the cluster.
	Cluster string
	// Namespace is the only one whose objects are shown; empty if those of all namespaces are.
	Namespace string
	// Asked is true if that one was asked for, and false if no more may be listed.
	Asked bool
	// Shared is true if the pages are shown to whoever reaches them, by the rights of an account of their own. Led are the namespaces that they show
	// then; none are all.
	Shared bool
	Led    []string
	// Partial is true if the runs of some of these namespaces cannot be read.
	Partial bool
	// Trouble says why what is shown may be old; empty if the cluster answers.
	Trouble string
	// Now is when the page is made.
	Now time.Time
}

// Sees are the namespaces that shared pages show, in words.
func (f Frame) Sees() string {
	last := len(f.Led) - 1
	switch {
	case last < 0:
		return "all namespaces"
	case last == 0:
		return "namespace " + f.Led[0]
	}
	return "the namespaces " + strings.Join(f.Led[:last], ", ") + " and " + f.Led[last]
}

// Page is a page of loadstone ui.
type Page struct {
	Frame
	// Title names the page among others.
	Title string
	// Stream is where the page hears that something has changed; empty of a page that stays as it is.
	Stream string
	// Data is what the template of the page prints.
	Data any

	// section is the path of the part of the site to which the page belongs, and body the name of its template.
	section, body string
}

// The parts of the site, and where what the pages need lies.
const (
	QueuePath  = "/"
	RunsPath   = "/runs"
	SuitesPath = "/suites"
	NoisePath  = "/noise"
	EventsPath = "/events"
	StylePath  = "/style.css"
	ScriptPath = "/live.js"
	IconPath   = "/icon.svg"
)

var (
	//go:embed pages.gohtml
	pageTemplates string
	//go:embed ui.css
	ownStyle string

	// Script keeps a page as the cluster is, without which it stays as it was made.
	//
	//go:embed live.js
	Script string
	// Icon is the picture of the site.
	//
	//go:embed icon.svg
	Icon string
)

// StyleSheet is the look of the pages: that of reports, and what reports do not have.
func StyleSheet() string { return page.StyleSheet + ownStyle }

// bodies are the templates of pages, by the name of what stands in them.
var bodies = func() map[string]*template.Template {
	base := template.Must(template.New("").Parse(pageTemplates + chart.Templates))
	all := map[string]*template.Template{}
	for _, name := range []string{"queue", "runs", "run", "suites", "suite", "noise", "trouble"} {
		after := ""
		if name == "run" {
			after = `{{template "report" .}}`
		}
		text := `{{define "body"}}{{template "` + name + `" .}}{{end}}{{define "after"}}` + after + `{{end}}`
		all[name] = template.Must(template.Must(base.Clone()).Parse(text))
	}
	return all
}()

// HTML prints the page.
func (p Page) HTML() ([]byte, error) {
	var out bytes.Buffer
	if err := bodies[p.body].ExecuteTemplate(&out, "page", p); err != nil {
		return nil, fmt.Errorf("printing the page %s: %w", p.Title, err)
	}
	return out.Bytes(), nil
}

// part is a part of the site, as the navigation shows it.
type part struct {
	Name, Path string
	Current    bool
}

// Parts are those of the site.
func (p Page) Parts() []part {
	all := []part{{Name: "Queue", Path: QueuePath}, {Name: "Runs", Path: RunsPath}, {Name: "Suites", Path: SuitesPath}, {Name: "Noise", Path: NoisePath}}
	for i := range all {
		all[i].Current = all[i].Path == p.section
	}
	return all
}

// Clock is when the page was made.
func (p Page) Clock() string { return p.Now.UTC().Format("15:04:05 UTC") }

// moment is an instant as pages show it.
type moment struct {
	// ISO is for programs, Text for people, and Age how long ago it is, or how long from now.
	ISO, Text, Age string
}

// momentOf is an instant, seen from now. The zero time is none.
func momentOf(t, now time.Time) *moment {
	if t.IsZero() {
		return nil
	}
	m := moment{ISO: t.UTC().Format(time.RFC3339), Text: format.Instant(t)}
	switch d := now.Sub(t); {
	case d < 0:
		m.Age = "in " + duration.HumanDuration(-d)
	default:
		m.Age = duration.HumanDuration(d) + " ago"
	}
	return &m
}

// link is a text that leads somewhere.
type link struct{ Text, Path string }

// fact is a named value of an object: a text, a link or an instant.
type fact struct {
	Name string
	Text string
	Path string
	When *moment
}

// Trouble stands for a page that cannot be shown, and says why.
func Trouble(f Frame, title, sentence string) Page {
	return Page{Frame: f, Title: title, Stream: EventsPath, Data: sentence, body: "trouble"}
}
