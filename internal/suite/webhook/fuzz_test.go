package webhook_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/suite/webhook"
	"loadstone.dev/loadstone/internal/testbed/mutated"
)

// FuzzPick evaluates expressions on bodies that a forge, or anyone with the key, sends.
func FuzzPick(f *testing.F) {
	corpus := mutated.Of[[]byte](f)
	for _, body := range []string{
		`{"ref": "refs/heads/main", "after": "0123456789012345678901234567890123456789", "commits": [{"id": "a", "n": 9007199254740993}]}`,
		`{"after": null}`, `{"after": {"after": ["x"]}}`, `[]`, `"after"`,
	} {
		corpus.Add([]byte(body))
	}
	trigger := v1alpha1.WebhookTrigger{Parameters: []v1alpha1.PickedParameter{
		{Name: "commit", Value: "body.after"}, {Name: "all", Value: "body.commits.map(c, string(c.n)).join(',')"},
	}}
	corpus.Fuzz(func(t testing.TB, body []byte) {
		values, err := webhook.Pick(trigger, body)
		if err != nil {
			return
		}
		for _, v := range values {
			if v.Value == "" || utf8.RuneCountInString(v.Value) > 1024 {
				t.Errorf("picked %d bytes", len(v.Value))
			}
		}
	})
}

// FuzzRead reads the annotation of a request, which everyone may write who may change the suite.
func FuzzRead(f *testing.F) {
	corpus := mutated.Of[string](f)
	corpus.Add(webhook.Request{ID: strings.Repeat("a", 64), Parameters: []v1alpha1.ParameterValue{{Name: "commit", Value: "x"}}, Taken: map[string]int64{"a": 1}}.Text())
	corpus.Add(`{"byHand": true}`)
	corpus.Fuzz(func(t testing.TB, annotation string) {
		r := webhook.Read(annotation)
		if again := webhook.Read(r.Text()); r.ID != "" && again.ID != r.ID {
			t.Errorf("%q is read as %+v, and again as %+v", annotation, r, again)
		}
	})
}
