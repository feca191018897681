package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// noon is when test requests are sent: 1772452800.
var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

func sign(key, timestamp, body string) Signed {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(timestamp + "." + body))
	return Signed{Timestamp: timestamp, Signature: "sha256=" + hex.EncodeToString(mac.Sum(nil)), Body: []byte(body)}
}

// The value is from: printf '1772452800.{"sha":"abc1234"}' | openssl dgst -sha256 -hmac key.
func TestSignatureMatchesOpenSSL(t *testing.T) {
	s := Signed{Timestamp: "1772452800", Body: []byte(`{"sha":"abc1234"}`), Signature: "sha256=7f6b1c6d9a72e08a72fce8ebcf191e52a448eb97ce22f22dfc38174ee0b09626"}
	if !s.SignedBy([]byte("key")) {
		t.Error("what openssl has signed is refused")
	}
}

func TestRequestsAreVerified(t *testing.T) {
	good := sign("key", "1772452800", "{}")
	for name, tc := range map[string]struct {
		request Signed
		key     string
		now     time.Time
		// want is part of the error before any key is looked up; empty if the time is valid.
		want   string
		signed bool
	}{
		"a request as it should be":           {request: good, key: "key", now: noon, signed: true},
		"a signature in capital letters":      {request: Signed{good.Timestamp, "sha256=" + strings.ToUpper(good.Signature[7:]), good.Body}, key: "key", now: noon, signed: true},
		"the oldest that holds":               {request: good, key: "key", now: noon.Add(5 * time.Minute), signed: true},
		"a clock that is fast":                {request: good, key: "key", now: noon.Add(-5 * time.Minute), signed: true},
		"one that is too old":                 {request: good, key: "key", now: noon.Add(5*time.Minute + time.Second), want: "more than 5 minutes off", signed: true},
		"one from the future":                 {request: good, key: "key", now: noon.Add(-5*time.Minute - time.Second), want: "more than 5 minutes off", signed: true},
		"the key of another suite":            {request: good, key: "other", now: noon},
		"an empty key, with which all sign":   {request: sign("", "1772452800", "{}"), key: "", now: noon},
		"another body":                        {request: Signed{good.Timestamp, good.Signature, []byte("[]")}, key: "key", now: noon},
		"the same time in another text":       {request: Signed{"01772452800", good.Signature, good.Body}, key: "key", now: noon},
		"half a signature":                    {request: Signed{good.Timestamp, good.Signature[:39], good.Body}, key: "key", now: noon},
		"no scheme":                           {request: Signed{good.Timestamp, good.Signature[7:], good.Body}, key: "key", now: noon},
		"another scheme":                      {request: Signed{good.Timestamp, "sha1=" + good.Signature[7:], good.Body}, key: "key", now: noon},
		"a signature that is no number":       {request: Signed{good.Timestamp, good.Signature + "zz", good.Body}, key: "key", now: noon},
		"no signature":                        {request: Signed{good.Timestamp, "", good.Body}, key: "key", now: noon, want: "no headers Loadstone-Timestamp and Loadstone-Signature"},
		"no time":                             {request: Signed{"", good.Signature, good.Body}, key: "key", now: noon, want: "no headers Loadstone-Timestamp and Loadstone-Signature"},
		"a time that people write":            {request: sign("key", "2026-03-02T12:00:00Z", "{}"), key: "key", now: noon, want: "a number of seconds", signed: true},
		"a dot that moves from time to body":  {request: sign("key", "1772452800.5", "{}"), key: "key", now: noon, want: "a number of seconds", signed: true},
		"a time before 1970":                  {request: sign("key", "-1", "{}"), key: "key", now: noon, want: "a number of seconds", signed: true},
		"a time that no clock will ever show": {request: sign("key", "99999999999999999999", "{}"), key: "key", now: noon, want: "a number of seconds", signed: true},
		"a time thirty thousand years away":   {request: sign("key", "999999999999", "{}"), key: "key", now: noon, want: "more than 5 minutes off", signed: true},
	} {
		t.Run(name, func(t *testing.T) {
			expires, err := tc.request.Expires(tc.now)
			if tc.want == "" && (err != nil || !expires.Equal(noon.Add(Tolerance))) {
				t.Errorf("it expires at %v, %v", expires, err)
			} else if tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
			if got := tc.request.SignedBy([]byte(tc.key)); got != tc.signed {
				t.Errorf("signed: %t, want %t", got, tc.signed)
			}
		})
	}
}

