package notify

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// metadata are the metadata addresses of AWS, Azure and Alibaba outside the link-local range.
var metadata = []netip.Addr{
	netip.MustParseAddr("fd00:ec2::254"), netip.MustParseAddr("168.63.129.16"), netip.MustParseAddr("100.100.100.200"),
}

// Check returns the first problem of a suite's notifications; nil if there is none.
func Check(spec v1alpha1.BenchmarkSuiteSpec) error {
	for _, n := range spec.Notifications {
		wrong := ""
		if onForge(n) {
			wrong = forgeFault(spec, ForgeOf(n))
		} else if wrong = fault(n.URL); wrong != "" {
			wrong = "url " + wrong
		}
		if wrong != "" {
			return fmt.Errorf("notifications[%s].%s", n.Name, wrong)
		}
	}
	return nil
}

// It does not repeat the address, which may hold a token.
func fault(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return "is not a URL: write one such as https://events.example/loadstone"
	case u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "":
		return "must begin with http:// or https:// and name a host"
	case u.User != nil:
		return "must not contain credentials: anyone who can read the suite could see them"
	case u.Fragment != "":
		return "must not contain a fragment: remove # and everything after it"
	}
	if address, err := netip.ParseAddr(u.Hostname()); err == nil && !Reachable(address) {
		return "is a loopback, link-local, multicast or metadata address, and these are blocked: name a Service or a host"
	}
	return ""
}

// Reachable reports whether a sink may have this address. Addresses of the operator's own pod and node are refused,
// and cloud metadata: services there trust every caller.
func Reachable(address netip.Addr) bool {
	address = address.Unmap().WithZone("")
	return address.IsGlobalUnicast() && !slices.Contains(metadata, address)
}
