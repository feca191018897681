package record

import "fmt"

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
