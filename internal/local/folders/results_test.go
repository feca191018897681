package folders

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func write(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRunsAreFoundBelowAFolder(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, map[string]string{
		"cut/plan.json":                   "{}",
		"whole/plan.json":                 "{}",
		"whole/manifest.json":             `{"run":{"name":"mine"},"trials":[{},{}]}`,
		"whole/reports/0a/report.json":    `{"verdict":"an older one"}`,
		"whole/reports/1b/report.json":    `{"verdict":"new is better"}`,
		"unread/plan.json":                "{}",
		"unread/manifest.json":            "{",
		"notes/readme.txt":                "no run",
		"unreported/plan.json":            "{}",
		"unreported/manifest.json":        `{"run":{"name":"early"},"trials":[{}]}`,
		"unreported/reports/2c/other.txt": "",
	})
	if err := os.Chtimes(filepath.Join(folder, "whole/reports/0a/report.json"), time.Time{}, time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	runs, err := List(folder)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range runs {
		got = append(got, strings.Join([]string{filepath.Base(r.Folder), r.Name, map[bool]string{true: "ended"}[r.Ended], r.Verdict}, ":"))
	}
	slices.Sort(got)
	want := []string{"cut:cut::", "unread:unread::", "unreported:early:ended:", "whole:mine:ended:new is better"}
	if !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
	if runs, err := List(filepath.Join(folder, "nowhere")); err != nil || runs != nil {
		t.Errorf("a folder that is not there holds %v, %v", runs, err)
	}
}

func TestAPathThatHoldsNoRunIsRefusedWithAReason(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, map[string]string{"cut/plan.json": "{}", "whole/manifest.json": "{}"})
	for name, tc := range map[string]struct {
		of   string
		path bool
		want string
	}{
		"a run":                         {"whole", true, ""},
		"a folder of a run that broke":  {"cut", false, "holds no manifest.json: the run was interrupted, or is none"},
		"a path that leads nowhere":     {"nowhere", true, "there is no run in"},
		"what may be a name on cluster": {"nowhere", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := Check(filepath.Join(folder, tc.of), tc.path)
			if (err != nil) != (tc.want != "") || err != nil && (!errors.Is(err, ErrNone) || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestAFolderWithoutAReportSaysHowToMakeOne(t *testing.T) {
	folder := t.TempDir()
	if _, err := Report(t.Context(), folder, false); err == nil || !strings.Contains(err.Error(), "--again makes one") {
		t.Errorf("got %v", err)
	}
	write(t, folder, map[string]string{"reports/1b/report.html": "<html>"})
	if page, err := Report(t.Context(), folder, false); err != nil || filepath.Base(page) != "report.html" {
		t.Errorf("got %s, %v", page, err)
	}
}
