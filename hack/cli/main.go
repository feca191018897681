// Command cli generates the reference page and the manual pages of the command line.
//
//	usage: cli [-root DIR]
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"loadstone.dev/loadstone/internal/cli"
)

// undescribed are links to commands without a description, on the page and in manual pages.
var (
	undescribed       = regexp.MustCompile(`\[(loadstone completion \w+)\]\(#[\w-]+\)`)
	undescribedManual = regexp.MustCompile(`, \\fBloadstone-completion-\w+\(1\)\\fP`)
)

func main() {
	root := flag.String("root", ".", "the repository's root")
	flag.Parse()
	if err := write(*root); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(root string) error {
	files, err := generate()
	if err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(root, "docs", "man", "*.1"))
	if err != nil {
		return fmt.Errorf("looking for old manual pages: %w", err)
	}
	for _, path := range old {
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("removing an old manual page: %w", err)
		}
	}
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("making the folder of %s: %w", name, err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return fmt.Errorf("writing %s: %w", name, err)
		}
	}
	return nil
}

func generate() (map[string]string, error) {
	top := cli.New("loadstone")
	top.DisableAutoGenTag = true
	top.InitDefaultCompletionCmd()
	page := bytes.NewBufferString("# Commands\n\nThis page is generated from the commands themselves (`make generate`), and so are the manual pages in [docs/man](../man): `man -l docs/man/loadstone-run.1`.\n\n")
	files := map[string]string{}
	for _, c := range append([]*cobra.Command{top}, described(top)...) {
		c.DisableAutoGenTag = true
		if err := doc.GenMarkdownCustom(c, page, anchor); err != nil {
			return nil, fmt.Errorf("describing %s: %w", c.CommandPath(), err)
		}
		name := strings.ReplaceAll(c.CommandPath(), " ", "-")
		text, err := manual(c, name)
		if err != nil {
			return nil, err
		}
		files["docs/man/"+name+".1"] = text
	}
	text := undescribed.ReplaceAllString(page.String(), "$1")
	files["docs/reference/cli.md"] = strings.TrimRight(text, "\n") + "\n"
	return files, nil
}

// The page of completion describes its subcommands.
func described(parent *cobra.Command) []*cobra.Command {
	var list []*cobra.Command
	for _, c := range parent.Commands() {
		if !c.IsAvailableCommand() {
			continue
		}
		list = append(list, c)
		if c.Name() != "completion" {
			list = append(list, described(c)...)
		}
	}
	return list
}

// manual returns a manual page without a date, so that it changes only with the command.
func manual(c *cobra.Command, name string) (string, error) {
	epoch := time.Unix(0, 0).UTC()
	var b bytes.Buffer
	header := doc.GenManHeader{Title: strings.ToUpper(name), Section: "1", Source: "Loadstone", Manual: "Loadstone", Date: &epoch}
	if err := doc.GenMan(c, &header, &b); err != nil {
		return "", fmt.Errorf("writing the manual page of %s: %w", c.CommandPath(), err)
	}
	text := undescribedManual.ReplaceAllString(b.String(), "")
	return strings.Replace(text, `"`+epoch.Format("Jan 2006")+`"`, `""`, 1), nil
}

// anchor is the page's anchor for a command, given the name of its separate file.
func anchor(file string) string {
	return "#" + strings.ReplaceAll(strings.TrimSuffix(file, ".md"), "_", "-")
}
