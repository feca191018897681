package outbound

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"loadstone.dev/loadstone/internal/suite/notify"
)

const (
	Patience = 10 * time.Second
	// maxHeader limits the answer's header in bytes. Proxies in front of a server may add much.
	maxHeader = 64 << 10
)

// errRefused is the same for all refused addresses, and is decided before a connection: it does not tell open ports from closed ones.
var errRefused = errors.New("the operator refuses the address of its host: loopback, link-local and cloud metadata addresses are always refused; " +
	"the chart value outbound.allow permits private ones")

// Allowed are the private networks and hosts that users may name. The zero value allows none.
type Allowed struct {
	networks []netip.Prefix
	hosts    []string
}

// Parse parses comma-separated CIDRs, IP addresses and host names.
func Parse(text string) (Allowed, error) {
	var a Allowed
	for _, entry := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' }) {
		network, err := netip.ParsePrefix(entry)
		if address, wrong := netip.ParseAddr(entry); wrong == nil {
			network, err = netip.PrefixFrom(address.Unmap().WithZone(""), address.Unmap().BitLen()), nil
		}
		switch {
		case err == nil && network != network.Masked():
			return Allowed{}, fmt.Errorf("%s has bits after its prefix: write %s", network, network.Masked())
		case err == nil && network.Bits() > 0 && !notify.Reachable(network.Addr()):
			return Allowed{}, fmt.Errorf("%s is a loopback, link-local, multicast or cloud metadata address: these are always refused", network)
		case err == nil:
			a.networks = append(a.networks, network)
		case len(validation.IsDNS1123Subdomain(entry)) == 0:
			a.hosts = append(a.hosts, entry)
		default:
			return Allowed{}, fmt.Errorf("%q is not a CIDR such as 10.20.0.0/16, an IP address or a host name in lower case without a port", entry)
		}
	}
	return a, nil
}

// private are the networks that notify.Reachable does not refuse and that are not the public Internet.
var private = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("10.0.0.0/8"),
	netip.MustParsePrefix("100.64.0.0/10"), // Shared by carriers and by clusters.
	netip.MustParsePrefix("172.16.0.0/12"),
	netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.168.0.0/16"),
	netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("240.0.0.0/4"), // Some clouds use it for pods.
	netip.MustParsePrefix("::/96"),
	netip.MustParsePrefix("64:ff9b:1::/48"), // Private translation to IPv4.
	netip.MustParsePrefix("2001::/32"),      // Teredo and 6to4 contain an IPv4 address.
	netip.MustParsePrefix("2002::/16"),
	netip.MustParsePrefix("fc00::/7"),
	netip.MustParsePrefix("fec0::/10"),
}

// translated is the well-known prefix of IPv4 addresses behind NAT64, whose last four bytes are the address.
var translated = netip.MustParsePrefix("64:ff9b::/96")

func (a Allowed) permits(host string, address netip.Addr) bool {
	address = address.Unmap().WithZone("")
	if translated.Contains(address) {
		bytes := address.As16()
		address = netip.AddrFrom4([4]byte(bytes[12:]))
	}
	contains := func(n netip.Prefix) bool { return n.Contains(address) }
	switch {
	case !notify.Reachable(address):
		return false
	case !slices.ContainsFunc(private, contains):
		return true
	}
	return slices.Contains(a.hosts, strings.TrimSuffix(strings.ToLower(host), ".")) || slices.ContainsFunc(a.networks, contains)
}

// Way returns a transport that refuses loopback, link-local and metadata addresses, and private ones that are not allowed. This also holds for
// each redirect. It uses no proxy, because a proxy would connect without these checks.
func Way(allowed Allowed) *http.Transport {
	return &http.Transport{
		DialContext: allowed.dial, TLSHandshakeTimeout: Patience, ResponseHeaderTimeout: Patience, MaxResponseHeaderBytes: maxHeader, DisableKeepAlives: true,
	}
}

func (a Allowed) dial(ctx context.Context, network, to string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(to)
	if err != nil {
		return nil, fmt.Errorf("reading an address: %w", err)
	}
	d := &net.Dialer{Timeout: Patience, Control: func(_, resolved string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(resolved)
		if err != nil {
			return fmt.Errorf("reading an address: %w", err)
		}
		if !a.permits(host, at.Addr()) {
			return errRefused
		}
		return nil
	}}
	return d.DialContext(ctx, network, to)
}

// Client returns a client with a time limit of Patience that does not follow redirects, so that a token is sent to no other host.
func Client(way http.RoundTripper) *http.Client {
	return &http.Client{Transport: way, Timeout: Patience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// Cause explains a failed request in our own words. Go's errors contain addresses, which may hold tokens or change at each try, and parts of
// the answer.
func Cause(err error) string {
	var timeout net.Error
	var lookup *net.DNSError
	var untrusted *tls.CertificateVerificationError
	var noTLS tls.RecordHeaderError
	var system *os.SyscallError
	var network *net.OpError
	switch {
	case errors.Is(err, errRefused):
		return errRefused.Error()
	case errors.As(err, &lookup) && lookup.IsNotFound:
		return "its host name does not exist"
	case errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Sprintf("no answer within %.0f s", Patience.Seconds())
	case lookup != nil:
		return "DNS lookup of its host failed"
	case errors.As(err, &untrusted):
		return "its certificate is not trusted, or is for another host"
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &noTLS):
		return "its url starts with https://, but it does not support TLS"
	case errors.As(err, &network) && errors.As(network.Err, &system):
		return fmt.Sprintf("%s: %v", network.Op, system)
	case network != nil:
		return "the connection failed"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection was closed before an answer"
	}
	return "it did not send a valid HTTP answer"
}
