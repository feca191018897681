package testbed

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"testing"
	"time"
)

// Certificate makes a private authority and a certificate of it for 127.0.0.1 and some names or addresses that ends at an instant: the authority's certificate,
// and the files public.crt and private.key as MinIO reads them, all in PEM.
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

// signed is a certificate for the owner of a key, signed with the key of its parent.
func signed(t *testing.T, c, parent *x509.Certificate, owner, by *ecdsa.PrivateKey) string {
	t.Helper()
	body, err := x509.CreateCertificate(rand.Reader, c, parent, &owner.PublicKey, by)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: body}))
}
