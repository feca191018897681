package agent

import (
	"crypto/ed25519"
	"encoding/base64"
	"testing"

	"loadstone.dev/loadstone/internal/observe"
	"loadstone.dev/loadstone/internal/protocol"
)

func TestTheObserverOfTheSecondServerObeysOrdersForItsOwnRoleOnly(t *testing.T) {
	env := map[string]string{
		protocol.EnvTrial: testTrial, protocol.EnvAttempt: "2", protocol.EnvBeside: "true",
		protocol.EnvKey: base64.StdEncoding.EncodeToString(make([]byte, ed25519.PublicKeySize)),
	}
	c, err := ConfigFromEnv(func(name string) string { return env[name] }, t.TempDir(), Sandbox{})
	if err != nil {
		t.Fatal(err)
	}
	if role := observe.New(c.Observer(1)).Role(); role != protocol.RoleBeside {
		t.Errorf("the observer beside is the %s", role)
	}
	c.Beside = false
	if role := observe.New(c.Observer(1)).Role(); role != protocol.RoleObserver {
		t.Errorf("the observer is the %s", role)
	}
}
