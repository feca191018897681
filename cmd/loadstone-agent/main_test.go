package main

import (
	"bytes"
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/trial/protocol"
)

func TestRunRefuses(t *testing.T) {
	env := map[string]string{protocol.EnvTrial: "t", protocol.EnvAttempt: "1", protocol.EnvKey: "AAAA"}
	tests := map[string]struct {
		args []string
		env  map[string]string
		want string
	}{
		"nothing to do":              {want: "usage: loadstone-agent generate"},
		"something else to do":       {args: []string{"attack"}, want: "usage: loadstone-agent generate"},
		"a flag that is not there":   {args: []string{"generate", "--target=x"}, want: "flag provided but not defined"},
		"an observer without a port": {args: []string{"observe"}, want: "--port must be the port of the server"},
		"no trial":                   {args: []string{"generate"}, want: protocol.EnvTrial + " is not set"},
		"a key that is too short":    {args: []string{"generate"}, env: env, want: "it has 3 bytes, an Ed25519 public key has 32"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := run(t.Context(), &bytes.Buffer{}, tc.args, func(name string) string { return tc.env[name] })
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("run() = %v, want an error with %q", err, tc.want)
			}
		})
	}
}

func TestRunPrintsItsVersion(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), &out, []string{"version"}, func(string) string { return "" }); err != nil || out.String() != "dev\n" {
		t.Errorf("run() printed %q, error %v", out.String(), err)
	}
}
