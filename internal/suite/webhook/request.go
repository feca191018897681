package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"maps"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// Bounds of a request, which are those of the API.
const (
	maxParameters, maxValue = 8, 1024
	idLength                = 64
)

// Request is what the annotation of a suite holds: the newest request that gives values to parameters, to its webhook or by hand.
type Request struct {
	// ID is that of the signed request; empty if there was none.
	ID         string                    `json:"id"`
	Parameters []v1alpha1.ParameterValue `json:"parameters,omitempty"`
	// ByHand is true of a request that somebody has written down who may change the suite: it came to no webhook, and needs none.
	ByHand bool `json:"byHand,omitempty"`
	// Taken are the ids of all requests that still hold, and when they hold no more, in seconds since 1970: none is taken twice.
	Taken map[string]int64 `json:"taken,omitempty"`
}

// Read reads the annotation of a suite. What the webhook does not write asks for nothing.
func Read(annotation string) Request {
	var r Request
	if json.Unmarshal([]byte(annotation), &r) != nil || len(r.ID) != idLength || len(r.Parameters) > maxParameters {
		return Request{}
	}
	for _, p := range r.Parameters {
		if !fits(p.Value) {
			return Request{}
		}
	}
	return r
}

// fits reports whether a text can be the value of a parameter.
func fits(value string) bool { return value != "" && utf8.RuneCountInString(value) <= maxValue }

// Text is the annotation that holds the request.
func (r Request) Text() string {
	text, _ := json.Marshal(r) // Texts and numbers can always be written.
	return string(text)
}

// Has reports whether a request was taken that still holds.
func (r Request) Has(id string) bool { return r.Taken[id] > 0 }

// Then is what the annotation holds after another request, which expires at a time. Those that have expired are forgotten.
func (r Request) Then(id string, parameters []v1alpha1.ParameterValue, expires, now time.Time) Request {
	taken := map[string]int64{id: expires.Unix()}
	maps.Copy(taken, r.Taken)
	maps.DeleteFunc(taken, func(_ string, until int64) bool { return until < now.Unix() })
	return Request{ID: id, Parameters: parameters, Taken: taken}
}

// Trigger is what the request is for the round that answers it.
func (r Request) Trigger() v1alpha1.Trigger {
	if r.ByHand {
		return v1alpha1.TriggerRequest
	}
	return v1alpha1.TriggerWebhook
}

// Who names the request, by the values that it gives.
func (r Request) Who() string {
	who := "the request to the webhook"
	if r.ByHand {
		who = "the request by hand"
	}
	if len(r.Parameters) == 0 {
		return who
	}
	return who + " with " + Given(r.Parameters)
}

// Given tells of the values that a request has given.
func Given(values []v1alpha1.ParameterValue) string {
	var all []string
	for _, v := range values {
		all = append(all, v.Name+"="+v.Value)
	}
	return strings.Join(all, ", ")
}

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