func TestTheSameRequestHasTheSameID(t *testing.T) {
	first := sign("key", "1772452800", "{}")
	same := first
	same.Signature = strings.ToUpper(first.Signature)
	ids := map[string]bool{first.ID(): true, same.ID(): true}
	if len(ids) != 1 || len(first.ID()) != idLength {
		t.Errorf("one request has the ids %v", ids)
	}
	for _, other := range []Signed{sign("key", "1772452801", "{}"), sign("key", "1772452800", "[]"), sign("key", "177245280", "0.{}")} {
		if ids[other.ID()] {
			t.Errorf("%+v has the id of another", other)
		}
		ids[other.ID()] = true
	}
}

// suite has two parameters; a webhook picks one.
func suite(expression string) v1alpha1.BenchmarkSuiteSpec {
	s := v1alpha1.BenchmarkSuiteSpec{Parameters: []v1alpha1.Parameter{{Name: "image", Default: "a:1"}, {Name: "commit", Default: "none"}}}
	s.Triggers.Webhook.Parameters = []v1alpha1.PickedParameter{{Name: "image", Value: expression}}
	return s
}

func TestExpressionsAreCheckedBeforeAnythingStarts(t *testing.T) {
	for expression, want := range map[string]string{
		`body.image`:                                      "",
		`"shop:" + body.sha.substring(0, 7)`:              "",
		`has(body.tag) ? body.tag : "main"`:               "",
		`body.images[0].tags.filter(t, t != "latest")[0]`: "",
		`string(body.number)`:                             "",
		`body.`:                                           "line 1, column 6: Syntax error",
		`bdoy.image`:                                      "undeclared reference to 'bdoy'",
		`1 + 1`:                                           "returns type int, but must return a string",
		`body.commits.map(c, c.id)`:                       "returns type list(dyn), but must return a string",
		"'a'.replace('a', 'aaaaaaaaaa')":                  "calls replace, which can return a string of any length",
		strings.Repeat("(", 300) + strings.Repeat(")", 300): "is not a CEL expression",
	} {
		t.Run(expression, func(t *testing.T) {
			err := Check(suite(expression))
			if want == "" && err != nil {
				t.Error(err)
			} else if want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "triggers.webhook.parameters[image].value ")) {
				t.Errorf("got %v, want %q", err, want)
			}
		})
	}
	s := suite("body.image")
	s.Triggers.Webhook.Parameters[0].Name = "imgae"
	if err := Check(s); err == nil || err.Error() != "triggers.webhook.parameters[imgae]: the suite has no such parameter" {
		t.Errorf("got %v", err)
	}
}

