package docs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/testbed"
)

const root = "../.."

func TestMain(m *testing.M) { os.Exit(testbed.Main(m)) }

// pages are the texts that readers begin with, by their names.
func pages(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(files) < 5 {
		t.Fatalf("there are %d pages: %v", len(files), err)
	}
	all := map[string]string{}
	for _, file := range append(files, filepath.Join(root, "README.md"), filepath.Join(root, "CONTRIBUTING.md")) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(file)] = string(text)
	}
	return all
}

// fenced are the blocks of a page in one language.
func fenced(page, language string) []string {
	var blocks []string
	for _, rest := range strings.Split(page, "\n```"+language+"\n")[1:] {
		block, _, _ := strings.Cut(rest, "\n```")
		blocks = append(blocks, block)
	}
	return blocks
}
