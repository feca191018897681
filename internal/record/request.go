package record

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// MethodGet is the default method.
const MethodGet = "GET"

// keyDigits is the length of the digest in a request's key.
const keyDigits = 12

// bodied methods send Content-Length 0 without a body.
var bodied = []string{"POST", "PUT", "PATCH"}

// Request is a request to a server.
type Request struct {
	// Method is empty for GET.
	Method   string   `json:"method,omitempty"`
	Protocol Protocol `json:"protocol,omitempty"`
	Path     string   `json:"path"`
	// Headers are in addition to the tool's own. Each name occurs once, whatever its case.
	Headers []Header `json:"headers,omitempty"`
	Body    string   `json:"body,omitempty"`
	// From is the source of the body; nil if the spec holds it. On a cluster such a body is in the trials, not in the
	// plan.
	From   *BodySource `json:"from,omitempty"`
	Expect Expect      `json:"expect"`
}

// BodySource is the entry of a ConfigMap that holds a body.
type BodySource struct {
	ConfigMap string `json:"configMap"`
	Key       string `json:"key"`
}

// String returns the name of the stored body.
func (s BodySource) String() string { return s.ConfigMap + "/" + s.Key }

// Header is a header of a request.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Expect describes a correct response.
type Expect struct {
	Status int32 `json:"status"`
	// Body is the exact body; nil if a trial's bodies are compared with its first, and that with the baseline's.
	Body *string `json:"body,omitempty"`
	// AnyBody: only the status is compared.
	AnyBody bool `json:"anyBody,omitempty"`
}

// Verb returns the method of the request.
func (r Request) Verb() string { return cmp.Or(r.Method, MethodGet) }

// Plain reports whether the request is a GET of a path in HTTP/1, with nothing else.
func (r Request) Plain() bool {
	return r.Method == "" && r.Protocol == "" && len(r.Headers) == 0 && r.Body == "" && r.From == nil
}

// InHTTP2 ends the key of a request in HTTP/2.
const InHTTP2 = "HTTP/2"

// Key returns the request's key in a run: the path of a plain request. Otherwise it has method, path and the start of a digest of headers and body,
// such as "POST /orders 5891b5b522d5". InHTTP2 may follow.
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
	if r.From != nil { // The plan knows only the name of such a body; a run freezes it.
		body = "from " + r.From.String()
	}
	return r.Verb() + " " + r.Path + " " + digest(all.String() + "\n" + body)[:keyDigits]
}

// BodySHA256 returns the digest of the body; empty if there is none.
func (r Request) BodySHA256() string {
	if r.Body == "" {
		return ""
	}
	return digest(r.Body)
}

// NoBody reports whether the request must say that it has no body, because of its method.
func (r Request) NoBody() bool {
	return r.Body == "" && r.From == nil && slices.Contains(bodied, r.Method)
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// TLS means that a server speaks HTTPS, and says how its certificate is verified.
type TLS struct {
	// CA holds PEM certificates; empty if nothing is verified.
	CA string `json:"ca,omitempty"`
	// ServerName is the required name; empty if names are not compared.
	ServerName string `json:"serverName,omitempty"`
}

// Verification describes the verification as part of a sentence.
func (t TLS) Verification() string {
	switch {
	case t.CA == "":
		return "its certificate is not verified"
	case t.ServerName == "":
		return "its certificate is verified by ca, for any name"
	}
	return fmt.Sprintf("its certificate is verified by ca, for %s", t.ServerName)
}

// ClientCheck names Loadstone's own check among a server's clients.
const ClientCheck = "check"

// Encryption is the result of a TLS handshake before the measurement.
type Encryption struct {
	Server int `json:"server,omitempty"`
	// Client is a tool, or ClientCheck.
	Client string `json:"client"`
	// Version and Cipher are such as "TLS 1.3" and "TLS_AES_128_GCM_SHA256".
	Version string `json:"version"`
	Cipher  string `json:"cipher"`
	// Key is the kind of the certificate's key, such as "ECDSA P-256"; Verified means that the certificate meets the
	// spec. Only the check sets them.
	Key      string `json:"key,omitempty"`
	Verified bool   `json:"verified,omitempty"`
}
