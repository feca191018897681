package generate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"loadstone.dev/loadstone/internal/agent/httpcheck"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/trial/protocol"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

const (
	// helloFile is the output of a tool whose handshake is read, relative to the agent's folder; helloLoad is its cell's name.
	helloFile  = "hello.txt"
	helloLoad  = "hello"
	helloBytes = 64 << 10
)

func serverAt(targets []string, encrypted []*record.TLS, i int) httpcheck.Server {
	s := httpcheck.Server{Address: targets[i]}
	if i < len(encrypted) {
		s.TLS = encrypted[i]
	}
	return s
}

func targetOf(s httpcheck.Server) tool.Target {
	return tool.Target{Address: s.Address, TLS: s.TLS != nil}
}

// checkEncryption verifies a server's certificate, and finds what the check and, on the first generator, each tool negotiate with it. It does
// nothing without TLS. The error is a sentence.
func (g *Generator) checkEncryption(ctx context.Context, c protocol.Check, i int) ([]record.Encryption, error) {
	server := serverAt(c.Targets, c.TLS, i)
	if server.TLS == nil {
		return nil, nil
	}
	own, err := httpcheck.Handshake(ctx, server, protocolOf(c.Cells))
	if err != nil {
		return nil, err
	}
	own.Server = i
	all, seen := []record.Encryption{own}, map[record.Tool]bool{}
	for _, cell := range c.Cells {
		t, able := g.tools[cell.Tool]
		if g.config.Index != 0 || seen[cell.Tool] || !able {
			continue
		}
		seen[cell.Tool] = true
		agreed, err := g.handshake(ctx, t, cell, server.Address)
		if err != nil {
			return nil, fmt.Errorf("%s could not start TLS with the server: %w: both need a common version and cipher suite; change the server's, or choose another tool", cell.Tool, err)
		}
		all = append(all, record.Encryption{Server: i, Client: string(cell.Tool), Version: agreed.Version, Cipher: agreed.Cipher})
	}
	return all, nil
}

// protocolOf returns HTTP/2 if any cell uses it: the server must then agree. Requests of other cells show whether it also speaks HTTP/1.1.
func protocolOf(cells []record.Cell) record.Protocol {
	if slices.ContainsFunc(cells, func(c record.Cell) bool { return c.Protocol() == record.HTTP2 }) {
		return record.HTTP2
	}
	return ""
}

// handshake lets a tool connect once through a relay that reads the negotiated parameters, since tools do not print all of them. It then ends
// the tool.
func (g *Generator) handshake(ctx context.Context, t tool.Tool, cell record.Cell, server string) (found Agreed, err error) {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	r, err := startRelay(ctx, server)
	if err != nil {
		return found, err
	}
	defer r.end()
	// A tool dies with the thread that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	share := timetable.Share(cell, 0)
	share.Load, share.Script, share.Search, share.Step, share.RequestsPerSecond, share.RampToRequestsPerSecond = helloLoad, nil, nil, 0, 0, 0
	target := tool.Target{Address: r.address(), TLS: true}
	if err := g.writeFiles(t, share, target); err != nil {
		return found, err
	}
	defer g.discard(t, share, target)
	path := filepath.Join(g.config.Dir, helloFile)
	out, err := os.Create(path)
	if err != nil {
		return found, fmt.Errorf("creating the output of a handshake: %w", err)
	}
	defer func() { err = errors.Join(err, out.Close(), os.Remove(path)) }()
	p, err := launch(ctx, g.config.Dir, t.Args(share, target, tool.Probe), share, nil, out, time.Now().Add(probeLimit), nil)
	if err != nil {
		return found, err
	}
	over := make(chan error, 1)
	go func() { over <- p.wait() }()
	select {
	case heard := <-r.heard:
		p.cancel()
		<-over //nolint:errcheck // It was killed: that is no news.
		return heard.agreed, heard.err
	case err := <-over:
		return r.orElse(ended(err, out))
	}
}

// relay forwards connections to a server, and reads what the server negotiates.
type relay struct {
	listener net.Listener
	server   string
	heard    chan heard
	busy     sync.WaitGroup
	close    context.CancelFunc
}

type heard struct {
	agreed Agreed
	err    error
}

func startRelay(ctx context.Context, server string) (*relay, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening for a tool's handshake: %w", err)
	}
	r := &relay{listener: l, server: server, heard: make(chan heard, 1)}
	ctx, r.close = context.WithCancel(ctx)
	r.busy.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return // It was closed.
			}
			r.busy.Go(func() { r.pass(ctx, client) })
		}
	})
	return r, nil
}

func (r *relay) address() string { return r.listener.Addr().String() }

func (r *relay) end() {
	r.close()
	_ = r.listener.Close() // There are no more connections.
	r.busy.Wait()
}

func (r *relay) orElse(err error) (Agreed, error) {
	select {
	case h := <-r.heard:
		return h.agreed, h.err
	default:
		return Agreed{}, err
	}
}

func (r *relay) pass(ctx context.Context, client net.Conn) {
	defer client.Close()
	var dialer net.Dialer
	server, err := dialer.DialContext(ctx, "tcp", r.server)
	if err != nil {
		return // The client sees its connection end.
	}
	defer server.Close()
	stop := context.AfterFunc(ctx, func() { client.Close(); server.Close() })
	defer stop()
	r.busy.Go(func() {
		_, _ = io.Copy(server, client) // If one side ends, both are closed.
		server.Close()
	})
	// A client only knows the bytes from before.
	_, _ = io.Copy(client, io.TeeReader(server, &ear{heard: r.heard}))
}

type ear struct {
	sent  []byte
	done  bool
	heard chan<- heard
}

// Write implements io.Writer.
func (e *ear) Write(part []byte) (int, error) {
	if e.done {
		return len(part), nil
	}
	e.sent = append(e.sent, part...)
	agreed, err := ReadServerHello(e.sent)
	if e.done = !errors.Is(err, ErrShort) || len(e.sent) > helloBytes; e.done {
		select {
		case e.heard <- heard{agreed, err}:
		default: // Another connection was heard before.
		}
	}
	return len(part), nil
}
