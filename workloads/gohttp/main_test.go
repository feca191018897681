package main

import (
	"crypto/x509"
	"errors"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestBadFlagsGetTheUsage(t *testing.T) {
	for _, bad := range []string{"--port", "--port=x", "--port=0", "--port=65536", "--porto=1", "81", "--help"} {
		if err := run(t.Context(), io.Discard, strings.Fields(bad)); !errors.Is(err, errUsage) {
			t.Errorf("%q: got %v, want a usage", bad, err)
		}
	}
}

func TestAnAnswerHasTheHeadersOfItsPeers(t *testing.T) {
	w := httptest.NewRecorder()
	handler(0).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	if _, dated := w.Header()["Date"]; !dated || w.Header().Get("Date") != "" || w.Body.String() != body {
		t.Errorf("headers %v, body %q", w.Header(), w.Body)
	}
}

func TestACertificateIsReadOrMade(t *testing.T) {
	if _, err := certificate(t.TempDir(), time.Now()); err == nil || !strings.Contains(err.Error(), "reading the certificate: open ") {
		t.Errorf("of a folder without one: %v", err)
	}
	own, err := certificate(selfSigned, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(own.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(leaf)
	if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: "127.0.0.1"}); err != nil {
		t.Error(err)
	}
}

func TestBurnDependsOnEveryIteration(t *testing.T) {
	seen := map[uint64]bool{}
	for n := range uint64(1000) {
		x := burn(n)
		if x == 0 || seen[x] {
			t.Fatalf("burn(%d) = %d, which is 0 or was there before: the loop could be left out", n, x)
		}
		seen[x] = true
	}
}

func BenchmarkBurn(b *testing.B) {
	const iterations = 1000
	for b.Loop() {
		if burn(iterations) == 0 {
			b.Fatal("the loop was left out")
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/iterations, "ns/iteration")
}
