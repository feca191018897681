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

// Frame is common to all pages.
type Frame struct {
	Cluster string
	// Namespace restricts the objects shown; empty for all.
	Namespace string
	// Asked is true if the user chose it, false if permissions require it.
	Asked bool
	// Shared: the pages use a service account and have no login. Led are the namespaces that they show then; none means all.
	Shared bool
	Led    []string
	// Partial: runs of some of these namespaces cannot be read.
	Partial bool
	Trouble string
	Now     time.Time
}

// Sees lists the namespaces of shared pages as text.
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
	Title string
	// Stream is the path of change events; empty for a static page.
	Stream string
	Data   any

	// section is the path of the page's part of the site; body names its template.
	section, body string
}

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

// StyleSheet returns the reports' styles and the pages' own.
func StyleSheet() string { return page.StyleSheet + ownStyle }

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

type part struct {
	Name, Path string
	Current    bool
}

// Parts returns those of the site.
func (p Page) Parts() []part {
	all := []part{{Name: "Queue", Path: QueuePath}, {Name: "Runs", Path: RunsPath}, {Name: "Suites", Path: SuitesPath}, {Name: "Noise", Path: NoisePath}}
	for i := range all {
		all[i].Current = all[i].Path == p.section
	}
	return all
}

// Clock is when the page was made.
func (p Page) Clock() string { return p.Now.UTC().Format("15:04:05 UTC") }

type moment struct {
	// ISO is for programs, Text for people, and Age relative to now.
	ISO, Text, Age string
}

// momentOf returns nil for the zero time.
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

type link struct{ Text, Path string }

type fact struct {
	Name string
	Text string
	Path string
	When *moment
}

// Trouble is an error page.
func Trouble(f Frame, title, sentence string) Page {
	return Page{Frame: f, Title: title, Stream: EventsPath, Data: sentence, body: "trouble"}
}
