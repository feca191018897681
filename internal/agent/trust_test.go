package agent

import (
	"encoding/pem"
	"io"
	"log"
	"net/http/httptest"
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/trial/protocol"
)

func TestAnAgentTrustsTheAuthoritiesThatItIsTold(t *testing.T) {
	s3 := &fakeS3{t: t, puts: map[string]int{}, bodies: map[string]string{}}
	server := httptest.NewUnstartedServer(s3)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	b := holding(t, map[string]string{"a.txt": "text"})
	order := storeCommand(server.URL, "a.txt")
	for _, step := range []struct {
		name, ca, want string
		phase          protocol.Phase
	}{
		{"none", "", "storing a.txt: the object store's certificate is signed by an authority that is not trusted", protocol.Measured},
		{"what is no certificate", "text", "there is no certificate in it", protocol.Measured},
		{"the right one", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})), "", protocol.Stored},
	} {
		order.Store.CA = step.ca
		b.must(order)
		state := b.await("done", func(s protocol.State) bool { return !s.Uploading })
		if state.Phase != step.phase || !strings.Contains(state.StoreError, step.want) || step.want == "" && state.StoreError != "" {
			t.Errorf("%s: got phase %s, error %q; want %s, %q", step.name, state.Phase, state.StoreError, step.phase, step.want)
		}
	}
}
