package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"strconv"
	"strings"
	"time"
)

const (
	// TimeHeader carries when a request was signed, in seconds since 1970.
	TimeHeader = "Loadstone-Timestamp"
	// SignatureHeader carries sha256= and the HMAC-SHA256, in hexadecimal, of that text, a dot and the body.
	SignatureHeader = "Loadstone-Signature"
	// MaxBody bounds the body of a request.
	MaxBody = 1 << 20
	// Tolerance is how far the clocks of sender and receiver may differ. For so long a request can be sent again, and has to be remembered.
	Tolerance = 5 * time.Minute

	scheme = "sha256="
)

// Signed is a request as it was sent.
type Signed struct {
	// Timestamp and Signature are the values of its headers.
	Timestamp, Signature string
	Body                 []byte
}

// Expires is when the request holds no more. It refuses one that does not hold now, for a reason that says nothing of any suite.
func (s Signed) Expires(now time.Time) (time.Time, error) {
	if s.Timestamp == "" || s.Signature == "" {
		return time.Time{}, fmt.Errorf("the request has no headers %s and %s: sign it", TimeHeader, SignatureHeader)
	}
	seconds, err := strconv.ParseUint(s.Timestamp, 10, 40)
	if err != nil {
		return time.Time{}, fmt.Errorf("%s must be a number of seconds since 1970, as date +%%s prints it", TimeHeader)
	}
	signed := time.Unix(int64(seconds), 0)
	if now.Sub(signed).Abs() > Tolerance {
		return time.Time{}, fmt.Errorf("%s is more than %.0f minutes off: sign the request when you send it, and set the clock", TimeHeader, Tolerance.Minutes())
	}
	return signed.Add(Tolerance), nil
}

// SignedBy reports whether the request was signed with a key. An empty key signs nothing.
func (s Signed) SignedBy(key []byte) bool {
	text, ok := strings.CutPrefix(s.Signature, scheme)
	given, err := hex.DecodeString(text)
	return hmac.Equal(s.sum(hmac.New(sha256.New, key)), given) && ok && err == nil && len(key) > 0
}

// ID tells the request from all others. It says nothing of the key, and does not depend on how the signature is written.
func (s Signed) ID() string { return hex.EncodeToString(s.sum(sha256.New())) }

// sum is the sum of what is signed.
func (s Signed) sum(h hash.Hash) []byte {
	h.Write([]byte(s.Timestamp + "."))
	h.Write(s.Body)
	return h.Sum(nil)
}
