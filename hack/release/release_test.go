package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	spdxjson "github.com/spdx/tools-golang/json"
	"sigs.k8s.io/yaml"
)

// made is a release of this checkout in a temporary folder.
func made(t *testing.T) *release {
	t.Helper()
	r := &release{root: filepath.Join("..", ".."), folder: t.TempDir(), cache: t.TempDir(), version: "1.2.3", commit: "abc", registry: "registry.example/loadstone", out: io.Discard}
	r.date = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	if err := os.Mkdir(filepath.Join(r.folder, "sbom"), 0o755); err != nil {
		t.Fatal(err)
	}
	return r
}

func read(t *testing.T, path ...string) []byte {
	t.Helper()
	body, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func sample() content {
	info := &debug.BuildInfo{GoVersion: "go1.26.0", Path: "loadstone.dev/loadstone/cmd/manager", Deps: []*debug.Module{
		{Path: "example.com/old", Version: "v1.0.0", Replace: &debug.Module{Path: "example.com/new", Version: "v1.0.1"}},
		{Path: "example.com/Upper", Version: "v2.0.0+incompatible"},
	}}
	return content{
		program:  "manager",
		programs: []program{{"manager", []byte("program"), info}},
		layers: []layer{
			{"tools", tree{"usr/bin/tool": {mode: 0o755, body: []byte("tool")}, "tmp": {dir: true, mode: 0o1777}, "usr/bin/link": {link: "tool"}}},
			{"manager", tree{"usr/local/bin/manager": {mode: 0o755, body: []byte("program")}}},
		},
		debs: []deb{{pin: pin{image: "manager", arch: "amd64", name: "libc6", version: "1:2.36-9+deb12u14"}}},
	}
}

func TestSameFilesGiveSameBytes(t *testing.T) {
	r := made(t)
	first, err := sample().layers[0].files.archive(r.date)
	if err != nil {
		t.Fatal(err)
	}
	image, err := r.image("manager", architectures[0], sample())
	if err != nil {
		t.Fatal(err)
	}
	digest, err := image.Digest()
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		again, err := sample().layers[0].files.archive(r.date)
		if err != nil || !bytes.Equal(first, again) {
			t.Fatalf("another archive of the same files has other bytes (%v)", err)
		}
		image, err := r.image("manager", architectures[0], sample())
		if err != nil {
			t.Fatal(err)
		}
		if got, err := image.Digest(); got != digest || err != nil {
			t.Fatalf("another image of the same files has digest %s, %v; want %s", got, err, digest)
		}
	}
}