func TestValuesArePicked(t *testing.T) {
	for name, tc := range map[string]struct{ expression, body, want, refusal string }{
		"a text":                       {expression: "body.image", body: `{"image": "shop:2"}`, want: "shop:2"},
		"a text of many parts":         {expression: `"shop:" + body.ref.split("/")[2]`, body: `{"ref": "refs/heads/main"}`, want: "shop:main"},
		"a number with all its digits": {expression: `"pr-" + string(body.id)`, body: `{"id": 9007199254740993}`, want: "pr-9007199254740993"},
		"what may be absent":           {expression: `has(body.tag) ? body.tag : "main"`, body: `{}`, want: "main"},
		"a body that is a list":        {expression: "body[1]", body: `["a", "b"]`, want: "b"},
		"no body":                      {expression: "body.image", body: "", refusal: "the body is not JSON"},
		"a form":                       {expression: "body.image", body: "image=shop:2", refusal: "the body is not JSON"},
		"two bodies":                   {expression: "body.image", body: `{"image": "a"} {"image": "b"}`, refusal: "the body is not JSON"},
		"what is absent":               {expression: "body.image", body: `{"tag": "shop:2"}`, refusal: "cannot evaluate triggers.webhook.parameters[image].value on the body: no such key: image"},
		"a body of another kind":       {expression: "body.image", body: `null`, refusal: "on the body"},
		"a number":                     {expression: "body.image", body: `{"image": 2}`, refusal: "returns type int from the body, but must return a string"},
		"null":                         {expression: "body.image", body: `{"image": null}`, refusal: "returns type null_type from the body"},
		"an empty text":                {expression: "body.image", body: `{"image": ""}`, refusal: "returns 0 bytes from the body: it must return 1 to 1024 characters"},
		"a long text":                  {expression: "body.image", body: `{"image": "` + strings.Repeat("é", 1025) + `"}`, refusal: "returns 2050 bytes"},
		"the longest text":             {expression: "body.image", body: `{"image": "` + strings.Repeat("é", 1024) + `"}`, want: strings.Repeat("é", 1024)},
		"an expression that goes on and on": {
			expression: "body.all(a, body.all(b, body.all(c, a + b + c > 0))) ? 'a' : 'b'", body: "[" + strings.Repeat("1,", 999) + "1]", refusal: "cost limit exceeded",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Pick(suite(tc.expression).Triggers.Webhook, []byte(tc.body))
			if tc.refusal != "" {
				if err == nil || !strings.Contains(err.Error(), tc.refusal) {
					t.Errorf("got %v, want %q", err, tc.refusal)
				}
				return
			}
			want := []v1alpha1.ParameterValue{{Name: "image", Value: tc.want}}
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
	if got, err := Pick(v1alpha1.WebhookTrigger{}, []byte("ping")); err != nil || got != nil {
		t.Errorf("a webhook that picks nothing reads the body: %v, %v", got, err)
	}
}

func TestRequestIsRememberedWhileValid(t *testing.T) {
	a, b := strings.Repeat("a", idLength), strings.Repeat("b", idLength)
	values := []v1alpha1.ParameterValue{{Name: "image", Value: "shop:2"}}
	r := Read("").Then(a, values, noon.Add(Tolerance), noon)
	if r = Read(r.Text()); r.ID != a || !r.Has(a) || r.Has(b) || cmp.Diff(values, r.Parameters) != "" {
		t.Errorf("after one request the annotation is %s", r.Text())
	}
	if r = Read(r.Then(b, nil, noon.Add(2*Tolerance), noon.Add(Tolerance)).Text()); r.ID != b || !r.Has(a) || !r.Has(b) || r.Parameters != nil {
		t.Errorf("after two requests the annotation is %s", r.Text())
	}
	if r = r.Then(b, nil, noon.Add(2*Tolerance), noon.Add(Tolerance+time.Second)); r.Has(a) || !r.Has(b) {
		t.Errorf("when the first holds no more, the annotation is %s", r.Text())
	}
	for name, text := range map[string]string{
		"a text of somebody's":          "now",
		"an id of somebody's":           `{"id": "now"}`,
		"more values than there may be": Request{ID: a, Parameters: make([]v1alpha1.ParameterValue, 9)}.Text(),
		"a value without an end":        Request{ID: a, Parameters: []v1alpha1.ParameterValue{{Name: "image", Value: strings.Repeat("x", 1025)}}}.Text(),
	} {
		if r := Read(text); r.ID != "" || r.Parameters != nil {
			t.Errorf("%s asks for a round: %+v", name, r)
		}
	}
}
