// Command style checks the project's English with Vale: docs, help texts, messages and comments. It fails if a rule has more findings than
// limits.tsv allows, and names the findings in files that changed since the main branch.
//
//	usage: style [-root DIR] [-update] [-all] VALE [ARGUMENT...]
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// here is the folder of the settings, rules and limits.
const here = "hack/style"

var errOverLimit = errors.New("the text has more findings than hack/style/limits.tsv allows: correct those above")

func main() {
	var o options
	flag.StringVar(&o.root, "root", ".", "the repository's root")
	flag.BoolVar(&o.update, "update", false, "write today's counts to limits.tsv")
	flag.BoolVar(&o.all, "all", false, "print all findings")
	flag.Parse()
	o.vale = flag.Args()
	if err := check(o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type options struct {
	root        string
	vale        []string
	update, all bool
}

// check prints the findings that matter, and fails if a rule has more than its limit.
func check(o options, out io.Writer) error {
	found, err := findAll(o)
	if err != nil {
		return err
	}
	file := filepath.Join(o.root, here, "limits.tsv")
	allowed, err := readLimits(file)
	if err != nil {
		return err
	}
	counts := count(found)
	if o.update {
		return os.WriteFile(file, []byte(allowed.updated(counts)), 0o644)
	}
	over := allowed.exceeded(counts)
	errorsOf, hints := sortOut(found, allowed, over, changedFiles(o.root), o.all)
	printSome(out, "hint: ", hints, o.all)
	printSome(out, "", errorsOf, o.all)
	for _, k := range over {
		fmt.Fprintf(out, "%s in %s: %d findings, at most %d allowed\n", k.rule, k.kind, counts[k], allowed[k])
	}
	if len(over) > 0 {
		return errOverLimit
	}
	return nil
}

// sortOut separates the findings that may have broken a limit from other findings in changed files. If a limit is 0, all its findings are errors.
// Otherwise the new ones must be in a changed file.
func sortOut(found []finding, allowed limits, over []key, changed []string, all bool) (errorsOf, hints []finding) {
	for _, f := range found {
		k := key{f.rule, f.kind}
		isChanged := slices.Contains(changed, f.file)
		switch {
		case allowed.ignores(k):
		case slices.Contains(over, k) && (allowed[k] == 0 || isChanged || len(changed) == 0):
			errorsOf = append(errorsOf, f)
		case isChanged || all:
			hints = append(hints, f)
		}
	}
	return errorsOf, hints
}

// most is how many findings of each sort are printed.
const most = 40

// printSome prints the first findings, or all of them.
func printSome(out io.Writer, prefix string, found []finding, all bool) {
	for i, f := range found {
		if i == most && !all {
			fmt.Fprintf(out, "%s%d more: make style\n", prefix, len(found)-most)
			return
		}
		fmt.Fprintf(out, "%s%s:%d: %s (%s)\n", prefix, f.file, f.line, f.message, f.rule)
	}
}

func findAll(o options) ([]finding, error) {
	dir, err := os.MkdirTemp("", "style-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	files, err := tracked(o.root)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		if err := extract(o.root, file, dir); err != nil {
			return nil, err
		}
	}
	return vale(o, dir)
}

func tracked(root string) ([]string, error) {
	printed, err := exec.Command("git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		return nil, fmt.Errorf("listing files: %w", err)
	}
	files := strings.Fields(string(printed))
	return slices.DeleteFunc(files, func(file string) bool {
		_, err := os.Stat(filepath.Join(root, file))
		return err != nil
	}), nil
}

// changedFiles lists the files that differ from the main branch; none if Git does not know it.
func changedFiles(root string) []string {
	var changed []string
	for _, arguments := range []string{"diff --name-only --merge-base main", "ls-files --others --exclude-standard"} {
		printed, err := exec.Command("git", append([]string{"-C", root}, strings.Fields(arguments)...)...).Output()
		if err == nil {
			changed = append(changed, strings.Fields(string(printed))...)
		}
	}
	return changed
}
