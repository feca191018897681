package folders

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"loadstone.dev/loadstone/internal/store/artifact"
)

func TestAStateThatCannotBeReadIsNotTakenForNone(t *testing.T) {
	for name, text := range map[string]string{"half of it": `{"schema": "loads`, "of another shape": `{"schema": "loadstone.dev/local-state/v99"}`} {
		dir := t.TempDir()
		write(t, dir, map[string]string{stateFile: text})
		if s, err := Read(dir); err == nil {
			t.Errorf("%s is read as %+v", name, s)
		}
	}
	if s, err := Read(t.TempDir()); s != nil || err != nil {
		t.Errorf("in an empty folder there is %+v, %v", s, err)
	}
}

func TestTheNewestFolderOfARunIsFound(t *testing.T) {
	results := t.TempDir()
	for _, folder := range []string{"quick-20260314-120000", "quick-20260314-120001", "quick-of-mine", "quick-more-20270101-000000", "other-20270101-000000"} {
		if err := os.Mkdir(filepath.Join(results, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, results, map[string]string{"quick-20280101-000000": "no folder"})
	for name, tc := range map[string]struct{ results, name, want string }{
		"the later of two":           {results, "quick", filepath.Join(results, "quick-20260314-120001")},
		"a name that another begins": {results, "quick-more", filepath.Join(results, "quick-more-20270101-000000")},
		"no run of that name":        {results, "slow", ""},
		"no folder of results":       {filepath.Join(results, "below"), "quick", ""},
	} {
		if got, err := Newest(tc.results, tc.name); got != tc.want || err != nil {
			t.Errorf("%s: it is %q, %v; want %q", name, got, err, tc.want)
		}
	}
}

func TestOnlyWhatAKilledProcessWasWritingIsRemoved(t *testing.T) {
	folder, err := artifact.OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := folder.Put(t.Context(), "results/trials/a/manifest.json", "", []byte("{}")); err != nil {
		t.Fatal(err)
	}
	write(t, folder.URI("results/trials/a"), map[string]string{temporary + "123": "half"})
	left := folder.URI("results/trials/a/" + temporary + "123")
	if err := RemoveTemporary(folder.URI("results")); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("half a file is left: %v", err)
	}
	if _, err := folder.Get(t.Context(), "results/trials/a/manifest.json", ""); err != nil {
		t.Error(err)
	}
}
