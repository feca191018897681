// Package registry serves images and charts to the nodes of hack/cluster, with a certificate of a private authority.
package registry

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/testbed"
)

// Private is an address of this machine for a test's TLS servers, with a certificate of a private authority.
type Private struct {
	Address string
	// Authority is the authority's certificate in PEM; File has the same.
	Authority, File string
	certificate     tls.Certificate
}

// NewPrivate makes an authority and a certificate for an address.
func NewPrivate(t *testing.T, address string) Private {
	t.Helper()
	authority, pair := testbed.Certificate(t, time.Now().Add(time.Hour), address)
	certificate, err := tls.X509KeyPair([]byte(pair["public.crt"]), []byte(pair["private.key"]))
	if err != nil {
		t.Fatal(err)
	}
	p := Private{Address: address, Authority: authority, File: filepath.Join(t.TempDir(), "ca.crt"), certificate: certificate}
	if err := os.WriteFile(p.File, []byte(authority), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

// Serve serves a handler during the test and returns its host:port.
func (p Private) Serve(t *testing.T, h http.Handler) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", net.JoinHostPort(p.Address, "0"))
	if err != nil {
		t.Fatalf("listening on %s, which must be this machine's, as with hack/cluster: %v", p.Address, err)
	}
	server := httptest.NewUnstartedServer(h)
	_ = server.Listener.Close() // That one is on the loopback address.
	server.Listener, server.TLS = listener, &tls.Config{Certificates: []tls.Certificate{p.certificate}, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	t.Cleanup(server.Close)
	return listener.Addr().String()
}

func (p Private) way(t *testing.T) *http.Transport {
	t.Helper()
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM([]byte(p.Authority))
	way := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12}}
	t.Cleanup(way.CloseIdleConnections)
	return way
}
