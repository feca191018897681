package agent

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"loadstone.dev/loadstone/controllers/agents"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/testbed"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

func TestMain(m *testing.M) { os.Exit(testbed.Main(m)) }

// far is an operator, an agent that has measured, and a store, with proxies in between.
type far struct {
	*bench
	operator         agents.HTTP
	store            *artifact.Store
	toAgent, toStore *testbed.Proxy
	files            []record.Artifact
	// tries counts the agent's failed attempts to store.
	tries atomic.Int32
}

func newFar(t *testing.T, server testbed.ObjectStore) *far {
	t.Helper()
	texts := map[string]string{"large.txt": strings.Repeat("0123456789abcdef", 1<<14), "empty.txt": ""}
	f := &far{bench: holding(t, texts)}
	f.agent.upload.pause = func(ctx context.Context, _ time.Duration) error {
		f.tries.Add(1)
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Millisecond):
		}
		return ctx.Err()
	}
	for name, text := range texts {
		sum := sha256.Sum256([]byte(text))
		f.files = append(f.files, record.Artifact{Name: name, Key: name, Bytes: int64(len(text)), SHA256: hex.EncodeToString(sum[:])})
	}
	f.toAgent = testbed.NewProxy(t, strings.TrimPrefix(f.url, "http://"))
	f.operator = agents.New(f.key, &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, f.toAgent.Addr)
		},
	})
	f.toStore = testbed.NewProxy(t, server.Endpoint)
	var err error
	f.store, err = artifact.Open(artifact.Config{
		Endpoint: f.toStore.Addr, Bucket: server.NewBucket(t), Region: "us-east-1", AccessKey: server.AccessKey, SecretKey: server.SecretKey,
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *far) order() error {
	f.t.Helper()
	o := protocol.Command{Trial: testTrial, Attempt: testAttempt, Member: f.agent.work.Member(), Store: &protocol.Store{}}
	for _, file := range f.files {
		url, headers, err := f.store.Destination(f.t.Context(), file, time.Hour)
		if err != nil {
			f.t.Fatal(err)
		}
		o.Store.Files = append(o.Store.Files, protocol.Destination{Name: file.Name, URL: url, Headers: headers})
	}
	_, err := f.operator.Command(f.t.Context(), "192.0.2.1", o)
	return err
}

func (f *far) stored() {
	f.t.Helper()
	f.await("Stored", func(s protocol.State) bool { return s.Phase == protocol.Stored && s.StoreError == "" })
	for _, file := range f.files {
		if err := f.store.Verify(f.t.Context(), file); err != nil {
			f.t.Error(err)
		}
	}
}

var ends = map[string][]testbed.Toxic{
	"they hang, and then end":      {{Type: "timeout", Stream: "downstream", Attributes: map[string]int{"timeout": 100}}},
	"they are reset":               {{Type: "reset_peer", Stream: "downstream", Attributes: map[string]int{"timeout": 0}}},
	"requests are cut off":         {{Type: "limit_data", Stream: "upstream", Attributes: map[string]int{"bytes": 50}}},
	"answers are cut off":          {{Type: "limit_data", Stream: "downstream", Attributes: map[string]int{"bytes": 20}}},
	"nobody takes any connections": nil,
}

// poison makes connections through a proxy end; no toxics restore it.
func poison(p *testbed.Proxy, toxics []testbed.Toxic) {
	if toxics == nil {
		p.Down()
	}
	for _, toxic := range toxics {
		p.Poison(toxic)
	}
}

func TestAnAgentStoresItsFilesWhenItsStoreCanBeReachedAgain(t *testing.T) {
	testbed.OnEachStore(t, func(t *testing.T, at testbed.ObjectStore) {
		for name, toxics := range ends {
			t.Run(name, func(t *testing.T) {
				f := newFar(t, at)
				poison(f.toStore, toxics)
				if err := f.order(); err != nil {
					t.Fatal(err)
				}
				s := f.await("trying again", func(protocol.State) bool { return f.tries.Load() >= 3 })
				if s.Phase != protocol.Measured || !s.Uploading {
					t.Errorf("while nothing can be stored the agent is %+v", s)
				}
				f.toStore.Heal()
				f.stored()
			})
		}
	})
}

func TestAnAgentThatIsHardToReachIsNeitherRefusingNorWrong(t *testing.T) {
	for name, toxics := range ends {
		t.Run(name, func(t *testing.T) {
			f := newFar(t, testbed.Store(t))
			poison(f.toAgent, toxics)
			var refusal *agents.Refusal
			if s, err := f.operator.State(t.Context(), "192.0.2.1"); err == nil || errors.As(err, &refusal) {
				t.Errorf("its state is %+v, %v", s, err)
			}
			if err := f.order(); err == nil || errors.As(err, &refusal) {
				t.Errorf("its answer to a command is %v", err)
			}
			f.toAgent.Heal()
			// The first command may have arrived although its answer was lost.
			if err := f.order(); err != nil {
				t.Errorf("when it can be reached again: %v", err)
			}
			f.stored()
			s, err := f.operator.State(t.Context(), "192.0.2.1")
			if err != nil || s.Phase != protocol.Stored || s.Trial != testTrial {
				t.Errorf("its state is %+v, %v", s, err)
			}
		})
	}
}

func TestSlowConnectionsChangeNothing(t *testing.T) {
	f := newFar(t, testbed.Store(t))
	for _, p := range []*testbed.Proxy{f.toAgent, f.toStore} {
		for _, toxic := range []testbed.Toxic{
			{Type: "latency", Stream: "downstream", Attributes: map[string]int{"latency": 50, "jitter": 30}},
			{Type: "bandwidth", Stream: "upstream", Attributes: map[string]int{"rate": 1000}},
			{Type: "slow_close", Stream: "upstream", Attributes: map[string]int{"delay": 100}},
		} {
			p.Poison(toxic)
		}
	}
	if err := f.order(); err != nil {
		t.Fatal(err)
	}
	f.stored()
	body, err := f.store.Get(t.Context(), f.files[0].Key, f.files[0].SHA256)
	if err != nil || !bytes.Equal(body, []byte(strings.Repeat("0123456789abcdef", len(body)/16))) {
		t.Errorf("%d bytes are stored, %v", len(body), err)
	}
}
