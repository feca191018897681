package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const checksums = "checksums.txt"

// writeChecksums lists all files of a release. Of an image, index.json is enough: it has the digests of everything else.
func writeChecksums(folder string) error {
	var b strings.Builder
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(folder, path)
		switch {
		case err != nil:
			return err
		case e.IsDir() && e.Name() == "blobs":
			return filepath.SkipDir
		case e.IsDir(), strings.HasPrefix(name, checksums):
			return nil
		}
		body, err := os.ReadFile(path)
		fmt.Fprintf(&b, "%s  %s\n", sumOf(body), filepath.ToSlash(name))
		return err
	})
	if err != nil {
		return fmt.Errorf("computing checksums: %w", err)
	}
	return os.WriteFile(filepath.Join(folder, checksums), []byte(b.String()), 0o644)
}

// checkChecksums fails if a file of a release has changed.
func checkChecksums(folder string) error {
	text, err := os.ReadFile(filepath.Join(folder, checksums))
	if err != nil {
		return fmt.Errorf("this is no release folder: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		sum, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if !ok {
			return fmt.Errorf("%s has the line %q, which is no checksum and file", checksums, line)
		}
		body, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(name)))
		if err != nil {
			return fmt.Errorf("checking the release: %w", err)
		}
		if sumOf(body) != sum {
			return fmt.Errorf("%s has changed since the release was built: build it again", name)
		}
	}
	return nil
}

// sign writes checksums.txt.sig, as "cosign sign-blob" does: ECDSA over the SHA-256, in base64. It needs no network, and openssl verifies it.
func (r *release) sign() error {
	key, err := readKey(r.key)
	if err != nil {
		return fmt.Errorf("reading the signing key %s: %w", r.key, err)
	}
	file := filepath.Join(r.folder, checksums)
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("signing %s: %w", checksums, err)
	}
	sum := sha256.Sum256(text)
	// Without chance, the same key gives the same signature (RFC 6979).
	signature, err := key.Sign(nil, sum[:], crypto.SHA256)
	if err != nil {
		return fmt.Errorf("signing %s: %w", checksums, err)
	}
	return os.WriteFile(file+".sig", []byte(base64.StdEncoding.EncodeToString(signature)), 0o644)
}

// readKey reads a private key of openssl: PKCS #8 or SEC 1.
func readKey(file string) (*ecdsa.PrivateKey, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		switch block.Type {
		case "EC PRIVATE KEY":
			return x509.ParseECPrivateKey(block.Bytes)
		case "PRIVATE KEY":
			parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
			if err != nil {
				return nil, err
			}
			if key, ok := parsed.(*ecdsa.PrivateKey); ok {
				return key, nil
			}
			return nil, fmt.Errorf("it is a %T: use an ECDSA key", parsed)
		}
	}
	return nil, errors.New("it has no unencrypted ECDSA key: make one with openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256")
}
