package generate_test

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/agent/generate"
	"loadstone.dev/loadstone/internal/testbed"
	"loadstone.dev/loadstone/internal/testbed/mutated"
)

func sent(t *testing.T, server *tls.Config, client *tls.Config) ([]byte, tls.ConnectionState, error) {
	t.Helper()
	_, pair := testbed.Certificate(t, time.Now().Add(time.Hour))
	own, err := tls.X509KeyPair([]byte(pair["public.crt"]), []byte(pair["private.key"]))
	if err != nil {
		t.Fatal(err)
	}
	server.Certificates, client.InsecureSkipVerify = []tls.Certificate{own}, true
	listener, err := tls.Listen("tcp", "127.0.0.1:0", server)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close() //nolint:errcheck // Nobody else connects.
	go func() {
		if there, err := listener.Accept(); err == nil {
			_ = there.(*tls.Conn).Handshake() // The client reports the outcome.
			there.Close()
		}
	}()
	here, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer here.Close()
	var all bytes.Buffer
	conn := tls.Client(tapped{here, io.TeeReader(here, &all)}, client)
	err = conn.Handshake()
	return all.Bytes(), conn.ConnectionState(), err
}

type tapped struct {
	net.Conn
	in io.Reader
}

func (c tapped) Read(p []byte) (int, error) { return c.in.Read(p) }

func TestAHelloSaysWhatTheClientSays(t *testing.T) {
	for name, tc := range map[string]struct{ server, client *tls.Config }{
		"TLS 1.3":                      {&tls.Config{}, &tls.Config{}},
		"TLS 1.2":                      {&tls.Config{MaxVersion: tls.VersionTLS12}, &tls.Config{}},
		"a cipher suite of the client": {&tls.Config{}, &tls.Config{MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384}}},
		"a hello that is asked again":  {&tls.Config{CurvePreferences: []tls.CurveID{tls.CurveP521}}, &tls.Config{}},
	} {
		t.Run(name, func(t *testing.T) {
			all, state, err := sent(t, tc.server, tc.client)
			if err != nil {
				t.Fatal(err)
			}
			want := generate.Agreed{Version: tls.VersionName(state.Version), Cipher: tls.CipherSuiteName(state.CipherSuite)}
			// However the bytes are split, the result comes only when all have arrived.
			known := false
			for n := range len(all) + 1 {
				got, err := generate.ReadServerHello(all[:n])
				switch {
				case errors.Is(err, generate.ErrShort) && !known:
				case err == nil && got == want:
					known = true
				default:
					t.Fatalf("after %d bytes: %+v, %v; want %+v", n, got, err, want)
				}
			}
			if !known {
				t.Error("the hello is never complete")
			}
		})
	}
}

func TestWhatIsNoHelloIsToldApart(t *testing.T) {
	alert, _, err := sent(t, &tls.Config{MinVersion: tls.VersionTLS13}, &tls.Config{MaxVersion: tls.VersionTLS12})
	if err == nil {
		t.Fatal("a server of TLS 1.3 has spoken TLS 1.2")
	}
	for name, tc := range map[string]struct {
		sent string
		want string
	}{
		"an alert":                     {string(alert), "the server refused with TLS alert 70 ("},
		"half an alert":                {"\x15\x03\x01\x00\x02\x02", generate.ErrShort.Error()},
		"plain HTTP":                   {"HTTP/1.1 400 Bad Request\r\n", `the server does not speak TLS: its answer begins with "HTTP/"`},
		"data before a hello":          {"\x17\x03\x03\x00\x01x", "the server does not speak TLS"},
		"another message":              {"\x16\x03\x03\x00\x04\x0b\x00\x00\x00", "the server begins its handshake with message 11"},
		"a hello without a version":    {"\x16\x03\x03\x00\x05\x02\x00\x00\x01\x03", "the server's hello cannot be read"},
		"a session beyond its end":     {"\x16\x03\x03\x00\x28\x02\x00\x00\x24\x03\x03" + strings.Repeat("r", 32) + "\xff\x00", "the server's hello cannot be read"},
		"an extension beyond its end":  {"\x16\x03\x03\x00\x30\x02\x00\x00\x2c\x03\x03" + strings.Repeat("r", 32) + "\x00\x13\x01\x00\x00\x04\x00\x2b\x00\x09", "the server's hello cannot be read"},
		"nothing":                      {"", generate.ErrShort.Error()},
		"the beginning of any message": {"\x16\x03\x03\x00\x02\x02\x00", generate.ErrShort.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := generate.ReadServerHello([]byte(tc.sent)); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %+v, %v, want %q", got, err, tc.want)
			}
		})
	}
}

func FuzzServerHello(f *testing.F) {
	corpus := mutated.Of[[]byte](f)
	corpus.Add([]byte("\x16\x03\x03\x00\x30\x02\x00\x00\x2c\x03\x03" + strings.Repeat("r", 32) + "\x00\x13\x01\x00\x00\x06\x00\x2b\x00\x02\x03\x04"))
	corpus.Fuzz(func(_ testing.TB, sent []byte) { _, _ = generate.ReadServerHello(sent) })
}
