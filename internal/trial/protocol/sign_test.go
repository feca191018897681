package protocol

import (
	"crypto/ed25519"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/record"
)

func TestOpenObeysTheOperatorOnly(t *testing.T) {
	pub, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	_, stranger, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	command := Command{Trial: "t", Attempt: 2, Member: record.MemberGenerator(0), Check: &Check{Targets: []string{"10.0.0.1:80"}}}
	tests := map[string]struct {
		sign    ed25519.PrivateKey
		change  func(*Envelope)
		trial   string
		attempt int32
		member  string
		want    string
	}{
		"a command of its own":             {sign: key, trial: "t", attempt: 2, member: record.MemberGenerator(0)},
		"a command of somebody else":       {sign: stranger, trial: "t", attempt: 2, member: record.MemberGenerator(0), want: ErrSignature.Error()},
		"a command changed on its way":     {sign: key, change: func(e *Envelope) { e.Command[len(e.Command)-3] ^= 1 }, trial: "t", attempt: 2, member: record.MemberGenerator(0), want: ErrSignature.Error()},
		"a command for another trial":      {sign: key, trial: "u", attempt: 2, member: record.MemberGenerator(0), want: "the command is for t attempt 2"},
		"a command for an earlier attempt": {sign: key, trial: "t", attempt: 3, member: record.MemberGenerator(0), want: "this agent is t attempt 3"},
		"a command for another member":     {sign: key, trial: "t", attempt: 2, member: record.MemberServer(0), want: "this agent is t attempt 2 as server-0"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			e, err := Seal(tc.sign, command)
			if err != nil {
				t.Fatal(err)
			}
			if tc.change != nil {
				tc.change(&e)
			}
			got, err := Open(pub, e, tc.trial, tc.attempt, tc.member)
			if tc.want == "" {
				if diff := cmp.Diff(command, got); err != nil || diff != "" {
					t.Errorf("error %v, (-want +got):\n%s", err, diff)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
	if _, err := Open(nil, Envelope{}, "", 0, ""); !errors.Is(err, ErrSignature) {
		t.Errorf("an agent without a key obeys: %v", err)
	}
}
