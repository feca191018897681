package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"path/filepath"
	"time"
)

// selfSigned as value of --tls makes the server generate a certificate.
const selfSigned = "self-signed"

// certificate loads tls.crt and tls.key from a folder, as in a Secret of type kubernetes.io/tls, or makes one.
func certificate(from string, now time.Time) (tls.Certificate, error) {
	if from != selfSigned {
		own, err := tls.LoadX509KeyPair(filepath.Join(from, "tls.crt"), filepath.Join(from, "tls.key"))
		if err != nil {
			return own, fmt.Errorf("reading the certificate: %w", err)
		}
		return own, nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("making a key: %w", err)
	}
	own := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "gohttp"}, NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(1, 0, 0),
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	body, err := x509.CreateCertificate(rand.Reader, own, own, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("making a certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{body}, PrivateKey: key}, nil
}
