package agent

import (
	"crypto/ed25519"
	"encoding/base64"
	"testing"

	"loadstone.dev/loadstone/internal/agent/observe"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

func TestAnAgentIsTheMemberThatItsEnvironmentNames(t *testing.T) {
	env := map[string]string{
		protocol.EnvTrial: testTrial, protocol.EnvAttempt: "2", protocol.EnvMember: "server-1",
		protocol.EnvKey: base64.StdEncoding.EncodeToString(make([]byte, ed25519.PublicKeySize)),
	}
	c, err := ConfigFromEnv(func(name string) string { return env[name] }, t.TempDir(), Sandbox{})
	if err != nil {
		t.Fatal(err)
	}
	own, err := c.Observer(1)
	if err != nil {
		t.Fatal(err)
	}
	if member := observe.New(own).Member(); member != record.MemberServer(1) {
		t.Errorf("the observer of server-1 is %s", member)
	}
	if _, err := c.Generator(); err == nil {
		t.Error("server-1 passes for a generator")
	}
	c.Member = record.MemberGenerator(3)
	if g, err := c.Generator(); err != nil || g.Index != 3 {
		t.Errorf("generator-3 is number %d, %v", g.Index, err)
	}
	if _, err := c.Observer(1); err == nil {
		t.Error("generator-3 passes for an observer")
	}
	if _, err := c.Launched("/exchange"); err == nil {
		t.Error("generator-3 passes for a collector")
	}
}
