package artifact_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/store/certs"
	"loadstone.dev/loadstone/internal/testbed"
)

func TestAStoreWithAPrivateAuthorityNeedsItsBundle(t *testing.T) {
	testbed.OnEachSecureStore(t, func(t *testing.T, at testbed.ObjectStore) {
		with, _ := bucket(t, at)
		with.Secure, with.CA = true, at.CA
		if _, err := open(t, with).Put(t.Context(), "k", "text/plain", []byte("content")); err != nil {
			t.Errorf("with the bundle: %v", err)
		}
		without := with
		without.CA = ""
		if _, err := open(t, without).Put(t.Context(), "k2", "text/plain", []byte("content")); !errors.Is(err, certs.ErrUntrusted) ||
			!strings.Contains(err.Error(), "s3.caBundle") {
			t.Errorf("without the bundle: %v", err)
		}
		named := with
		named.Endpoint = strings.Replace(with.Endpoint, "127.0.0.1", "localhost", 1)
		if _, err := open(t, named).Get(t.Context(), "k", ""); !errors.Is(err, certs.ErrOtherName) {
			t.Errorf("by a name that the certificate has not: %v", err)
		}
	})
}

func TestACertificateThatHasExpiredAndAServerWithoutTLSAreNamed(t *testing.T) {
	ca, pair := testbed.Certificate(t, time.Now().Add(-time.Hour))
	certificate, err := tls.X509KeyPair([]byte(pair["public.crt"]), []byte(pair["private.key"]))
	if err != nil {
		t.Fatal(err)
	}
	expired := httptest.NewUnstartedServer(http.NotFoundHandler())
	expired.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	expired.Config.ErrorLog = log.New(io.Discard, "", 0)
	expired.StartTLS()
	defer expired.Close()
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	for name, tc := range map[string]struct {
		server *httptest.Server
		want   error
	}{
		"an expired certificate": {expired, certs.ErrExpired},
		"a server without TLS":   {plain, certs.ErrNoTLS},
	} {
		t.Run(name, func(t *testing.T) {
			store := open(t, artifact.Config{
				Endpoint: tc.server.Listener.Addr().String(), Bucket: "bucket", Region: "us-east-1", Secure: true, CA: ca, AccessKey: "a", SecretKey: "s",
			})
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			if _, err := store.Get(ctx, "k", ""); !errors.Is(err, tc.want) {
				t.Errorf("got %v, want %v", err, tc.want)
			}
		})
	}
}

func TestABundleWithoutCertificatesIsRefused(t *testing.T) {
	_, err := artifact.Open(artifact.Config{Endpoint: "s3.example:443", Secure: true, CA: "no certificate"})
	if !errors.Is(err, certs.ErrNoCertificate) || !strings.Contains(err.Error(), "s3.caBundle") {
		t.Errorf("got %v", err)
	}
}
