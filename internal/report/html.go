package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"strings"

	"loadstone.dev/loadstone/internal/analysis"
)

//go:embed report.gohtml
var pageTemplate string

//go:embed report.css
var styleSheet string

// compiled is the page with the style sheet put in its place before parsing: both are ours, so that no value needs to be trusted.
var compiled = template.Must(template.New("report").Parse(strings.Replace(pageTemplate, "/* style sheet */", styleSheet, 1)))

// HTML prints the table for people, as one file that needs nothing else.
func HTML(t analysis.Table) ([]byte, error) {
	var out bytes.Buffer
	if err := compiled.Execute(&out, newView(t, english).page()); err != nil {
		return nil, fmt.Errorf("printing the report of run %s: %w", t.Run.Name, err)
	}
	return out.Bytes(), nil
}
