// Command release builds what a release publishes, and publishes it.
//
//	usage: release build -version VERSION -commit COMMIT -date DATE -registry REGISTRY [-key FILE] FOLDER
//	       release publish -registry REGISTRY FOLDER
//	       release smoke FOLDER
//	       release pin
//
// Run it in the repository's root. The same commit and the same Go give the same bytes on every machine.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/mod/semver"
)

const usage = "usage: release build|publish|smoke|pin [FLAG...] [FOLDER]"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release has the facts about a release.
type release struct {
	// root is the repository, folder the result, cache has binaries and downloads.
	root, folder, cache string
	version, commit     string
	date                time.Time
	// registry is where the chart looks for images.
	registry string
	// key is the file of a private key. Without it nothing is signed.
	key string
	out io.Writer
}

func run(ctx context.Context, out io.Writer, args []string) error {
	if len(args) == 0 {
		return errors.New(usage)
	}
	r := &release{root: ".", out: out}
	var date string
	f := flag.NewFlagSet(args[0], flag.ContinueOnError)
	f.StringVar(&r.version, "version", "", "semantic version, such as 0.1.0")
	f.StringVar(&r.commit, "commit", "", "commit of the sources")
	f.StringVar(&date, "date", "", "date of the commit, such as 2026-03-01T12:00:00Z; all files have it")
	f.StringVar(&r.registry, "registry", "", "registry and path of the images")
	f.StringVar(&r.key, "key", "", "private ECDSA key in PEM that signs checksums.txt")
	if err := f.Parse(args[1:]); err != nil {
		return err
	}
	var err error
	if r.cache, err = cacheFolder(); err != nil {
		return err
	}
	if args[0] == "pin" {
		return r.pin(ctx)
	}
	if f.NArg() != 1 {
		return fmt.Errorf("name one folder: %s", usage)
	}
	r.folder = f.Arg(0)
	switch args[0] {
	case "build":
		if r.date, err = time.Parse(time.RFC3339, date); err != nil {
			return fmt.Errorf("-date: %w", err)
		}
		r.date = r.date.UTC()
		return r.build(ctx)
	case "publish":
		return r.publish(ctx)
	case "smoke":
		return r.smoke(ctx)
	}
	return fmt.Errorf("unknown command %q: %s", args[0], usage)
}

func cacheFolder() (string, error) {
	if dir := os.Getenv("LOADSTONE_CACHE"); dir != "" {
		return dir, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("finding the cache: %w", err)
	}
	return filepath.Join(home, ".cache", "loadstone"), nil
}

// build writes the release folder anew.
func (r *release) build(ctx context.Context) error {
	if !semver.IsValid("v"+r.version) || r.version != strings.TrimPrefix(semver.Canonical("v"+r.version)+semver.Build("v"+r.version), "v") {
		return fmt.Errorf("-version %q is not a semantic version: use one such as 0.1.0", r.version)
	}
	if err := errors.Join(os.RemoveAll(r.folder), os.MkdirAll(filepath.Join(r.folder, "sbom"), 0o755)); err != nil {
		return fmt.Errorf("making the folder of the release: %w", err)
	}
	if err := r.archives(ctx); err != nil {
		return err
	}
	digests, err := r.images(ctx)
	if err != nil {
		return err
	}
	if err := r.chart(digests); err != nil {
		return err
	}
	if err := writeChecksums(r.folder); err != nil {
		return err
	}
	if r.key == "" {
		r.say("checksums.txt is not signed: name a private key with SIGNING_KEY")
		return nil
	}
	return r.sign()
}

func (r *release) say(format string, args ...any) { fmt.Fprintf(r.out, format+"\n", args...) }

func (r *release) write(name string, body []byte) error {
	if err := os.WriteFile(filepath.Join(r.folder, name), body, 0o644); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	r.say("%s: %.1f MB", name, float64(len(body))/1e6)
	return nil
}

// output runs a program and returns its output. The error has its messages.
func output(cmd *exec.Cmd) ([]byte, error) {
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", filepath.Base(cmd.Path), err, tail(complaint.String()))
	}
	return out, nil
}

func tail(text string) string {
	const most = 2000
	text = strings.TrimSpace(text)
	return text[max(len(text)-most, 0):]
}
