package protocol

import (
	"crypto/ed25519"
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/testbed/mutated"
)

// FuzzState reads what an agent answers to the operator.
func FuzzState(f *testing.F) {
	corpus := mutated.Of[[]byte](f)
	for _, s := range []State{
		{Files: []File{{Name: "result.json", SHA256: strings.Repeat("a", 64), Bytes: 10}}},
		{},
	} {
		seed, err := json.Marshal(s)
		if err != nil {
			f.Fatal(err)
		}
		corpus.Add(seed)
	}
	corpus.Fuzz(func(t testing.TB, answer []byte) {
		var s State
		if json.Unmarshal(answer, &s) != nil {
			return
		}
		if s.Check() != nil {
			return
		}
		for _, file := range s.Files {
			if file.Bytes < 0 || strings.ContainsAny(file.Name, "/\\") || strings.ContainsFunc(file.Name, unicode.IsControl) {
				t.Errorf("accepted the file %+v", file)
			}
		}
	})
}

// FuzzOpen opens commands whose signature is right: the operator's own, of another version or damaged before it signed them.
func FuzzOpen(f *testing.F) {
	public, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		f.Fatal(err)
	}
	corpus := mutated.Of[[]byte](f)
	seed, err := json.Marshal(Command{Trial: "t", Attempt: 2, Member: record.MemberGenerator(0), Check: &Check{Targets: []string{"10.0.0.1:80"}}})
	if err != nil {
		f.Fatal(err)
	}
	corpus.Add(seed)
	corpus.Fuzz(func(t testing.TB, command []byte) {
		o, err := Open(public, Envelope{Command: command, Signature: ed25519.Sign(key, command)}, "t", 2, record.MemberGenerator(0))
		if err == nil && (o.Trial != "t" || o.Attempt != 2) {
			t.Errorf("opened a command for %s, attempt %d", o.Trial, o.Attempt)
		}
	})
}
