package agent

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/agent/generate"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/protocol"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

const (
	testTrial   = "0b5e9c1e-trial"
	testAttempt = 2
	patience    = 2 * time.Minute
)

type bench struct {
	t     *testing.T
	agent *Agent
	url   string
	key   ed25519.PrivateKey
	dir   string
}

func newBench(t *testing.T, makeWorker func(Config) Worker) *bench {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	config := Config{Trial: testTrial, Attempt: testAttempt, Key: public, Node: "node-a", Dir: t.TempDir(), Sandbox: Sandbox{Cgroup: "/sys/fs/cgroup", Network: "/proc/self/net"}}
	ctx, cancel := context.WithCancel(t.Context())
	a := New(ctx, config, makeWorker(config))
	a.upload.pause = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	server := httptest.NewServer(a.Handler())
	t.Cleanup(func() {
		server.Close()
		cancel()
		a.Wait(patience)
	})
	return &bench{t: t, agent: a, url: server.URL, key: private, dir: config.Dir}
}

func (b *bench) command(o protocol.Command) (int, protocol.State, string) {
	b.t.Helper()
	o.Trial, o.Attempt, o.Member = testTrial, testAttempt, b.agent.work.Member()
	return b.seal(b.key, o)
}

func (b *bench) seal(key ed25519.PrivateKey, o protocol.Command) (int, protocol.State, string) {
	b.t.Helper()
	envelope, err := protocol.Seal(key, o)
	if err != nil {
		b.t.Fatal(err)
	}
	body, err := json.Marshal(envelope)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.post(body)
}

func (b *bench) post(body []byte) (int, protocol.State, string) {
	b.t.Helper()
	response, err := http.Post(b.url+"/v1/command", "application/json", bytes.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	var state protocol.State
	if response.StatusCode == http.StatusOK {
		if err := json.Unmarshal(answer, &state); err != nil {
			b.t.Fatal(err)
		}
	}
	return response.StatusCode, state, string(bytes.TrimSpace(answer))
}

func (b *bench) must(o protocol.Command) protocol.State {
	b.t.Helper()
	status, state, text := b.command(o)
	if status != http.StatusOK {
		b.t.Fatalf("the command was answered %d: %s", status, text)
	}
	return state
}

func (b *bench) state() protocol.State {
	b.t.Helper()
	response, err := http.Get(b.url + "/v1/state")
	if err != nil {
		b.t.Fatal(err)
	}
	defer response.Body.Close()
	var state protocol.State
	if err := json.NewDecoder(response.Body).Decode(&state); err != nil {
		b.t.Fatal(err)
	}
	return state
}

func (b *bench) await(what string, wanted func(protocol.State) bool) protocol.State {
	b.t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if s := b.state(); wanted(s) {
			return s
		}
	}
	b.t.Fatalf("the agent was never %s: %+v", what, b.state())
	return protocol.State{}
}

func measured(s protocol.State) bool { return s.Phase == protocol.Measured }

type idler struct {
	dir string
	// fails holds failures by cell; writes holds the files left, by name.
	fails  map[string]string
	writes map[string]string
	err    error
}

func (idler) Member() string { return record.MemberGenerator(0) }

func (w idler) Measure(ctx context.Context, start protocol.Start, done func(record.Cell, string)) (any, []string, error) {
	for _, slot := range start.Slots {
		done(slot.Cell, w.fails[timetable.CellName(slot.Cell)])
	}
	for name, text := range w.writes {
		if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
			return nil, nil, err
		}
	}
	return map[string]int{"cells": len(start.Slots)}, slices.Sorted(maps.Keys(w.writes)), w.err
}

func idle(t *testing.T) *bench {
	t.Helper()
	return newBench(t, func(c Config) Worker { return idler{dir: c.Dir} })
}

func generating(t *testing.T) *bench {
	t.Helper()
	return newBench(t, func(c Config) Worker {
		c.Member = record.MemberGenerator(0)
		own, err := c.Generator()
		if err != nil {
			t.Fatal(err)
		}
		return generate.New(own, nil, nil)
	})
}

func hello(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("helloworld")) }

func newTarget(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func cell(connections int32) record.Cell {
	return record.Cell{
		Load: "sweep", Tool: record.ToolWrk, Connections: connections, Generators: 1, Threads: 1, DurationSeconds: 1,
		Request: record.Request{Path: "/", Expect: record.Expect{Status: 200}},
	}
}

func starting(after time.Duration, cells ...record.Cell) protocol.Start {
	return protocol.Start{At: time.Now().Add(after), Targets: []string{"127.0.0.1:80"}, Slots: timetable.Of(cells)}
}
