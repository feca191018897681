package outbound

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

func TestPermitsPublicAddressesAndThoseAllowed(t *testing.T) {
	allowed, err := Parse("10.20.0.0/16,192.168.1.5,fd00:1::/32,registry.infra.svc,::ffff:172.16.0.9")
	if err != nil {
		t.Fatal(err)
	}
	all, err := Parse("0.0.0.0/0,::/0")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		host, address string
		allowed       Allowed
		want          bool
	}{
		{"registry.example", "8.8.8.8", Allowed{}, true},
		{"registry.example", "2a00:1450::1", Allowed{}, true},
		{"registry.example", "64:ff9b::808:808", Allowed{}, true},
		{"registry.example", "10.96.0.1", Allowed{}, false},
		{"registry.example", "172.31.0.1", Allowed{}, false},
		{"registry.example", "192.168.0.1", Allowed{}, false},
		{"registry.example", "100.64.0.1", Allowed{}, false},
		{"registry.example", "::ffff:10.0.0.1", Allowed{}, false},
		{"registry.example", "64:ff9b::a00:1", Allowed{}, false},
		{"registry.example", "2002:a00:1::", Allowed{}, false},
		{"registry.example", "fd12::1", Allowed{}, false},
		{"registry.example", "10.20.255.255", allowed, true},
		{"registry.example", "::ffff:10.20.0.1", allowed, true},
		{"registry.example", "10.21.0.0", allowed, false},
		{"registry.example", "192.168.1.5", allowed, true},
		{"registry.example", "192.168.1.6", allowed, false},
		{"registry.example", "172.16.0.9", allowed, true},
		{"registry.example", "fd00:1::7", allowed, true},
		{"registry.infra.svc", "10.96.3.4", allowed, true},
		{"Registry.Infra.svc.", "10.96.3.4", allowed, true},
		{"other.infra.svc", "10.96.3.4", allowed, false},
		{"registry.infra.svc", "127.0.0.1", allowed, false},
		{"registry.infra.svc", "169.254.169.254", allowed, false},
		{"registry.example", "10.96.0.1", all, true},
		{"registry.example", "127.0.0.1", all, false},
		{"registry.example", "::1", all, false},
		{"registry.example", "0.0.0.0", all, false},
		{"registry.example", "fe80::1", all, false},
		{"registry.example", "169.254.169.254", all, false},
		{"registry.example", "64:ff9b::a9fe:a9fe", all, false},
		{"registry.example", "168.63.129.16", all, false},
		{"registry.example", "100.100.100.200", all, false},
		{"registry.example", "fd00:ec2::254", all, false},
		{"registry.example", "224.0.0.1", all, false},
	} {
		if got := tc.allowed.permits(tc.host, netip.MustParseAddr(tc.address)); got != tc.want {
			t.Errorf("%s at %s with %v: permitted %t, want %t", tc.host, tc.address, tc.allowed, got, tc.want)
		}
	}
}

func TestParseRefusesEntriesThatAllowNothing(t *testing.T) {
	for text, want := range map[string]string{
		"10.20.0.1/16":       "10.20.0.1/16 has bits after its prefix: write 10.20.0.0/16",
		"127.0.0.0/8":        "127.0.0.0/8 is a loopback, link-local, multicast or cloud metadata address",
		"169.254.169.254":    "169.254.169.254/32 is a loopback, link-local, multicast or cloud metadata address",
		"registry:5000":      "is not a CIDR",
		"https://a.example/": "is not a CIDR",
		"Registry.example":   "is not a CIDR",
		"*.example":          "is not a CIDR",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

// Names are checked after DNS lookup, whatever form they have.
func TestWayConnectsToNoLoopbackAddress(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the operator's own machine is asked") }))
	t.Cleanup(s.Close)
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HTTP_PROXY", s.URL)
	for _, host := range []string{"127.0.0.1", "localhost", "127.1.2.3", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "169.254.169.254", "10.255.255.254"} {
		q, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "http://"+host+":"+port+"/", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := Client(Way(Allowed{})).Do(q)
		if err == nil {
			_ = answer.Body.Close()
			t.Errorf("%s answers %d", host, answer.StatusCode)
		} else if got := Cause(err); got != errRefused.Error() {
			t.Errorf("%s: %s", host, got)
		}
	}
}
