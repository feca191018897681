package record

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// MethodGet is the method of a request that names none.
const MethodGet = "GET"

// keyDigits is how much of a digest tells the requests of a run apart.
const keyDigits = 12

// bodied are the methods that are about a body: without one, its length is said to be 0.
var bodied = []string{"POST", "PUT", "PATCH"}

// Request is what is asked of a server.
type Request struct {
	// Method is empty for GET.
	Method string `json:"method,omitempty"`
	// Protocol is that of all requests of a cell.
	Protocol Protocol `json:"protocol,omitempty"`
	Path     string   `json:"path"`
	// Headers are those beside the ones that a tool sends for itself. Each name is there once, whatever the case of its letters.
	Headers []Header `json:"headers,omitempty"`
	// Body is empty if there is none.
	Body string `json:"body,omitempty"`
	// From is where a run has taken the body from; nil of one that stands in the spec. On a cluster the body itself is in the trials, and not in the plan.
	From   *BodySource `json:"from,omitempty"`
	Expect Expect      `json:"expect"`
}

// BodySource is the entry of a ConfigMap that holds a body.
type BodySource struct {
	ConfigMap string `json:"configMap"`
	Key       string `json:"key"`
}

// String is the name under which the body is stored with its run.
func (s BodySource) String() string { return s.ConfigMap + "/" + s.Key }

// Header is a header of a request.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Expect is what a correct response looks like.
type Expect struct {
	Status int32 `json:"status"`
	// Body is the exact body; nil if the bodies of a trial are compared with its first, and that with the baseline's.
	Body *string `json:"body,omitempty"`
	// AnyBody is true if no bodies are compared: only the status counts.
	AnyBody bool `json:"anyBody,omitempty"`
}

// Verb is the method of the request.
func (r Request) Verb() string { return cmp.Or(r.Method, MethodGet) }

// Plain reports whether the request is a GET with nothing but its path, in HTTP/1.
func (r Request) Plain() bool {
	return r.Method == "" && r.Protocol == "" && len(r.Headers) == 0 && r.Body == "" && r.From == nil
}

// InHTTP2 ends the key of a request in HTTP/2.
const InHTTP2 = "HTTP/2"

// Key tells what is asked apart from what else a run asks: the path of a plain request, or else the method, the path and the beginning of a digest
// of headers and body, such as "POST /orders 5891b5b522d5". In HTTP/2 that follows.
func (r Request) Key() string {
	if r.Protocol == HTTP2 {
		r.Protocol = ""
		return r.Key() + " " + InHTTP2
	}
	if r.Plain() {
		return r.Path
	}
	var all strings.Builder
	for _, h := range r.Headers {
		fmt.Fprintf(&all, "%s: %s\n", strings.ToLower(h.Name), h.Value)
	}
	body := r.Body
	if r.From != nil { // Of such a body the plan knows the name alone, and a run freezes it.
		body = "from " + r.From.String()
	}
	return r.Verb() + " " + r.Path + " " + digest(all.String() + "\n" + body)[:keyDigits]
}

// BodySHA256 is the digest of the body; empty if there is none.
func (r Request) BodySHA256() string {
	if r.Body == "" {
		return ""
	}
	return digest(r.Body)
}

// NoBody reports whether the request has to say that it has no body, since its method is about one.
func (r Request) NoBody() bool {
	return r.Body == "" && r.From == nil && slices.Contains(bodied, r.Method)
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// TLS says that a server speaks HTTPS on its port, and what its certificate is held against.
type TLS struct {
	// CA are the certificates by which it is verified, in PEM; empty if nothing is verified.
	CA string `json:"ca,omitempty"`
	// ServerName is the name that it must be for; empty if names are not compared.
	ServerName string `json:"serverName,omitempty"`
}

// Verification says in a part of a sentence what is verified of the certificate.
func (t TLS) Verification() string {
	switch {
	case t.CA == "":
		return "its certificate is not verified"
	case t.ServerName == "":
		return "its certificate is verified by ca, for any name"
	}
	return fmt.Sprintf("its certificate is verified by ca, for %s", t.ServerName)
}

// ClientCheck names Loadstone's own check among the clients of a server.
const ClientCheck = "check"

// Encryption is what a client and a server have agreed on in a handshake of TLS, before anything was measured.
type Encryption struct {
	// Server is the place of the server among those of the trial, from 0.
	Server int `json:"server,omitempty"`
	// Client is a tool, or ClientCheck.
	Client string `json:"client"`
	// Version and Cipher are such as "TLS 1.3" and "TLS_AES_128_GCM_SHA256".
	Version string `json:"version"`
	Cipher  string `json:"cipher"`
	// Key is the kind of the key in the server's certificate, such as "ECDSA P-256", and Verified says that the certificate is as the spec wants it.
	// Both are of the check, which alone looks at it.
	Key      string `json:"key,omitempty"`
	Verified bool   `json:"verified,omitempty"`
}
