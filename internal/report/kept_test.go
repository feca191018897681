package report_test

import (
	"archive/zip"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/report"
	"loadstone.dev/loadstone/internal/store/artifact"
)

// testdata/records-v2.zip holds unchanged records by `loadstone run` at version a11ec9a: a sweep of two servers with
// a profile after its blocks, and two programs that measure themselves. Later readers of schema v2 must report the
// same.
func TestRecordsOfAnEarlierVersionAreReadAndSayWhatTheySaid(t *testing.T) {
	folder, err := artifact.OpenFolder(unzipped(t, filepath.Join("testdata", "records-v2.zip")))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]struct {
		line  string
		check func(t *testing.T, table analysis.Table)
	}{
		"sweep": {
			"c uses 54.2 % less CPU time per request than go (99 % interval -62.7 % to -43.8 %, 7 blocks); " +
				"c has at least 85.2 % higher throughput than go (99 % interval >= +41.7 %)",
			func(t *testing.T, table analysis.Table) {
				t.Helper()
				if len(table.Groups) != 2 || len(table.Profiles) != 1 || table.Profiles[0].Found[0].Missing != "" || table.Profiles[0].Found[0].Launches == 0 {
					t.Errorf("it has the groups %+v and the profiles %+v", table.Groups, table.Profiles)
				}
			},
		},
		"cases": {
			"stackful against stackless, of 2 cases: 2 better, 0 worse, 0 practically equivalent, 0 inconclusive; most in call_depth/depth:16: -86.9 % Time (-89.2 % to -84.2 %)",
			func(t *testing.T, table analysis.Table) {
				t.Helper()
				if len(table.Cases) == 0 || len(table.Groups) != 0 {
					t.Errorf("it has the cases %+v and the groups %+v", table.Cases, table.Groups)
				}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := folder.Load(t.Context(), name, "")
			if err != nil {
				t.Fatal(err)
			}
			if d.Lost != "" || d.Manifest.Schema != record.RunManifestSchema {
				t.Errorf("of schema %q, what is lost: %q", d.Manifest.Schema, d.Lost)
			}
			table := analyse(t, d)
			if got := report.Line(table.Headline()); got != want.line {
				t.Errorf("it says\n%q, want\n%q", got, want.line)
			}
			want.check(t, table)
			if page := html(t, d); !strings.Contains(string(page), "</html>") {
				t.Error("it has no page")
			}
		})
	}
}

func unzipped(t *testing.T, file string) string {
	t.Helper()
	archive, err := zip.OpenReader(file)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := errors.Join(os.CopyFS(dir, archive), archive.Close()); err != nil {
		t.Fatal(err)
	}
	return dir
}
