package artifact

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/record"
)

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func TestAFolderIsMadeWithNothingInIt(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	f, err := OpenFolder("below/results")
	if err != nil {
		t.Fatal(err)
	}
	if got := f.URI("run/plan.json"); !filepath.IsAbs(got) || !strings.HasSuffix(got, "/below/results/run/plan.json") {
		t.Errorf("an object lies at %s", got)
	}
	if left := names(t, filepath.Join(dir, "below", "results")); len(left) > 0 {
		t.Errorf("it holds %v", left)
	}
	t.Chdir(t.TempDir())
	if _, err := f.Put(t.Context(), "run/plan.json", "application/json", []byte("{}")); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "below", "results", "run", "plan.json")); err != nil {
		t.Errorf("an object does not lie where its folder was opened: %v", err)
	}
	if _, err := OpenFolder(filepath.Join(dir, "below", "results")); err != nil {
		t.Errorf("opening a folder that is there ends with %v", err)
	}
}

func TestOnlyOneOfSeveralWritersPutsAnObject(t *testing.T) {
	const writers = 8
	for name, tc := range map[string]struct {
		body func(writer int) string
		wins int
	}{
		"if each has another content": {func(writer int) string { return fmt.Sprintf("content of %d", writer) }, 1},
		"or all, if it is the same":   {func(int) string { return "the content of all" }, writers},
	} {
		t.Run(name, func(t *testing.T) {
			f := folder(t)
			var all sync.WaitGroup
			put, errs := make([]record.Artifact, writers), make([]error, writers)
			for w := range writers {
				all.Go(func() {
					put[w], errs[w] = f.Put(t.Context(), "run/manifest.json", "application/json", []byte(tc.body(w)))
				})
			}
			all.Wait()
			wins := 0
			for w, err := range errs {
				switch {
				case err == nil:
					wins++
					if body, err := f.Get(t.Context(), put[w].Key, put[w].SHA256); err != nil || string(body) != tc.body(w) {
						t.Errorf("what writer %d has put is %q, %v", w, body, err)
					}
				case !errors.Is(err, ErrExists):
					t.Errorf("writer %d ends with %v", w, err)
				}
			}
			if wins != tc.wins {
				t.Errorf("%d writers have put it, want %d", wins, tc.wins)
			}
			if left := names(t, filepath.Dir(f.URI("run/manifest.json"))); !slices.Equal(left, []string{"manifest.json"}) {
				t.Errorf("beside it lie %v", left)
			}
		})
	}
}

func TestAnObjectMayBeReadByEverybodyAndIsWhole(t *testing.T) {
	f := folder(t)
	for name, body := range map[string]string{"empty": "", "some": "text", "bytes": "\x00\xff\n"} {
		a, err := f.Put(t.Context(), "run/"+name, "application/octet-stream", []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(f.URI(a.Key))
		if err != nil || info.Mode().Perm() != 0o644 || info.Size() != int64(len(body)) || a.Bytes != int64(len(body)) {
			t.Errorf("%s lies there as %v, %v, and is described as %+v", name, info, err, a)
		}
		if got, err := f.Get(t.Context(), a.Key, a.SHA256); err != nil || string(got) != body {
			t.Errorf("%s reads %q, %v", name, got, err)
		}
	}
}

func TestWhatIsInTheWayOfAnObjectIsToldAndStays(t *testing.T) {
	f := folder(t)
	if _, err := f.Put(t.Context(), "run/trials/a", "text/plain", []byte("a file")); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Put(t.Context(), "run/trials", "text/plain", []byte("a file")); err == nil || errors.Is(err, ErrExists) {
		t.Errorf("an object in the place of a folder ends with %v", err)
	}
	if _, err := f.Put(t.Context(), "run/trials/a/b", "text/plain", nil); !errors.Is(err, ErrNotWritable) || !Terminal(err) {
		t.Errorf("an object below another one ends with %v", err)
	}
	if _, err := f.Get(t.Context(), "run/trials", ""); err == nil {
		t.Error("a folder is read as an object")
	}
	if _, err := f.List(t.Context(), "run/trials/a"); err == nil {
		t.Error("an object is listed as a folder")
	}
	if got, err := f.Get(t.Context(), "run/trials/a", ""); err != nil || string(got) != "a file" {
		t.Errorf("the object reads %q, %v", got, err)
	}
	if left := names(t, f.URI("run")); !slices.Equal(left, []string{"trials"}) {
		t.Errorf("it leaves %v", left)
	}
}

// The file is sparse.
func TestAnObjectThatNobodyCanHaveWrittenIsNotReadIntoMemory(t *testing.T) {
	f := folder(t)
	path := filepath.Join(f.URI(""), "huge")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, MaxObject+1); err != nil {
		t.Skipf("this file system has no sparse files: %v", err)
	}
	if _, err := f.Get(t.Context(), "huge", ""); !errors.Is(err, ErrMalformed) || !Unreadable(err) {
		t.Errorf("it ends with %v", err)
	}
}

