package plan

import (
	"encoding/pem"
	"slices"
	"strings"
	"testing"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/testbed"
)

func TestTLSThatCannotBeVerifiedIsRefused(t *testing.T) {
	ca, pair := testbed.Certificate(t, time.Now().Add(time.Hour))
	broken := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("none")}))
	const field = "spec.implementations[0].tls"
	for name, tc := range map[string]struct {
		tls  v1alpha1.TLS
		want string
	}{
		"plain HTTP":                {v1alpha1.TLS{}, ""},
		"nothing is verified":       {v1alpha1.TLS{Verify: v1alpha1.VerifyNone}, ""},
		"an authority":              {v1alpha1.TLS{CA: ca}, ""},
		"an authority by its name":  {v1alpha1.TLS{Verify: v1alpha1.VerifyAuthority, CA: ca, ServerName: "shop.example"}, ""},
		"two authorities":           {v1alpha1.TLS{CA: "of us\n" + ca + ca, ServerName: "::1"}, ""},
		"neither":                   {v1alpha1.TLS{Verify: v1alpha1.VerifyAuthority}, field + " has ca, which verifies the certificate of go, and verify: None: remove one of them"},
		"both":                      {v1alpha1.TLS{Verify: v1alpha1.VerifyNone, CA: ca}, field + " has ca, which verifies"},
		"a name for nothing":        {v1alpha1.TLS{Verify: v1alpha1.VerifyNone, ServerName: "a"}, field + ".serverName is a, and nothing is verified without a ca: give " + field + ".ca, or remove serverName"},
		"a name with a port":        {v1alpha1.TLS{CA: ca, ServerName: "shop.example:443"}, field + `.serverName is "shop.example:443", which no certificate can have: give a DNS name or an address, without a port`},
		"a text that is no PEM":     {v1alpha1.TLS{CA: "/etc/ca.crt"}, field + ".ca contains no certificate: give the text of the authority's file in PEM, from -----BEGIN CERTIFICATE----- on"},
		"a key":                     {v1alpha1.TLS{CA: ca + pair["private.key"]}, field + ".ca contains a PRIVATE KEY, which would be recorded and printed: give certificates only"},
		"a broken certificate":      {v1alpha1.TLS{CA: ca + broken}, field + ".ca cannot be read: certificate 2: "},
		"a file that was cut short": {v1alpha1.TLS{CA: ca[:len(ca)-40]}, field + ".ca contains no certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Compile(spec(func(s *v1alpha1.BenchmarkRunSpec) { s.Implementations[0].TLS = tc.tls }), Options{Name: "r", UID: "u"})
			if (err == nil) != (tc.want == "") || err != nil && !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
	s := programs(func(s *v1alpha1.BenchmarkRunSpec) { s.Implementations[1].TLS.Verify = v1alpha1.VerifyNone })
	if _, err := Compile(s, Options{Name: "r", UID: "u"}); err == nil || err.Error() != "spec.implementations[1].tls is for servers, and new has no port: name its port, or remove tls" {
		t.Errorf("of a program: %v", err)
	}
}

func TestThePlanSaysWhatIsVerifiedAndByWhom(t *testing.T) {
	ca, _ := testbed.Certificate(t, time.Now().Add(time.Hour))
	const check, tools = "the check before each trial verifies the server's certificate by ca", "; the load generators verify nothing"
	for name, tc := range map[string]struct {
		tls          v1alpha1.TLS
		note, listed string
	}{
		"nothing":          {v1alpha1.TLS{Verify: v1alpha1.VerifyNone}, ".verify is None: the server's certificate is not verified", "HTTPS; its certificate is not verified"},
		"by any name":      {v1alpha1.TLS{CA: ca}, ": " + check + ", and for no name, since serverName is not set" + tools, "HTTPS; its certificate is verified by ca, for any name"},
		"by name":          {v1alpha1.TLS{CA: ca, ServerName: "a.b"}, ": " + check + " and for a.b" + tools, "HTTPS; its certificate is verified by ca, for a.b"},
		"over plain HTTP?": {},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Compile(spec(func(s *v1alpha1.BenchmarkRunSpec) { s.Implementations[0].TLS = tc.tls }), Options{Name: "r", UID: "u"})
			if err != nil {
				t.Fatal(err)
			}
			const field = "implementations[go].tls"
			at := slices.IndexFunc(p.Notes, func(n string) bool { return strings.HasPrefix(n, field) })
			if (at >= 0) != (tc.note != "") || at >= 0 && p.Notes[at] != field+tc.note {
				t.Errorf("the notes are %q, want %q", p.Notes, tc.note)
			}
			listed := ""
			for _, s := range p.Implementations[0].Settings() {
				if s.Name == "tls" {
					listed = s.Value
				}
			}
			if listed != tc.listed {
				t.Errorf("it is listed as %q, want %q", listed, tc.listed)
			}
			if alike := p.Implementations[0].SetAlike(p.Implementations[1]); alike != (tc.note == "") {
				t.Errorf("it is like one over plain HTTP: %v", alike)
			}
		})
	}
}
