package httpcheck

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"golang.org/x/net/http2"

	"loadstone.dev/loadstone/internal/record"
)

// Server is the target of requests.
type Server struct {
	Address string
	// TLS holds how it speaks TLS and how its certificate is verified; nil for plain HTTP.
	TLS *record.TLS
	// Protocol is the HTTP version for Answers, Ready and Fetch, if the server supports it. Loads name their own.
	Protocol record.Protocol
}

// Unverified returns a server without certificate verification.
func Unverified(address string, speaksTLS bool) Server {
	if !speaksTLS {
		return Server{Address: address}
	}
	return Server{Address: address, TLS: &record.TLS{}}
}

// Handshake connects to a TLS server with a version of HTTP, and returns the negotiated parameters. The error is a sentence.
func Handshake(ctx context.Context, server Server, p record.Protocol) (record.Encryption, error) {
	s, err := reach(ctx, server, p, time.Now().Add(checkLimit))
	if err != nil {
		return record.Encryption{}, noHandshake(err)
	}
	defer s.close()
	state := s.conn.(*tls.Conn).ConnectionState()
	return record.Encryption{
		Client: record.ClientCheck, Version: tls.VersionName(state.Version), Cipher: tls.CipherSuiteName(state.CipherSuite),
		Key: keyOf(state.PeerCertificates[0]), Verified: server.TLS.CA != "",
	}, nil
}

func noHandshake(err error) error {
	switch {
	case untrusted(err):
		return err
	case timedOut(err):
		return fmt.Errorf("the server did not answer the check's TLS handshake within %v", checkLimit)
	}
	return fmt.Errorf("the check could not connect to the server: %w", err)
}

// untrustedError is a failed verification: a sentence with the remedy.
type untrustedError struct{ error }

func untrusted(err error) bool {
	_, ok := errors.AsType[untrustedError](err)
	return ok || withoutHTTP2(err)
}

// noHTTP2Error is the protocol that a server chose instead of HTTP/2, or empty. Its text is a sentence too.
type noHTTP2Error string

func (e noHTTP2Error) Error() string {
	return fmt.Sprintf("the server does not speak HTTP/2 on its port: offered %s in a TLS handshake (ALPN), it chose %s: enable h2 in the server, or remove loads[].protocol",
		strings.Join(offered, " and "), cmp.Or(string(e), "neither"))
}

func withoutHTTP2(err error) bool {
	_, ok := errors.AsType[noHTTP2Error](err)
	return ok
}

// offered are the protocols that k6 offers for HTTP/2, in order of preference.
var offered = []string{http2.NextProtoTLS, "http/1.1"}

// secure starts TLS. It sends no host name, since no tool can: so the certificate is the one that tools get. For HTTP/1.1 it offers no
// protocol, as the tools do; for HTTP/2 it offers what k6 does, and the server must choose HTTP/2.
func secure(ctx context.Context, conn net.Conn, want record.TLS, p record.Protocol) (net.Conn, error) {
	config := &tls.Config{
		InsecureSkipVerify: true, // VerifyConnection verifies what the spec demands, not the address's name.
		VerifyConnection: func(state tls.ConnectionState) error {
			return verify(state.PeerCertificates, want, time.Now())
		},
	}
	if p == record.HTTP2 {
		config.NextProtos = offered
	}
	encrypted := tls.Client(conn, config)
	err := encrypted.HandshakeContext(ctx)
	if plain, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return nil, untrustedError{fmt.Errorf("the server does not speak TLS on its port: its answer to a handshake begins with %q: remove tls, or enable TLS in the server", plain.RecordHeader)}
	}
	if err != nil && !untrusted(err) {
		return nil, fmt.Errorf("the TLS handshake failed: %w", err)
	}
	if chosen := encrypted.ConnectionState().NegotiatedProtocol; err == nil && p == record.HTTP2 && chosen != http2.NextProtoTLS {
		return nil, noHTTP2Error(chosen)
	}
	return encrypted, err
}

func verify(sent []*x509.Certificate, want record.TLS, now time.Time) error {
	if want.CA == "" {
		return nil
	}
	options := x509.VerifyOptions{Roots: x509.NewCertPool(), Intermediates: x509.NewCertPool(), DNSName: want.ServerName, CurrentTime: now}
	options.Roots.AppendCertsFromPEM([]byte(want.CA))
	for _, c := range sent[1:] {
		options.Intermediates.AddCert(c)
	}
	_, err := sent[0].Verify(options)
	if err == nil {
		return nil
	}
	return untrustedError{fmt.Errorf("%w, or replace ca by tls.verify: None", doubt(err, sent[0], want))}
}

func doubt(err error, own *x509.Certificate, want record.TLS) error {
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return fmt.Errorf("the server's certificate, issued by %q, is not signed by an authority of tls.ca: add the certificate of its issuer", own.Issuer)
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return fmt.Errorf("the server's certificate is for %s, not for tls.serverName %s: correct serverName or the certificate", namesOf(own), want.ServerName)
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		const day = time.DateOnly
		of := invalid.Cert
		return fmt.Errorf("the server's certificate has expired or is not yet valid: %q is valid from %s to %s: renew it", of.Subject, of.NotBefore.UTC().Format(day), of.NotAfter.UTC().Format(day))
	}
	return fmt.Errorf("the server's certificate cannot be verified: %w: correct it", err)
}

func namesOf(c *x509.Certificate) string {
	names := append([]string{}, c.DNSNames...)
	for _, ip := range c.IPAddresses {
		names = append(names, ip.String())
	}
	if len(names) == 0 {
		return "no name"
	}
	return strings.Join(names, ", ")
}

// keyOf names a certificate's key type, which determines a handshake's cost.
func keyOf(c *x509.Certificate) string {
	switch key := c.PublicKey.(type) {
	case *rsa.PublicKey:
		return fmt.Sprintf("RSA %d", key.N.BitLen())
	case *ecdsa.PublicKey:
		return "ECDSA " + key.Curve.Params().Name
	case ed25519.PublicKey:
		return "Ed25519"
	}
	return c.PublicKeyAlgorithm.String()
}

// plainly adds to a wrong answer that the server seems to speak TLS, if it was asked without: such servers say so in text.
func plainly(server Server, a answer, wrong error) error {
	if server.TLS == nil && a.status == http.StatusBadRequest && strings.Contains(string(a.body), "HTTPS") {
		return fmt.Errorf("%w, and the answer says that the port uses HTTPS: set implementations[].tls", wrong)
	}
	return wrong
}
