package report_test

import (
	"os"
	"testing"

	"loadstone.dev/loadstone/internal/report"
	"loadstone.dev/loadstone/internal/stats"
	"loadstone.dev/loadstone/internal/stats/statstest"
)

func TestSmoke(t *testing.T) {
	tab, err := stats.Analyse(statstest.Run(statstest.Duel(10)))
	if err != nil {
		t.Fatal(err)
	}
	h, err := report.HTML(tab)
	if err != nil {
		t.Fatal(err)
	}
	os.WriteFile("/tmp/r10.html", h, 0o644)
	j, err := report.JSON(tab)
	if err != nil {
		t.Fatal(err)
	}
	os.WriteFile("/tmp/r10.json", j, 0o644)
	t.Log(report.Line(tab.Headline()), len(h), len(j))
}