func TestAListingHoldsObjectsOnly(t *testing.T) {
	f := folder(t)
	at := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	for _, key := range []string{"m/a.json", "m/c.json", "m/b.json"} {
		if _, err := f.Put(t.Context(), key, "application/json", []byte(key)); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(f.URI(key), at, at); err != nil {
			t.Fatal(err)
		}
	}
	// A file being written, and a link to an object.
	if err := os.WriteFile(f.URI("m/.loadstone-1"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a.json", f.URI("m/link.json")); err != nil {
		t.Fatal(err)
	}
	got, err := f.List(t.Context(), "m")
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, o := range got {
		keys = append(keys, o.Key)
		if !o.Modified.Equal(at) {
			t.Errorf("%s was modified at %s, want %s", o.Key, o.Modified, at)
		}
	}
	// Objects of the same time are in descending name order.
	if want := []string{"m/c.json", "m/b.json", "m/a.json"}; !slices.Equal(keys, want) {
		t.Errorf("it lists %v, want %v", keys, want)
	}
}

func TestTheSystemsErrorsAreThoseOfAStore(t *testing.T) {
	f := folder(t)
	for name, tc := range map[string]struct {
		err, want error
		permanent bool
	}{
		"no such file":          {syscall.ENOENT, ErrNotFound, false},
		"no permission":         {syscall.EACCES, ErrNotWritable, true},
		"not permitted":         {syscall.EPERM, ErrNotWritable, true},
		"read-only":             {syscall.EROFS, ErrNotWritable, true},
		"below a file":          {syscall.ENOTDIR, ErrNotWritable, true},
		"a full disk":           {syscall.ENOSPC, ErrFull, true},
		"a quota that is spent": {syscall.EDQUOT, ErrFull, true},
		"any other error stays": {syscall.EIO, syscall.EIO, false},
	} {
		t.Run(name, func(t *testing.T) {
			got := f.explain("writing", "run/plan.json", &fs.PathError{Op: "open", Path: "a path", Err: tc.err})
			if !errors.Is(got, tc.want) || !strings.HasPrefix(got.Error(), "writing "+f.URI("run/plan.json")+": ") {
				t.Errorf("it is %v, want %v", got, tc.want)
			}
			if Terminal(got) != tc.permanent {
				t.Errorf("%v is terminal: %v", got, Terminal(got))
			}
		})
	}
}

func TestWhatCannotBeEncodedIsNotStored(t *testing.T) {
	f := folder(t)
	if _, err := f.PutJSON(t.Context(), "run/manifest.json", func() {}); err == nil || !strings.HasPrefix(err.Error(), "encoding run/manifest.json: ") {
		t.Errorf("it ends with %v", err)
	}
	if left := names(t, f.URI("")); len(left) > 0 {
		t.Errorf("it leaves %v", left)
	}
}
