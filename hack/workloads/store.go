package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"loadstone.dev/loadstone/internal/store/artifact"
)

// recordEnd is the suffix of a record file.
const recordEnd = ".jsonl"

// load reads runs from a folder. Each has its own folder or a record there.
func load(ctx context.Context, folder string, names []string) map[string]*results {
	all := map[string]*results{}
	for _, name := range names {
		r, err := read(ctx, folder, name)
		if err != nil {
			r = &results{missing: err.Error()}
		}
		all[name] = r
	}
	return all
}

func read(ctx context.Context, folder, name string) (*results, error) {
	text, err := os.ReadFile(filepath.Join(folder, name+recordEnd))
	if err == nil {
		return decode(text, name)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading the record of %s: %w", name, err)
	}
	if found, err := filepath.Glob(filepath.Join(folder, name, "manifest.json")); err != nil || len(found) == 0 {
		return nil, fmt.Errorf("the run %s has not ended, or there is no record of it", name)
	}
	f, err := artifact.OpenFolder(folder)
	if err != nil {
		return nil, err
	}
	data, err := f.Load(ctx, name, "")
	if err != nil {
		return nil, err
	}
	return keep(data)
}

// writeRecords stores the runs of a folder that figures need, with the digests of their sources in the current folder. It replaces earlier records, except with runs that have not ended.
func writeRecords(ctx context.Context, folder, records, only string) error {
	chosen, err := choose(table, only)
	if err != nil {
		return err
	}
	var failed error
	for _, name := range runs(chosen) {
		r, err := read(ctx, folder, name)
		if err == nil {
			r.head.Sources, err = sourcesOf(".", name)
		}
		if err == nil {
			err = writeRecord(filepath.Join(records, name+recordEnd), r)
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

func writeRecord(path string, r *results) error {
	text, err := r.encode()
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		return fmt.Errorf("writing a record: %w", err)
	}
	return nil
}

// writePages generates pages again. It writes them all, and fails if a page has statements that the records do not support.
func writePages(ctx context.Context, out io.Writer, records string, pages []string) error {
	all := load(ctx, records, runs(table))
	stale, err := staleRuns(".", all)
	if err != nil {
		return err
	}
	p := pageOf(table, all, stale)
	var failed error
	for _, path := range pages {
		old, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("reading a page: %w", err)
		}
		text, findings := p.render(string(old))
		if text != string(old) {
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				return fmt.Errorf("writing a page: %w", err)
			}
		}
		for _, f := range findings {
			_, _ = fmt.Fprintf(out, "%s: %s\n", path, f)
			failed = errors.New("a page says what the records do not: mend its own words, and make it again")
		}
	}
	return failed
}
