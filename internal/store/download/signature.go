package download

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const (
	scheme = "Loadstone-HMAC-SHA256 "
	// signatureAge is how far the clocks of client and operator may differ.
	signatureAge = 5 * time.Minute
)

// RunKey is a run's download key, derived from the operator's key, so that a restarted operator knows it.
func RunKey(key ed25519.PrivateKey, run types.UID) string {
	m := hmac.New(sha256.New, key.Seed())
	m.Write([]byte("download-key/" + run))
	return hex.EncodeToString(m.Sum(nil))
}

func sign(runKey, namespace, name, file string, at time.Time) []byte {
	m := hmac.New(sha256.New, []byte(runKey))
	fmt.Fprintf(m, "GET\n%s\n%s\n%s\n%d", namespace, name, file, at.Unix())
	return m.Sum(nil)
}

func authorization(runKey, namespace, name, file string, at time.Time) string {
	return fmt.Sprintf("%s%d %x", scheme, at.Unix(), sign(runKey, namespace, name, file, at))
}

func parse(authorization string) (at time.Time, signature []byte, err error) {
	text, ok := strings.CutPrefix(authorization, scheme)
	seconds, digits, both := strings.Cut(text, " ")
	if !ok || !both {
		return time.Time{}, nil, errors.New("the header " + AuthorizationHeader + " has another form")
	}
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return time.Time{}, nil, fmt.Errorf("reading the time of a signature: %w", err)
	}
	signature, err = hex.DecodeString(digits)
	if err != nil {
		return time.Time{}, nil, fmt.Errorf("reading a signature: %w", err)
	}
	return time.Unix(unix, 0), signature, nil
}
