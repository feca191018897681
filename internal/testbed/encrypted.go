package testbed

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"
)

// Encrypted is a server that speaks HTTPS, and remembers who came to it.
type Encrypted struct {
	// Target is its address, as host:port, and Authority has signed its certificate, which is for 127.0.0.1.
	Target, Authority string

	mu     sync.Mutex
	opened int
	hellos []tls.ClientHelloInfo
	seen   []tls.ConnectionState
}

// NewEncrypted starts such a server, which offers HTTP/2, too. Its certificate ends at an instant. It ends with the test.
func NewEncrypted(t *testing.T, end time.Time, handler http.Handler, changes ...func(*tls.Config)) *Encrypted {
	t.Helper()
	authority, pair := Certificate(t, end)
	own, err := tls.X509KeyPair([]byte(pair["public.crt"]), []byte(pair["private.key"]))
	if err != nil {
		t.Fatal(err)
	}
	e := &Encrypted{Authority: authority}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.mu.Lock()
		e.seen = append(e.seen, *r.TLS)
		e.mu.Unlock()
		handler.ServeHTTP(w, r)
	}))
	server.EnableHTTP2 = true
	server.TLS = &tls.Config{Certificates: []tls.Certificate{own}, GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		e.mu.Lock()
		e.hellos = append(e.hellos, *hello)
		e.mu.Unlock()
		return nil, nil
	}}
	for _, change := range changes {
		change(server.TLS)
	}
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			e.mu.Lock()
			e.opened++
			e.mu.Unlock()
		}
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	e.Target = server.Listener.Addr().String()
	return e
}

// Visit is what a server has seen of its clients.
type Visit struct {
	// Connections were opened, and Handshakes begun on them.
	Connections, Handshakes int
	// Names are those of hosts that clients sent, and Protocols those that they offered, each once.
	Names, Protocols []string
	// Version, Cipher, HTTP and Resumed are of the last request's connection.
	Version, Cipher, HTTP string
	Resumed               bool
	Requests              int
}

// Visits are what the server has seen since the last time.
func (e *Encrypted) Visits() Visit {
	e.mu.Lock()
	defer e.mu.Unlock()
	v := Visit{Connections: e.opened, Handshakes: len(e.hellos), Requests: len(e.seen)}
	for _, h := range e.hellos {
		v.Names, v.Protocols = once(v.Names, h.ServerName), once(v.Protocols, h.SupportedProtos...)
	}
	if n := len(e.seen); n > 0 {
		last := e.seen[n-1]
		v.Version, v.Cipher, v.HTTP, v.Resumed = tls.VersionName(last.Version), tls.CipherSuiteName(last.CipherSuite), last.NegotiatedProtocol, last.DidResume
	}
	e.opened, e.hellos, e.seen = 0, nil, nil
	return v
}

func once(list []string, names ...string) []string {
	for _, n := range names {
		if n != "" && !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	return list
}
