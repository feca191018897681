package e2e

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

// private is an address of this machine for a test's TLS servers, with a certificate of a private authority.
type private struct {
	address string
	// authority is the authority's certificate in PEM; file has the same.
	authority, file string
	certificate     tls.Certificate
}

func newPrivate(t *testing.T, address string) private {
	t.Helper()
	authority, pair := testbed.Certificate(t, time.Now().Add(time.Hour), address)
	certificate, err := tls.X509KeyPair([]byte(pair["public.crt"]), []byte(pair["private.key"]))
	if err != nil {
		t.Fatal(err)
	}
	p := private{address: address, authority: authority, file: filepath.Join(t.TempDir(), "ca.crt"), certificate: certificate}
	if err := os.WriteFile(p.file, []byte(authority), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

// serve serves a handler during the test and returns its host:port.
func (p private) serve(t *testing.T, h http.Handler) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", net.JoinHostPort(p.address, "0"))
	if err != nil {
		t.Fatalf("listening on %s, which must be this machine's, as with hack/cluster: %v", p.address, err)
	}
	server := httptest.NewUnstartedServer(h)
	_ = server.Listener.Close() // That one is on the loopback address.
	server.Listener, server.TLS = listener, &tls.Config{Certificates: []tls.Certificate{p.certificate}, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	t.Cleanup(server.Close)
	return listener.Addr().String()
}

// way is how a client reaches these servers.
func (p private) way(t *testing.T) *http.Transport {
	t.Helper()
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM([]byte(p.authority))
	way := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12}}
	t.Cleanup(way.CloseIdleConnections)
	return way
}

// here returns this machine's address for pods: the operator's node, which is a bridge here.
func here(t *testing.T) string {
	t.Helper()
	p, err := onlyPod(t.Context(), "operator")
	if err != nil {
		t.Fatal(err)
	}
	return p.Status.HostIP
}
