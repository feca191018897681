package certs

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"

	// Images from scratch have no certificates.
	_ "golang.org/x/crypto/x509roots/fallback"
)

// ErrNoCertificate: a bundle holds no certificate.
var ErrNoCertificate = errors.New("there is no certificate in it: it must hold certificates in PEM, each between BEGIN CERTIFICATE and END CERTIFICATE")

// Read returns a PEM file's certificates; none for an empty name.
func Read(file string) (string, error) {
	if file == "" {
		return "", nil
	}
	bundle, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("reading the certificate authorities of the object store (chart value s3.caBundle): %w", err)
	}
	if _, err := pool(string(bundle)); err != nil {
		return "", fmt.Errorf("reading the certificate authorities of the object store (chart value s3.caBundle) in %s: %w", file, err)
	}
	return string(bundle), nil
}

// TLS returns a client configuration that also trusts a bundle; nil for an empty bundle.
func TLS(bundle string) (*tls.Config, error) {
	if bundle == "" {
		return nil, nil
	}
	roots, err := pool(bundle)
	if err != nil {
		return nil, err
	}
	return &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, nil
}

func pool(bundle string) (*x509.CertPool, error) {
	roots, err := x509.SystemCertPool()
	if err != nil {
		return nil, fmt.Errorf("reading the machine's certificate authorities: %w", err)
	}
	if !roots.AppendCertsFromPEM([]byte(bundle)) {
		return nil, ErrNoCertificate
	}
	return roots, nil
}

// Errors of a TLS connection, each with another remedy.
var (
	// ErrUntrusted: no trusted authority signed the certificate.
	ErrUntrusted = errors.New("the object store's certificate is signed by an authority that is not trusted: name a bundle that has it (chart value s3.caBundle)")
	// ErrExpired: the certificate has expired or is not valid yet.
	ErrExpired = errors.New("the object store's certificate has expired or is not valid yet: renew it, or correct the clock")
	// ErrOtherName: the certificate is for another host.
	ErrOtherName = errors.New("the object store's certificate is for another name: correct the endpoint (chart value s3.endpoint) or the certificate")
	// ErrNoTLS: the other end only speaks HTTP.
	ErrNoTLS = errors.New("the object store does not speak TLS on this port: correct the port (chart value s3.endpoint), or switch TLS off (chart value s3.tls)")
)

// Explain returns which of the errors above matches, or nil.
func Explain(err error) error {
	var (
		unknown x509.UnknownAuthorityError
		invalid x509.CertificateInvalidError
		name    x509.HostnameError
	)
	switch {
	case errors.As(err, &unknown):
		return ErrUntrusted
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return ErrExpired
	case errors.As(err, &name):
		return ErrOtherName
	case errors.Is(err, http.ErrSchemeMismatch):
		return ErrNoTLS
	}
	return nil
}
