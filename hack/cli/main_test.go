package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGeneratedPagesAreCurrent(t *testing.T) {
	files, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
		if err != nil {
			t.Fatalf("%v: run make generate", err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s differs, run make generate (-want +got):\n%s", name, diff)
		}
	}
	pages, err := filepath.Glob("../../docs/man/*.1")
	if err != nil || len(pages) != len(files)-1 {
		t.Errorf("there are %d manual pages for %d commands: run make generate", len(pages), len(files)-1)
	}
}

func TestTheLinksOfThePageLeadToCommands(t *testing.T) {
	files, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	page := files["docs/reference/cli.md"]
	links := regexp.MustCompile(`\]\(#([\w-]+)\)`).FindAllStringSubmatch(page, -1)
	described := map[string]bool{}
	for _, heading := range regexp.MustCompile(`(?m)^## (.*)$`).FindAllStringSubmatch(page, -1) {
		described[strings.ReplaceAll(heading[1], " ", "-")] = true
	}
	for _, m := range links {
		if !described[m[1]] {
			t.Errorf("nothing is described at #%s", m[1])
		}
	}
	if len(links) == 0 {
		t.Error("the page has no links")
	}
}

func TestRemovesOldManualPages(t *testing.T) {
	root := t.TempDir()
	old := filepath.Join(root, "docs", "man", "loadstone-old.1")
	if err := os.MkdirAll(filepath.Dir(old), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(old, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := write(root); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(old); err == nil {
		t.Error("the page of a command that is gone is left")
	}
	if _, err := os.Stat(filepath.Join(root, "docs", "reference", "cli.md")); err != nil {
		t.Error(err)
	}
}
