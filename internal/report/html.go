package report

import (
	"fmt"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/page"
	"loadstone.dev/loadstone/internal/report/phrase"
	"loadstone.dev/loadstone/internal/report/view"
)

// HTML prints the table for people, as one file that needs nothing else.
func HTML(t analysis.Table) ([]byte, error) {
	out, err := pageOf(view.New(t, phrase.English)).HTML()
	if err != nil {
		return nil, fmt.Errorf("printing the report of run %s: %w", t.Run.Name, err)
	}
	return out, nil
}

// pageOf is the page of a table.
func pageOf(v *view.View) page.Page {
	r := v.Table.Run
	return page.Page{
		Lang: v.Say("lang"), Title: v.Say("title", r.Name), Kicker: v.Say("kicker"), Run: r.Namespace + "/" + r.Name,
		When:     v.Say("run.when", format.Instant(r.Started), format.Instant(r.Ended)),
		Headline: run{v}.headline(), Badges: run{v}.badges(),
		ContentsTitle: v.Say("contents.title"), Sections: sections(v),
	}
}
