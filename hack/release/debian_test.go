package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// cached is a release with the packages that an earlier build downloaded.
func cached(t *testing.T) *release {
	t.Helper()
	r := made(t)
	var err error
	if r.cache, err = cacheFolder(); err != nil {
		t.Fatal(err)
	}
	pins, err := parsePins(string(read(t, "debian.tsv")))
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(pins, func(p pin) bool { return !exists(r.debFile(p.sha)) }) {
		t.Skip("the pinned Debian packages are not downloaded: make release does it")
	}
	return r
}

func TestDebianProgramsHaveAllLibraries(t *testing.T) {
	r := cached(t)
	for _, a := range architectures {
		_, all, err := r.unpacked(t.Context(), "agent", a)
		if err != nil {
			t.Fatal(err)
		}
		names, err := all.linked(a, "usr/bin/wrk", "usr/bin/ab", "usr/bin/h2load")
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{"/ld-linux-", "/libc.so.6", "/libluajit-5.1.so.2", "/libaprutil-1.so.0", "/libnghttp2.so.14", "/libssl.so.3"} {
			if !slices.ContainsFunc(names, func(name string) bool { return strings.Contains("/"+name, part) }) {
				t.Errorf("for %s, %s is missing in %q", a.name, part, names)
			}
		}
		files, err := all.pick(names...)
		if err != nil {
			t.Fatal(err)
		}
		starts(t, r, a, files, try{"agent", []string{"usr/bin/wrk", "-v"}, "wrk "}, try{"agent", []string{"usr/bin/ab", "-V"}, "ApacheBench"})
		if _, err := all.linked(a, "usr/bin/none"); err == nil {
			t.Error("a missing program has libraries")
		}
		delete(all, "usr/lib/"+a.triplet+"/libluajit-5.1.so.2")
		if _, err := all.linked(a, "usr/bin/wrk"); err == nil || !strings.Contains(err.Error(), "libluajit-5.1.so.2") {
			t.Errorf("without a library, it ends with %v", err)
		}
		if n := strings.Count(string(certificates(all)), "BEGIN CERTIFICATE"); n < 100 {
			t.Errorf("there are %d certificates", n)
		}
	}
}

func TestToolboxHasProfilersForBothArchitectures(t *testing.T) {
	r := cached(t)
	for _, a := range architectures {
		debs, all, err := r.unpacked(t.Context(), "toolbox", a)
		if err != nil {
			t.Fatal(err)
		}
		files, err := toolbox(all, a, []byte("launcher"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"valgrind/launcher", "valgrind/memcheck", "valgrind/callgrind", "valgrind/default.supp", "valgrind/vgpreload_core-" + a.name + "-linux.so", "bin/strace", "lib/loader", "lib/libc.so.6"} {
			if e := files["toolbox/"+name]; len(e.body) == 0 || e.link != "" {
				t.Errorf("for %s, %s is missing", a.name, name)
			}
		}
		about, err := described(debs, all, files.owners())
		if err != nil {
			t.Fatal(err)
		}
		if list := string(about["packages.txt"].body); !strings.Contains(list, "valgrind\t1:3.") || !strings.Contains(list, "strace\t") || strings.Contains(list, "gcc-12-base") {
			t.Errorf("the list of packages is %q", list)
		}
		starts(t, r, a, files, try{"toolbox", []string{"toolbox/lib/loader", "--library-path", "toolbox/lib", "toolbox/bin/strace", "-V"}, "strace -- version"})
	}
}

// starts checks that programs for arm64 start with these files alone.
func starts(t *testing.T, r *release, a architecture, files tree, all ...try) {
	t.Helper()
	if _, err := exec.LookPath("qemu-aarch64-static"); err != nil || a.name != "arm64" {
		return
	}
	root := filepath.Join(t.TempDir(), "root")
	if err := files.unpack(root); err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		if err := r.start(t.Context(), root, one, one.says); err != nil {
			t.Error(err)
		}
	}
}

func TestDamagedPackageIsRefused(t *testing.T) {
	r := made(t)
	p := pin{"agent", "amd64", "wrk", "4.1.0", strings.Repeat("0", 64)}
	if _, err := unpack(t.Context(), p, r.debFile(p.sha)); err == nil || !strings.Contains(err.Error(), "another checksum than pinned") {
		t.Errorf("a missing package gives %v", err)
	}
	if err := os.MkdirAll(filepath.Dir(r.debFile(p.sha)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(r.debFile(p.sha), []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := unpack(t.Context(), p, r.debFile(p.sha)); err == nil || !strings.Contains(err.Error(), "is damaged") {
		t.Errorf("a damaged package gives %v", err)
	}
}
