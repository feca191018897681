// Command dist writes the files that install a release: install.sh, a krew manifest and a Homebrew formula. With -artifacthub it also writes the
// metadata of the chart's repository on Artifact Hub.
//
//	usage: dist -version VERSION -downloads URL [-artifacthub ID] FOLDER
//
// FOLDER is the release's folder, with checksums.txt. URL is the address of its files once they are published.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() {
	if err := run(os.Args[1:], os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

func run(args []string, stderr io.Writer) error {
	var r release
	f := flag.NewFlagSet("dist", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&r.Version, "version", "", "`VERSION` of the release, such as 0.1.0")
	f.StringVar(&r.Downloads, "downloads", "", "`URL` of the release's files once they are published")
	f.StringVar(&r.ArtifactHub, "artifacthub", "", "`ID` of the repository on Artifact Hub")
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() != 1 {
		return fmt.Errorf("%d folders given: name the release's folder", f.NArg())
	}
	folder := f.Arg(0)
	sums, err := os.ReadFile(filepath.Join(folder, "checksums.txt"))
	if err != nil {
		return fmt.Errorf("reading the checksums: %w", err)
	}
	if r.sums, err = readSums(string(sums)); err != nil {
		return err
	}
	files, err := r.files()
	if err != nil {
		return err
	}
	for name, text := range files {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return fmt.Errorf("writing the release: %w", err)
		}
	}
	// It may exist already, with other rights.
	if err := os.Chmod(filepath.Join(folder, installer), 0o755); err != nil {
		return fmt.Errorf("making %s executable: %w", installer, err)
	}
	return nil
}
