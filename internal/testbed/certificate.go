package testbed

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"
)

// Certificate makes a private authority and its certificate for 127.0.0.1 and names, valid until end. It returns the authority's certificate,
// and MinIO's files public.crt and private.key, all in PEM.
func Certificate(t *testing.T, end time.Time, names ...string) (authority string, pair map[string]string) {
	t.Helper()
	begin := end.Add(-48 * time.Hour)
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "an authority of the test"}, NotBefore: begin, NotAfter: end.Add(48 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	server := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "a server of the test"}, NotBefore: begin, NotAfter: end,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, name := range names {
		if address := net.ParseIP(name); address != nil {
			server.IPAddresses = append(server.IPAddresses, address)
		} else {
			server.DNSNames = append(server.DNSNames, name)
		}
	}
	caKey, serverKey := newKey(t), newKey(t)
	key, err := x509.MarshalPKCS8PrivateKey(serverKey)
	if err != nil {
		t.Fatal(err)
	}
	return signed(t, ca, ca, caKey, caKey), map[string]string{
		"public.crt":  signed(t, server, ca, serverKey, caKey),
		"private.key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})),
	}
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func signed(t *testing.T, c, parent *x509.Certificate, owner, by *ecdsa.PrivateKey) string {
	t.Helper()
	body, err := x509.CreateCertificate(rand.Reader, c, parent, &owner.PublicKey, by)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: body}))
}

// Encrypted is an HTTPS server that records its clients.
type Encrypted struct {
	// Target is host:port; Authority signed its certificate for 127.0.0.1.
	Target, Authority string

	mu     sync.Mutex
	opened int
	hellos []tls.ClientHelloInfo
	seen   []tls.ConnectionState
}

// NewEncrypted starts such a server, which also offers HTTP/2, with a certificate valid until end. It ends with the test.
func NewEncrypted(t *testing.T, end time.Time, handler http.Handler, changes ...func(*tls.Config)) *Encrypted {
	t.Helper()
	authority, pair := Certificate(t, end)
	own, err := tls.X509KeyPair([]byte(pair["public.crt"]), []byte(pair["private.key"]))
	if err != nil {
		t.Fatal(err)
	}
	e := &Encrypted{Authority: authority}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.mu.Lock()
		e.seen = append(e.seen, *r.TLS)
		e.mu.Unlock()
		handler.ServeHTTP(w, r)
	}))
	server.EnableHTTP2 = true
	server.TLS = &tls.Config{Certificates: []tls.Certificate{own}, GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		e.mu.Lock()
		e.hellos = append(e.hellos, *hello)
		e.mu.Unlock()
		return nil, nil
	}}
	for _, change := range changes {
		change(server.TLS)
	}
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			e.mu.Lock()
			e.opened++
			e.mu.Unlock()
		}
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	e.Target = server.Listener.Addr().String()
	return e
}

// Visit describes a server's clients.
type Visit struct {
	Connections, Handshakes int
	// Names are host names that clients sent, and Protocols those that they offered, without duplicates.
	Names, Protocols []string
	// Version, Cipher, HTTP and Resumed are of the last request's connection.
	Version, Cipher, HTTP string
	Resumed               bool
	Requests              int
}

// Visits returns the clients since the last call.
func (e *Encrypted) Visits() Visit {
	e.mu.Lock()
	defer e.mu.Unlock()
	v := Visit{Connections: e.opened, Handshakes: len(e.hellos), Requests: len(e.seen)}
	for _, h := range e.hellos {
		v.Names, v.Protocols = once(v.Names, h.ServerName), once(v.Protocols, h.SupportedProtos...)
	}
	if n := len(e.seen); n > 0 {
		last := e.seen[n-1]
		v.Version, v.Cipher, v.HTTP, v.Resumed = tls.VersionName(last.Version), tls.CipherSuiteName(last.CipherSuite), last.NegotiatedProtocol, last.DidResume
	}
	e.opened, e.hellos, e.seen = 0, nil, nil
	return v
}

func once(list []string, names ...string) []string {
	for _, n := range names {
		if n != "" && !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	return list
}
