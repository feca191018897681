package folders

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/report"
	"loadstone.dev/loadstone/internal/run/publish"
	"loadstone.dev/loadstone/internal/store/artifact"
)

// ErrNone: a folder holds no complete run.
var ErrNone = errors.New("no whole run")

type none string

func (n none) Error() string        { return string(n) }
func (n none) Is(target error) bool { return target == ErrNone }

// Run summarizes a run's folder.
type Run struct {
	// Name is the run's, or its folder's if it was interrupted.
	Name   string
	Folder string
	Begun  time.Time
	// Ended is false for an interrupted run.
	Ended  bool
	Trials int
	// Verdict is the newest report's; empty without one.
	Verdict string
}

// List finds the runs below a folder, in any order. A missing folder has none.
func List(folder string) ([]Run, error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing results: %w", err)
	}
	var out []Run
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		info, err := os.Stat(artifact.PlanKey(path))
		if err != nil {
			continue // It is no run.
		}
		one := Run{Name: e.Name(), Folder: path, Begun: info.ModTime()}
		var m record.RunManifest
		if text, err := os.ReadFile(artifact.ManifestKey(path)); err == nil && json.Unmarshal(text, &m) == nil {
			one.Name, one.Ended, one.Trials, one.Verdict = m.Run.Name, true, len(m.Trials), verdict(path)
		}
		out = append(out, one)
	}
	return out, nil
}

// Holds reports whether a folder holds a run's record.
func Holds(folder string) bool {
	_, err := os.Stat(artifact.ManifestKey(folder))
	return err == nil
}

// Check refuses a folder without a run's record, and a path that leads to none; nil if the name may mean something else.
func Check(name string, path bool) error {
	if info, err := os.Stat(name); err == nil && info.IsDir() && !Holds(name) {
		return none(fmt.Sprintf("the folder %s holds no manifest.json: the run was interrupted, or is none", name))
	}
	if path && !Holds(name) {
		return none(fmt.Sprintf("there is no run in %s: name the folder of a run, or a run on the cluster", name))
	}
	return nil
}

// Load reads the records of a run.
func Load(ctx context.Context, folder string) (record.RunData, error) {
	whole, err := filepath.Abs(folder)
	if err != nil {
		return record.RunData{}, fmt.Errorf("naming the folder %s: %w", folder, err)
	}
	data, err := artifact.ReadFolder(filepath.Dir(whole)).Load(ctx, filepath.Base(whole), "")
	if errors.Is(err, artifact.ErrNotFound) || errors.Is(err, artifact.ErrForeign) || errors.Is(err, fs.ErrNotExist) {
		return data, none(fmt.Sprintf("the folder %s is not whole, or was renamed, and its manifest names files by their old place: %s", folder, err))
	}
	return data, err
}

// Report returns the path of a run's newest report page, remade first if again is true.
func Report(ctx context.Context, folder string, again bool) (string, error) {
	whole, err := filepath.Abs(folder)
	if err != nil {
		return "", fmt.Errorf("naming the folder %s: %w", folder, err)
	}
	store, prefix := artifact.ReadFolder(filepath.Dir(whole)), filepath.Base(whole)
	if again {
		o, err := publish.Make(ctx, store, prefix, "")
		if err != nil {
			return "", fmt.Errorf("reporting %s again: %w", folder, err)
		}
		page, err := publish.Put(ctx, store, prefix, o.Files)
		return store.URI(page.Key), err
	}
	page := newest(whole, 0)
	if page == "" {
		return "", fmt.Errorf("the folder %s holds no report: loadstone report %s --again makes one", folder, folder)
	}
	return page, nil
}

func verdict(folder string) string {
	var said struct{ Verdict string }
	if text, err := os.ReadFile(newest(folder, 1)); err != nil || json.Unmarshal(text, &said) != nil {
		return ""
	}
	return said.Verdict
}

func newest(folder string, form int) string {
	found, err := filepath.Glob(filepath.Join(folder, "reports", "*", report.FileNames()[form]))
	if err != nil || len(found) == 0 {
		return ""
	}
	return slices.MaxFunc(found, func(a, b string) int { return modified(a).Compare(modified(b)) })
}

func modified(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}
