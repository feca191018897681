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

// Bounds of a request, equal to the API's.
const (
	maxParameters, maxValue = 8, 1024
	idLength                = 64
)

// Request is the suite's annotation: the newest request with values, by webhook or by hand.
type Request struct {
	// ID is the signed request's id; empty if there was none.
	ID         string                    `json:"id"`
	Parameters []v1alpha1.ParameterValue `json:"parameters,omitempty"`
	// ByHand marks a request by someone who may change the suite; it needs no webhook.
	ByHand bool `json:"byHand,omitempty"`
	// Taken holds the ids of unexpired requests with their expiry in Unix seconds, so none is accepted twice.
	Taken map[string]int64 `json:"taken,omitempty"`
}

// Read parses the annotation. What the webhook would not write counts as no request.
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

func fits(value string) bool { return value != "" && utf8.RuneCountInString(value) <= maxValue }

// Text returns the annotation.
func (r Request) Text() string {
	text, _ := json.Marshal(r) // Texts and numbers can always be written.
	return string(text)
}

// Has reports whether an unexpired request was accepted before.
func (r Request) Has(id string) bool { return r.Taken[id] > 0 }

// Then returns the annotation after another request. Expired ids are dropped.
func (r Request) Then(id string, parameters []v1alpha1.ParameterValue, expires, now time.Time) Request {
	taken := map[string]int64{id: expires.Unix()}
	maps.Copy(taken, r.Taken)
	maps.DeleteFunc(taken, func(_ string, until int64) bool { return until < now.Unix() })
	return Request{ID: id, Parameters: parameters, Taken: taken}
}

// Trigger returns the trigger of the round that answers the request.
func (r Request) Trigger() v1alpha1.Trigger {
	if r.ByHand {
		return v1alpha1.TriggerRequest
	}
	return v1alpha1.TriggerWebhook
}

// Who is the sender, by the request's values.
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

// Given lists the values of a request.
func Given(values []v1alpha1.ParameterValue) string {
	var all []string
	for _, v := range values {
		all = append(all, v.Name+"="+v.Value)
	}
	return strings.Join(all, ", ")
}

const (
	// TimeHeader carries the signing time in Unix seconds.
	TimeHeader = "Loadstone-Timestamp"
	// SignatureHeader carries sha256= and the hexadecimal HMAC-SHA256 of that time, a dot and the body.
	SignatureHeader = "Loadstone-Signature"
	// MaxBody bounds a request's body.
	MaxBody = 1 << 20
	// Tolerance is the allowed clock difference. A request could be replayed for so long, so it is remembered.
	Tolerance = 5 * time.Minute

	scheme = "sha256="
)

// Signed is a request as sent.
type Signed struct {
	// Timestamp and Signature are header values.
	Timestamp, Signature string
	Body                 []byte
}

// Expires returns when the request expires, or why it is not valid now. The error reveals nothing about suites.
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
		return time.Time{}, fmt.Errorf("%s is more than %.0f minutes off: sign the request when you send it, and check the clock", TimeHeader, Tolerance.Minutes())
	}
	return signed.Add(Tolerance), nil
}

// SignedBy reports whether a key signed the request. An empty key signs nothing.
func (s Signed) SignedBy(key []byte) bool {
	text, ok := strings.CutPrefix(s.Signature, scheme)
	given, err := hex.DecodeString(text)
	return hmac.Equal(s.sum(hmac.New(sha256.New, key)), given) && ok && err == nil && len(key) > 0
}

// ID identifies the request, whatever its key and the spelling of its signature.
func (s Signed) ID() string { return hex.EncodeToString(s.sum(sha256.New())) }

func (s Signed) sum(h hash.Hash) []byte {
	h.Write([]byte(s.Timestamp + "."))
	h.Write(s.Body)
	return h.Sum(nil)
}
