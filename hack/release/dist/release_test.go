package main

import (
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func built() release {
	r := release{
		Version: "0.1.0", Downloads: "https://downloads.example/loadstone/0.1.0/",
		ArtifactHub: "0f5e2a1b-0000-4000-8000-1234567890ab", sums: map[string]string{},
	}
	for i, p := range platforms {
		r.sums[fmt.Sprintf("loadstone_0.1.0_%s_%s.tar.gz", p.os, p.cpu)] = strings.Repeat(fmt.Sprint(i+1), 64)
	}
	return r
}

func TestFilesOfAReleaseMatchGoldenFiles(t *testing.T) {
	files, err := built().files()
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(installer)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{installer: strings.Replace(string(source),
		"\nVERSION=\nDOWNLOADS=\n", "\nVERSION=0.1.0\nDOWNLOADS=https://downloads.example/loadstone/0.1.0\n", 1)}
	for _, name := range []string{"loadstone.yaml", "loadstone.rb", "artifacthub-repo.yml"} {
		golden := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(golden, []byte(files[name]), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		text, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		want[name] = string(text)
	}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("-want +got (-update accepts it):\n%s", diff)
	}
}

func TestKrewManifestHasTheArchiveOfEachPlatform(t *testing.T) {
	files, err := built().files()
	if err != nil {
		t.Fatal(err)
	}
	var plugin struct {
		Metadata struct{ Name string }
		Spec     struct {
			Version, ShortDescription string
			Platforms                 []struct {
				Selector         struct{ MatchLabels struct{ OS, Arch string } }
				URI, SHA256, Bin string
			}
		}
	}
	if err := yaml.Unmarshal([]byte(files["loadstone.yaml"]), &plugin); err != nil {
		t.Fatal(err)
	}
	if plugin.Metadata.Name != "loadstone" || plugin.Spec.Version != "v0.1.0" || len(plugin.Spec.ShortDescription) > 50 || len(plugin.Spec.Platforms) != 4 {
		t.Errorf("the plugin is %+v", plugin)
	}
	for _, p := range plugin.Spec.Platforms {
		name := fmt.Sprintf("loadstone_0.1.0_%s_%s.tar.gz", p.Selector.MatchLabels.OS, p.Selector.MatchLabels.Arch)
		if p.URI != "https://downloads.example/loadstone/0.1.0/"+name || p.SHA256 != built().sums[name] || p.Bin != "loadstone" {
			t.Errorf("%s has %+v", name, p)
		}
	}
}

func TestReleaseWithInvalidValuesIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*release)
		want   string
	}{
		"no version":              {func(r *release) { r.Version = "" }, `-version is ""`},
		"version with a v":        {func(r *release) { r.Version = "v0.1.0" }, `-version is "v0.1.0"`},
		"version with a command":  {func(r *release) { r.Version = "0.1.0-$(id)" }, "-version is"},
		"no address":              {func(r *release) { r.Downloads = "" }, `-downloads is ""`},
		"address without scheme":  {func(r *release) { r.Downloads = "downloads.example" }, "-downloads is"},
		"address with a quote":    {func(r *release) { r.Downloads = `https://downloads.example/";id` }, "-downloads is"},
		"address with a new line": {func(r *release) { r.Downloads = "https://downloads.example/a\nid" }, "-downloads is"},
		"other ID":                {func(r *release) { r.ArtifactHub = "mine" }, "-artifacthub is"},
		"missing archive":         {func(r *release) { delete(r.sums, "loadstone_0.1.0_darwin_arm64.tar.gz") }, "checksums.txt has no loadstone_0.1.0_darwin_arm64.tar.gz"},
		"other version's files":   {func(r *release) { r.Version = "0.2.0" }, "checksums.txt has no loadstone_0.2.0_linux_amd64.tar.gz"},
	} {
		t.Run(name, func(t *testing.T) {
			r := built()
			c.change(&r)
			if files, err := r.files(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q; files: %q", err, c.want, files)
			}
		})
	}
}

// folder returns a release's folder that has only its checksums.
func folder(t *testing.T, sums string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "checksums.txt"), []byte(sums), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestFilesAreWrittenIntoTheReleaseFolder(t *testing.T) {
	var sums strings.Builder
	for name, sum := range built().sums {
		fmt.Fprintf(&sums, "%s  %s\n", sum, name)
	}
	dir := folder(t, sums.String())
	for range 2 { // The second time, the files exist.
		if err := run([]string{"-version", "0.1.0", "-downloads", "https://downloads.example", dir}, io.Discard); err != nil {
			t.Fatal(err)
		}
	}
	got := map[string]fs.FileMode{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		got[e.Name()] = info.Mode() & 0o111
	}
	want := map[string]fs.FileMode{"checksums.txt": 0, "install.sh": 0o111, "loadstone.yaml": 0, "loadstone.rb": 0}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestUnreadableChecksumsAreRefused(t *testing.T) {
	for sums, want := range map[string]string{
		"":                                "checksums.txt:1",
		strings.Repeat("a", 64) + " file": "checksums.txt:1",
		strings.Repeat("a", 64) + "  file\n" + strings.Repeat("b", 63) + "  other\n": "checksums.txt:2",
	} {
		if err := run([]string{"-version", "0.1.0", "-downloads", "https://downloads.example", folder(t, sums)}, io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", sums, err, want)
		}
	}
	if err := run([]string{"-version", "0.1.0", "-downloads", "https://downloads.example", t.TempDir()}, io.Discard); err == nil || !strings.Contains(err.Error(), "checksums.txt") {
		t.Errorf("without checksums: %v", err)
	}
}
