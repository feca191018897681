package httpcheck_test

import (
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/agent/httpcheck"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/testbed"
)

var hello = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "helloworld") })

func TestAHandshakeSaysWhatWasAgreedOnAndVerified(t *testing.T) {
	soon := time.Now().Add(time.Hour)
	modern, old := testbed.NewEncrypted(t, soon, hello), testbed.NewEncrypted(t, soon, hello, func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 })
	expired := testbed.NewEncrypted(t, time.Now().Add(-time.Hour), hello)
	plain := httptest.NewServer(hello)
	defer plain.Close()
	for name, tc := range map[string]struct {
		address string
		want    record.TLS
		version string
		refused string
	}{
		"an authority and an address":     {modern.Target, record.TLS{CA: modern.Authority, ServerName: "127.0.0.1"}, "TLS 1.3", ""},
		"an authority and no name":        {old.Target, record.TLS{CA: old.Authority}, "TLS 1.2", ""},
		"several authorities":             {modern.Target, record.TLS{CA: old.Authority + modern.Authority}, "TLS 1.3", ""},
		"nothing is verified":             {expired.Target, record.TLS{}, "TLS 1.3", ""},
		"another authority":               {modern.Target, record.TLS{CA: old.Authority}, "", `the server's certificate, issued by "CN=an authority of the test", is not signed by an authority of tls.ca: add the certificate of its issuer, or replace ca by tls.verify: None`},
		"a certificate that has expired":  {expired.Target, record.TLS{CA: expired.Authority}, "", `the server's certificate has expired or is not yet valid: "CN=a server of the test" is valid from `},
		"a certificate of another name":   {modern.Target, record.TLS{CA: modern.Authority, ServerName: "shop.example"}, "", "the server's certificate is for 127.0.0.1, not for tls.serverName shop.example: correct serverName or the certificate"},
		"a server that speaks plain HTTP": {strings.TrimPrefix(plain.URL, "http://"), record.TLS{}, "", `the server does not speak TLS on its port: its answer to a handshake begins with "HTTP/": remove tls, or enable TLS in the server`},
		"nobody":                          {"127.0.0.1:1", record.TLS{}, "", "the check could not connect to the server: "},
	} {
		t.Run(name, func(t *testing.T) {
			server := httpcheck.Server{Address: tc.address, TLS: &tc.want}
			got, err := httpcheck.Handshake(t.Context(), server, "")
			_, refused := httpcheck.Check(t.Context(), server, []record.Request{{Path: "/", Expect: record.Expect{Status: 200}}})
			if tc.refused != "" {
				if err == nil || !strings.HasPrefix(err.Error(), tc.refused) {
					t.Errorf("got %+v, %v\nwant %s", got, err, tc.refused)
				}
				if refused == nil {
					t.Error("a request was sent all the same")
				}
				return
			}
			if err != nil || refused != nil || got.Version != tc.version || !strings.HasPrefix(got.Cipher, "TLS_") || got.Key != "ECDSA P-256" || got.Verified != (tc.want.CA != "") || got.Client != record.ClientCheck {
				t.Errorf("got %+v, %v, and a request ended with %v", got, err, refused)
			}
		})
	}
}

// The check must see the certificate that tools get, and tools send no host name.
func TestTheCheckNamesNoHostAndOffersNoHTTP2(t *testing.T) {
	server := testbed.NewEncrypted(t, time.Now().Add(time.Hour), hello)
	own := httpcheck.Server{Address: server.Target, TLS: &record.TLS{CA: server.Authority, ServerName: "127.0.0.1"}}
	answers, err := httpcheck.Check(t.Context(), own, []record.Request{{Path: "/", Expect: record.Expect{Status: 200}}})
	if err != nil || answers[0].Response.BodyBytes != 10 || answers[0].Response.HeaderBytes < 50 {
		t.Fatalf("%+v, %v", answers, err)
	}
	if v := server.Visits(); len(v.Names) > 0 || len(v.Protocols) > 0 || v.HTTP != "" || v.Handshakes != 2 {
		t.Errorf("the server has seen %+v", v)
	}
	audit, err := httpcheck.Counted(t.Context(), own, record.Request{Path: "/", Expect: record.Expect{Status: 200}}, 20, 2, time.Now().Add(time.Minute))
	if v := server.Visits(); err != nil || audit.Requests != 20 || audit.Failed > 0 || v.Handshakes != 2 || v.Requests != 20 {
		t.Errorf("of %+v, %v, the server has seen %+v", audit, err, v)
	}
}

func TestAServerThatSpeaksHTTPSIsToldFromOneThatAnswersWrongly(t *testing.T) {
	server := testbed.NewEncrypted(t, time.Now().Add(time.Hour), hello)
	_, err := httpcheck.Check(t.Context(), httpcheck.Server{Address: server.Target}, []record.Request{{Path: "/", Expect: record.Expect{Status: 200}}})
	if want := "GET / answered 400 instead of 200, and the answer says that the port uses HTTPS: set implementations[].tls"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
