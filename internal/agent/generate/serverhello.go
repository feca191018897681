package generate

import (
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
)

// Agreed is the result of a TLS negotiation.
type Agreed struct {
	// Version and Cipher are such as "TLS 1.3" and "TLS_AES_128_GCM_SHA256".
	Version, Cipher string
}

// ErrShort: more bytes are needed.
var ErrShort = errors.New("the server's hello is not complete")

// AlertError is the alert number of a refused handshake.
type AlertError uint8

// Error says so.
func (a AlertError) Error() string {
	return fmt.Sprintf("the server refused with TLS alert %d (%s)", uint8(a), tls.AlertError(a))
}

const (
	recordHead, recordAlert, recordHandshake = 5, 21, 22
	messageHead, messageServerHello          = 4, 2
	randomBytes                              = 32
	extensionVersions                        = 43
)

// ReadServerHello parses the first message of a server, which may span several records. It returns ErrShort until the message is complete.
func ReadServerHello(sent []byte) (Agreed, error) {
	var message []byte
	for len(sent) >= recordHead {
		kind, end := sent[0], recordHead+int(binary.BigEndian.Uint16(sent[3:]))
		part := sent[recordHead:min(end, len(sent))]
		switch {
		case sent[1] != 3 || kind != recordHandshake && kind != recordAlert:
			return Agreed{}, fmt.Errorf("the server does not speak TLS: its answer begins with %q", sent[:recordHead])
		case kind == recordAlert && len(part) >= 2:
			return Agreed{}, AlertError(part[1])
		case kind == recordAlert:
			return Agreed{}, ErrShort
		}
		message = append(message, part...)
		if agreed, err := firstHello(message); !errors.Is(err, ErrShort) || end > len(sent) {
			return agreed, err
		}
		sent = sent[end:]
	}
	return Agreed{}, ErrShort
}

func firstHello(message []byte) (Agreed, error) {
	if len(message) < messageHead {
		return Agreed{}, ErrShort
	}
	end := messageHead + (int(message[1])<<16 | int(binary.BigEndian.Uint16(message[2:])))
	switch {
	case message[0] != messageServerHello:
		return Agreed{}, fmt.Errorf("the server begins its handshake with message %d", message[0])
	case len(message) < end:
		return Agreed{}, ErrShort
	}
	return serverHello(message[messageHead:end])
}

var errMalformed = errors.New("the server's hello cannot be read")

// serverHello parses a hello: version, random, session, cipher suite, compression, extensions.
func serverHello(body []byte) (Agreed, error) {
	const fixed = 2 + randomBytes + 1
	if len(body) < fixed || len(body) < fixed+int(body[fixed-1])+3 {
		return Agreed{}, errMalformed
	}
	version, rest := binary.BigEndian.Uint16(body), body[fixed+int(body[fixed-1]):]
	cipher, rest := binary.BigEndian.Uint16(rest), rest[3:]
	if len(rest) >= 2 {
		rest = rest[2:]
	}
	// TLS 1.3 announces 1.2 here and the true version in an extension.
	for len(rest) >= messageHead {
		kind, size := binary.BigEndian.Uint16(rest), int(binary.BigEndian.Uint16(rest[2:]))
		if len(rest) < messageHead+size {
			return Agreed{}, errMalformed
		}
		if kind == extensionVersions && size == 2 {
			version = binary.BigEndian.Uint16(rest[messageHead:])
		}
		rest = rest[messageHead+size:]
	}
	return Agreed{Version: tls.VersionName(version), Cipher: tls.CipherSuiteName(cipher)}, nil
}