func TestArchiveKeepsModesLinksAndParents(t *testing.T) {
	files := sample().layers[0].files
	var b bytes.Buffer
	if err := files.tar(&b, time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
	got, err := readTar(&b)
	if err != nil {
		t.Fatal(err)
	}
	if e := got["usr/bin/tool"]; e.mode != 0o755 || string(e.body) != "tool" {
		t.Errorf("the file is %+v", e)
	}
	if e := got["tmp"]; !e.dir || e.mode != 0o1777 {
		t.Errorf("the folder is %+v", e)
	}
	if e := got["usr"]; !e.dir || e.mode != 0o755 {
		t.Errorf("the parent folder is %+v", e)
	}
	if e, ok := got.follow("usr/bin/link"); !ok || string(e.body) != "tool" {
		t.Errorf("the link leads to %+v, %v", e, ok)
	}
	if _, err := got.pick("usr/bin/none"); err == nil {
		t.Error("a missing file is picked")
	}
}

func TestChartHasDigestsVersionAndNothingElseChanged(t *testing.T) {
	r := made(t)
	digests := map[string]string{}
	for i, name := range imageNames {
		digests[name] = "sha256:" + strings.Repeat(string(rune('a'+i)), 64)
	}
	if err := r.chart(digests); err != nil {
		t.Fatal(err)
	}
	packed := read(t, r.folder, "loadstone-1.2.3.tgz")
	if err := r.chart(digests); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(packed, read(t, r.folder, "loadstone-1.2.3.tgz")) {
		t.Error("the second package has other bytes")
	}
	var want, got map[string]any
	text, err := inArchive(packed, "loadstone/values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	before := read(t, r.root, "charts", "loadstone", "values.yaml")
	if err := yaml.Unmarshal(before, &want); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	images := want["images"].(map[string]any)
	images["registry"] = "registry.example/loadstone"
	for name, digest := range digests {
		images[name].(map[string]any)["digest"] = digest
	}
	if a, b := asJSON(t, want), asJSON(t, got); a != b {
		t.Errorf("the values are\n%s\nwant\n%s", b, a)
	}
	if a, b := bytes.Count(before, []byte("#")), bytes.Count(text, []byte("#")); a != b {
		t.Errorf("%d of %d comments are left", b, a)
	}
	facts, err := inArchive(packed, "loadstone/Chart.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"\nversion: 1.2.3\n", "\nappVersion: 1.2.3\n", `image: "registry.example/loadstone/agent:1.2.3"`} {
		if !strings.Contains(string(facts), part) {
			t.Errorf("Chart.yaml has no %q:\n%s", part, facts)
		}
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestUnknownValuesAreRefused(t *testing.T) {
	for _, path := range []string{"images.none.digest", "images", "images.manager"} {
		if _, err := setScalars([]byte("images:\n  manager:\n    digest: \"\"\n"), map[string]string{path: "x"}); err == nil {
			t.Errorf("%s is set", path)
		}
	}
}

func TestEveryImageHasPinnedPackages(t *testing.T) {
	pins, err := parsePins(string(read(t, "debian.tsv")))
	if err != nil {
		t.Fatal(err)
	}
	for image, names := range wanted {
		for _, a := range architectures {
			for _, name := range append(names, "libc6") {
				if !slices.ContainsFunc(pins, func(p pin) bool { return p.image == image && p.arch == a.name && p.name == name }) {
					t.Errorf("%s for %s does not pin %s", image, a.name, name)
				}
			}
		}
	}
	if _, err := parsePins("agent\tamd64\twrk\t4.1.0-3\n"); err == nil {
		t.Error("a line without a checksum is accepted")
	}
}

func TestPackageWithoutLicenseIsRefused(t *testing.T) {
	debs := []deb{{pin: pin{name: "libnghttp2-14", version: "1"}, control: "Package: libnghttp2-14\n"}}
	owners := []string{"libnghttp2-14"}
	if _, err := described(debs, tree{}, owners); err == nil {
		t.Error("a package without a license is accepted")
	}
	all := tree{"usr/share/doc/libnghttp2-14": {link: "nghttp2"}, "usr/share/doc/nghttp2/copyright": {body: []byte("MIT")}}
	got, err := described(debs, all, owners)
	if err != nil || string(got["usr/share/doc/libnghttp2-14/copyright"].body) != "MIT" || string(got["packages.txt"].body) != "libnghttp2-14\t1\n" {
		t.Errorf("it is described as %v, %v", got, err)
	}
}

func TestBillOfMaterialsNamesEveryPart(t *testing.T) {
	r := made(t)
	c := sample()
	s := subject{"manager_1.2.3_linux_amd64", "CONTAINER", strings.Repeat("a", 64)}
	if err := r.sbom(s, c.programs, c.debs); err != nil {
		t.Fatal(err)
	}
	text := read(t, r.folder, "sbom", s.name+".spdx.json")
	doc, err := spdxjson.Read(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	ids, purls := map[string]bool{}, []string{}
	for _, p := range doc.Packages {
		id := string(p.PackageSPDXIdentifier)
		if ids[id] || !regexp.MustCompile(`^[A-Za-z0-9.-]+$`).MatchString(id) {
			t.Errorf("%s is no identifier, or not unique", id)
		}
		ids[id] = true
		for _, ref := range p.PackageExternalReferences {
			purls = append(purls, ref.Locator)
		}
	}
	want := []string{
		"pkg:deb/debian/libc6@1%3A2.36-9%2Bdeb12u14?arch=amd64&distro=bookworm", "pkg:golang/loadstone.dev/loadstone/cmd/manager@1.2.3",
		"pkg:golang/example.com/Upper@v2.0.0+incompatible", "pkg:golang/example.com/new@v1.0.1", "pkg:golang/stdlib@1.26.0",
	}
	if !slices.Equal(purls, want) {
		t.Errorf("it names %q\nwant %q", purls, want)
	}
	if len(doc.Relationships) != len(doc.Packages) {
		t.Errorf("%d packages have %d relationships", len(doc.Packages), len(doc.Relationships))
	}
	if err := r.sbom(s, c.programs, c.debs); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(text, read(t, r.folder, "sbom", s.name+".spdx.json")) {
		t.Error("the second one has other bytes")
	}
}

func TestVersionsThatAreNoReleaseAreRefused(t *testing.T) {
	for _, version := range []string{"", "v1.2.3", "1.2", "dev", "1.2.3-dirty+", "01.2.3"} {
		r := made(t)
		r.version = version
		if err := r.build(t.Context()); err == nil || !strings.Contains(err.Error(), "semantic version") {
			t.Errorf("%q gives %v", version, err)
		}
	}
}

func TestSignatureIsVerifiedOffline(t *testing.T) {
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("openssl is missing")
	}
	for form, make := range map[string][]string{
		"PKCS #8": {"genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out"},
		"SEC 1":   {"ecparam", "-name", "prime256v1", "-genkey", "-out"},
	} {
		t.Run(form, func(t *testing.T) {
			r := made(t)
			if err := errors.Join(r.write("loadstone-1.2.3.tgz", []byte("chart")), writeChecksums(r.folder)); err != nil {
				t.Fatal(err)
			}
			r.key = filepath.Join(t.TempDir(), "key.pem")
			public := r.key + ".pub"
			openssl(t, append(make, r.key)...)
			openssl(t, "pkey", "-in", r.key, "-pubout", "-out", public)
			if err := r.sign(); err != nil {
				t.Fatal(err)
			}
			first := read(t, r.folder, "checksums.txt.sig")
			if err := r.sign(); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(first, read(t, r.folder, "checksums.txt.sig")) {
				t.Error("the second signature has other bytes")
			}
			if err := verify(t.Context(), r.folder, public); err != nil {
				t.Error(err)
			}
			if err := os.WriteFile(filepath.Join(r.folder, checksums), []byte("other"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := verify(t.Context(), r.folder, public); err == nil {
				t.Error("changed checksums are verified")
			}
		})
	}
}

func openssl(t *testing.T, args ...string) {
	t.Helper()
	if _, err := output(exec.CommandContext(t.Context(), "openssl", args...)); err != nil {
		t.Fatal(err)
	}
}

func verify(ctx context.Context, folder, public string) error {
	cmd := exec.CommandContext(ctx, "sh", "-ec", "openssl base64 -d -A -in checksums.txt.sig -out signature\nopenssl dgst -sha256 -verify \"$0\" -signature signature checksums.txt", public)
	cmd.Dir = folder
	_, err := output(cmd)
	return err
}

func TestUnusableSigningKeysAreRefused(t *testing.T) {
	r := made(t)
	r.key = filepath.Join(t.TempDir(), "key.pem")
	if err := r.sign(); err == nil || !strings.Contains(err.Error(), "key.pem") {
		t.Errorf("a missing key gives %v", err)
	}
	if err := os.WriteFile(r.key, []byte("no key"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.sign(); err == nil || !strings.Contains(err.Error(), "openssl genpkey") {
		t.Errorf("a text gives %v", err)
	}
}
