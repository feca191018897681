package artifact

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func folder(t *testing.T) *Folder {
	t.Helper()
	f, err := OpenFolder(filepath.Join(t.TempDir(), "results"))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestAFolderHoldsWhatWasPutThereOnce(t *testing.T) {
	f := folder(t)
	first, err := f.Put(t.Context(), "run/trials/a.txt", "text/plain", []byte("answer"))
	if err != nil {
		t.Fatal(err)
	}
	again, err := f.Put(t.Context(), "run/trials/a.txt", "text/plain", []byte("answer"))
	if err != nil || again != first {
		t.Errorf("the same content again is %+v with %v, not %+v", again, err, first)
	}
	if _, err := f.Put(t.Context(), "run/trials/a.txt", "text/plain", []byte("another")); !errors.Is(err, ErrExists) || !Terminal(err) {
		t.Errorf("another content ends with %v", err)
	}
	body, err := f.Get(t.Context(), first.Key, first.SHA256)
	if err != nil || string(body) != "answer" {
		t.Errorf("it reads %q with %v", body, err)
	}
	entries, err := os.ReadDir(filepath.Dir(f.URI(first.Key)))
	if err != nil || len(entries) != 1 {
		t.Errorf("beside the object lie %v, %v", entries, err)
	}
}

func TestAFolderChecksDigests(t *testing.T) {
	f := folder(t)
	a, err := f.PutJSON(t.Context(), "manifest.json", map[string]int{"blocks": 7})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(f.URI(a.Key), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Get(t.Context(), a.Key, a.SHA256); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a changed object ends with %v", err)
	}
	if _, err := f.Get(t.Context(), "nothing", ""); !errors.Is(err, ErrNotFound) {
		t.Errorf("a missing object ends with %v", err)
	}
	if _, err := f.Load(t.Context(), "no-run", ""); !errors.Is(err, ErrNotFound) {
		t.Errorf("a missing run ends with %v", err)
	}
}

func TestAKeyDoesNotLeadOutOfItsFolder(t *testing.T) {
	f := folder(t)
	for _, key := range []string{"../outside", "/etc/passwd", "run/../../outside"} {
		if _, err := f.Put(t.Context(), key, "text/plain", nil); err == nil {
			t.Errorf("%s was written", key)
		}
		if _, err := f.Get(t.Context(), key, ""); !errors.Is(err, ErrNotFound) {
			t.Errorf("reading %s ends with %v", key, err)
		}
	}
}

func TestAFolderListsTheNewestFirst(t *testing.T) {
	f := folder(t)
	for i, key := range []string{"calibrations/m/old.json", "calibrations/m/new.json", "calibrations/m/below/other.json"} {
		a, err := f.Put(t.Context(), key, "application/json", []byte(key))
		if err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(time.Duration(i) * time.Minute)
		if err := os.Chtimes(f.URI(a.Key), at, at); err != nil {
			t.Fatal(err)
		}
	}
	got, err := f.List(t.Context(), "calibrations/m")
	if err != nil || len(got) != 2 || got[0].Key != "calibrations/m/new.json" || got[1].Key != "calibrations/m/old.json" {
		t.Errorf("it lists %+v, %v", got, err)
	}
	if got, err := f.List(t.Context(), "calibrations/none"); err != nil || len(got) != 0 {
		t.Errorf("of a folder that is not there it lists %+v, %v", got, err)
	}
}

func TestAFolderThatCannotBeMadeSaysSo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenFolder(filepath.Join(file, "results")); !errors.Is(err, ErrNotWritable) {
		t.Errorf("a folder below a file ends with %v", err)
	}
}
