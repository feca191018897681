package cli

import (
	"bytes"
	"context"
	"crypto/tls"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/testbed"
)

// encryptedSample is config/samples/tls.yaml for the folder of the server, on free ports and in one short block, with changes.
func encryptedSample(t *testing.T, dir string, oldNew ...string) string {
	t.Helper()
	text, err := os.ReadFile("../../config/samples/tls.yaml")
	if err != nil {
		t.Fatal(err)
	}
	all := append([]string{
		"18080", freePort(t), "18443", freePort(t), "../../bin/gohttp", "./gohttp", "durationSeconds: 2", "durationSeconds: 1", "warmupSeconds: 1", "warmupSeconds: 0", "blocks: 7", "blocks: 1\n  placement: {pinning: Preferred}",
	}, oldNew...)
	for i := 0; i < len(all); i += 2 {
		if !bytes.Contains(text, []byte(all[i])) {
			t.Fatalf("%q is not in the sample", all[i])
		}
		text = bytes.ReplaceAll(text, []byte(all[i]), []byte(all[i+1]))
	}
	file := filepath.Join(t.TempDir(), "tls.yaml")
	if err := os.Rename(filepath.Join(dir, "gohttp"), filepath.Join(filepath.Dir(file), "gohttp")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// keyPair writes a certificate for 127.0.0.1 into a folder, as tls.crt and tls.key, and returns its authority as a text of YAML.
func keyPair(t *testing.T, dir string, end time.Time) string {
	t.Helper()
	authority, pair := testbed.Certificate(t, end)
	for name, from := range map[string]string{"tls.crt": "public.crt", "tls.key": "private.key"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(pair[from]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return "ca: |\n" + "        " + strings.ReplaceAll(strings.TrimSpace(authority), "\n", "\n        ")
}

func TestHTTPSServerIsMeasuredLocally(t *testing.T) {
	dir, files := servers(t), t.TempDir()
	ca := keyPair(t, files, time.Now().Add(time.Hour))
	claim := "claims: [{subject: Response, path: /, value: helloworld}]"
	file := encryptedSample(t, dir, "--tls=self-signed", "--tls="+files, "tls: {verify: None}", "tls:\n      serverName: 127.0.0.1\n      "+ca+"\n    "+claim)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	results := filepath.Join(t.TempDir(), "results")
	out, err := loadstone(ctx, "run", file, "--out", results).CombinedOutput()
	if got := statusAfter(err); got != statusInconclusive {
		t.Fatalf("it ends with status %d: %s", got, out)
	}
	var m record.RunManifest
	read(t, filepath.Join(results, "manifest.json"), &m)
	const note = "implementations[encrypted].tls: the check before each trial verifies the server's certificate by ca and for 127.0.0.1; the load generators verify nothing"
	if !strings.Contains(strings.Join(m.Plan.Notes, "\n"), note) {
		t.Errorf("the notes are %q", m.Plan.Notes)
	}
	for _, entry := range m.Trials {
		if entry.Manifest == nil {
			t.Fatalf("trial %s was not measured: %s", entry.Name, entry.Message)
		}
		var g record.GeneratorResult
		read(t, filepath.Join(filepath.Dir(results), filepath.Dir(entry.Manifest.Key), "generator-0", "result.json"), &g)
		checkEncryption(t, entry.Servers[0] == "encrypted", g)
		var s record.ObserverResult
		read(t, filepath.Join(filepath.Dir(results), filepath.Dir(entry.Manifest.Key), "server-0", "result.json"), &s)
		if s.StartUp == nil || s.StartUp.AnswerMillis <= 0 {
			t.Errorf("%s has not answered its observer: %+v", entry.Servers[0], s.StartUp)
		}
		if entry.Servers[0] == "encrypted" && (len(s.Replies) != 1 || s.Replies[0].There.Is != record.Yes) {
			t.Errorf("the claim about an answer has become %+v", s.Replies)
		}
	}
	page := regexp.MustCompile(`(?m)^report: (.*report\.html)$`).FindSubmatch(out)
	if page == nil {
		t.Fatalf("it names no report: %s", out)
	}
	html, err := os.ReadFile(string(page[1]))
	for _, want := range []string{"TLS with wrk", tls.CipherSuiteName(tls.TLS_AES_128_GCM_SHA256), "ECDSA P-256, verified by ca", "HTTPS; its certificate is verified by ca, for 127.0.0.1"} {
		if err != nil || !bytes.Contains(html, []byte(want)) {
			t.Errorf("the report says nothing of %q: %v", want, err)
		}
	}
}

// checkEncryption looks at what a trial has recorded of TLS.
func checkEncryption(t *testing.T, speaks bool, g record.GeneratorResult) {
	t.Helper()
	if !speaks {
		if len(g.Encryption) > 0 {
			t.Errorf("with a server of plain HTTP was agreed on %+v", g.Encryption)
		}
		return
	}
	if len(g.Encryption) != 2 || g.Encryption[0].Client != "check" || !g.Encryption[0].Verified || g.Encryption[1].Client != "wrk" || g.Encryption[1].Version != "TLS 1.3" {
		t.Errorf("was agreed on %+v", g.Encryption)
	}
	for _, c := range g.Cells {
		if m := c.Measurement; !slowed(c) && (m == nil || m.Requests == 0 || !strings.HasPrefix(m.Args[len(m.Args)-1], "https://127.0.0.1:")) {
			t.Errorf("cell %s has measured %+v: %s", c.Name(), m, c.Error)
		}
		if a := c.MeasuredAudit; a != nil && a.WrongBody+a.WrongStatus+a.Failed > 0 {
			t.Errorf("the audit of cell %s is %+v", c.Name(), a)
		}
	}
}

func TestWrongCertificateFailsBeforeMeasuring(t *testing.T) {
	other := keyPair(t, t.TempDir(), time.Now().Add(time.Hour))
	for name, tc := range map[string]struct {
		oldNew []string
		want   string
	}{
		"another authority": {[]string{"tls: {verify: None}", "tls:\n      " + other}, `implementations[encrypted]: the server's certificate, issued by "CN=gohttp", is not signed by an authority of tls.ca: add the certificate of its issuer, or replace ca by tls.verify: None`},
		"no TLS at all":     {[]string{", --tls=self-signed", "", "\n    readiness: {path: /}", ""}, `implementations[encrypted]: the server does not speak TLS on its port: its answer to a handshake begins with "HTTP/": remove tls, or enable TLS in the server`},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			out, err := loadstone(ctx, "run", encryptedSample(t, servers(t), tc.oldNew...), "--out", filepath.Join(t.TempDir(), "results")).CombinedOutput()
			if got := statusAfter(err); got != statusFailed || !bytes.Contains(out, []byte(tc.want)) {
				t.Errorf("it ends with status %d: %s", got, out)
			}
		})
	}
}
