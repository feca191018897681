package main

import (
	"embed"
	"fmt"
	"regexp"
	"strings"
	"text/template"
)

const (
	installer = "install.sh"
	homepage  = "https://loadstone.dev"
	// summary fits the limits of krew (50 characters) and Homebrew (80).
	summary = "Compare implementations under load"
)

//go:embed install.sh *.tmpl
var sources embed.FS

// platforms are the systems that a release has archives for.
var platforms = []struct{ os, cpu string }{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}}

// homebrew has Homebrew's names of systems and CPUs.
var homebrew = map[string]string{"darwin": "macos", "linux": "linux", "amd64": "intel", "arm64": "arm"}

// These texts go into a shell script, YAML and Ruby: the patterns allow no character that needs quotes there.
var (
	versions  = regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)
	addresses = regexp.MustCompile(`^https?://[0-9A-Za-z.-]+(:\d+)?(/[0-9A-Za-z._~%+-]+)*$`)
	uuids     = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	hashes    = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

type release struct {
	Version, Downloads, ArtifactHub string
	// sums are SHA-256 checksums by file name.
	sums map[string]string
}

// archive is the program for one system. Vendor is Homebrew's name of its CPU.
type archive struct {
	OS, CPU, Vendor string
	URL, SHA256     string
}

func readSums(text string) (map[string]string, error) {
	sums := map[string]string{}
	for i, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		sum, name, ok := strings.Cut(line, "  ")
		if !ok || !hashes.MatchString(sum) {
			return nil, fmt.Errorf("checksums.txt:%d is %q: write the file with sha256sum", i+1, line)
		}
		sums[name] = sum
	}
	return sums, nil
}

func (r release) archives() ([]archive, error) {
	var list []archive
	for _, p := range platforms {
		name := fmt.Sprintf("loadstone_%s_%s_%s.tar.gz", r.Version, p.os, p.cpu)
		sum, ok := r.sums[name]
		if !ok {
			return nil, fmt.Errorf("checksums.txt has no %s: build the release first", name)
		}
		list = append(list, archive{OS: p.os, CPU: p.cpu, Vendor: homebrew[p.cpu], URL: r.Downloads + "/" + name, SHA256: sum})
	}
	return list, nil
}

func (r release) files() (map[string]string, error) {
	r.Downloads = strings.TrimSuffix(r.Downloads, "/")
	switch {
	case !versions.MatchString(r.Version):
		return nil, fmt.Errorf("-version is %q: use one such as 0.1.0", r.Version)
	case !addresses.MatchString(r.Downloads):
		return nil, fmt.Errorf("-downloads is %q: use an address such as https://downloads.example/loadstone/0.1.0", r.Downloads)
	case r.ArtifactHub != "" && !uuids.MatchString(r.ArtifactHub):
		return nil, fmt.Errorf("-artifacthub is %q: use the repository ID that Artifact Hub shows, a UUID", r.ArtifactHub)
	}
	list, err := r.archives()
	if err != nil {
		return nil, err
	}
	bySystem := map[string][]archive{}
	for _, a := range list {
		bySystem[homebrew[a.OS]] = append(bySystem[homebrew[a.OS]], a)
	}
	values := map[string]any{"Version": r.Version, "Homepage": homepage, "Summary": summary, "Archives": list, "BySystem": bySystem}
	files := map[string]string{}
	for _, name := range []string{"loadstone.yaml", "loadstone.rb"} {
		if files[name], err = filled(name+".tmpl", values); err != nil {
			return nil, err
		}
	}
	if r.ArtifactHub != "" {
		files["artifacthub-repo.yml"] = "repositoryID: " + r.ArtifactHub + "\n"
	}
	files[installer], err = r.script()
	return files, err
}

func (r release) script() (string, error) {
	source, err := sources.ReadFile(installer)
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", installer, err)
	}
	text := string(source)
	for name, value := range map[string]string{"VERSION": r.Version, "DOWNLOADS": r.Downloads} {
		empty := "\n" + name + "=\n"
		if strings.Count(text, empty) != 1 {
			return "", fmt.Errorf("%s does not have exactly one line %s=", installer, name)
		}
		text = strings.Replace(text, empty, "\n"+name+"="+value+"\n", 1)
	}
	return text, nil
}

func filled(name string, values any) (string, error) {
	t, err := template.ParseFS(sources, name)
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", name, err)
	}
	var b strings.Builder
	if err := t.Execute(&b, values); err != nil {
		return "", fmt.Errorf("filling in %s: %w", name, err)
	}
	return b.String(), nil
}
