package plan

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/netip"
	"regexp"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind"
)

// certificateBlock is the only allowed PEM type in ca.
const certificateBlock = "CERTIFICATE"

// dnsName is a name that a certificate can be for.
var dnsName = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?([.][A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?)*$`)

func checkTLS(spec v1alpha1.BenchmarkRunSpec) *Violation {
	return kind.Each(spec.Implementations, func(i int, impl v1alpha1.Implementation) *Violation {
		own, field := impl.TLS, fmt.Sprintf("spec.implementations[%d].tls", i)
		switch {
		case own == (v1alpha1.TLS{}):
			return nil
		case impl.Port == 0:
			return kind.Invalid("%s is for servers, and %s has no port: name its port, or remove tls", field, impl.Name)
		case (own.CA == "") != (own.Verify == v1alpha1.VerifyNone):
			return kind.Invalid("%s has ca, which verifies the certificate of %s, and verify: None: remove one of them", field, impl.Name)
		case own.CA == "" && own.ServerName != "":
			return kind.Invalid("%s.serverName is %s, and nothing is verified without a ca: give %s.ca, or remove serverName", field, own.ServerName, field)
		case own.ServerName != "" && !isName(own.ServerName):
			return kind.Invalid("%s.serverName is %q, which no certificate can have: give a DNS name or an address, without a port", field, own.ServerName)
		}
		if v := checkAuthority(field+".ca", own.CA); v != nil {
			return v
		}
		return nil
	})
}

func isName(text string) bool {
	_, err := netip.ParseAddr(text)
	return err == nil || dnsName.MatchString(text)
}

// checkAuthority allows only PEM certificates: a key would be recorded and printed.
func checkAuthority(field, text string) *Violation {
	if text == "" {
		return nil
	}
	found := 0
	for rest := []byte(text); ; found++ {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != certificateBlock {
			return kind.Invalid("%s contains a %s, which would be recorded and printed: give certificates only", field, block.Type)
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return kind.Invalid("%s cannot be read: certificate %d: %s: give the authority's certificate in PEM", field, found+1, err)
		}
	}
	if found == 0 {
		return kind.Invalid("%s contains no certificate: give the text of the authority's file in PEM, from -----BEGIN CERTIFICATE----- on", field)
	}
	return nil
}

// encryption notes what verifies a server's certificate.
func (p *Plan) encryption(implementation string, own *record.TLS) {
	field := fmt.Sprintf("implementations[%s].tls", implementation)
	switch {
	case own == nil:
	case own.CA == "":
		p.Note("%s.verify is None: the server's certificate is not verified", field)
	case own.ServerName == "":
		p.Note("%s: the check before each trial verifies the server's certificate by ca, and for no name, since serverName is not set; the load generators verify nothing", field)
	default:
		p.Note("%s: the check before each trial verifies the server's certificate by ca and for %s; the load generators verify nothing", field, own.ServerName)
	}
}
