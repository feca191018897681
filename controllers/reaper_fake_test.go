package controllers

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/agents"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

// errDead is what an operator sees of the world after its end.
var errDead = errors.New("the operator has ended")

// reaper crashes operators one after the other, each at a new write: before it, or right after it, before the operator learns of it. Statuses are
// written often, with new content each time: each such write is a crash, or every other one if the write is lost, so that the next operator makes
// progress. After its crash, an operator reaches nothing.
type reaper struct {
	// after: the write at the crash succeeds.
	after bool

	mu sync.Mutex
	// ends are the writes with a crash, in order; met is the same set without statuses.
	ends []string
	met  map[string]bool
	// owed are the statuses whose last write has not landed.
	owed map[string]bool
	// starts counts recorded starts by trial, told the agents that got one.
	starts map[string]int
	told   int
	// late holds from a trial's second start until its agents got it: a third crash there would use up its attempts.
	late bool
	life *life
}

func newReaper(after bool) *reaper {
	return &reaper{after: after, met: map[string]bool{}, owed: map[string]bool{}, starts: map[string]int{}}
}

// life is an operator's ways to the world, until dead is closed.
type life struct {
	client client.Client
	store  Store
	agents agents.Client
	dead   chan struct{}
	// absence is the time without an operator before; nil if unknown.
	absence func() (from, to time.Time)
}

// seize puts the reaper between a new operator and its world.
func (r *reaper) seize(l life) life {
	if r == nil {
		return l
	}
	l.dead = make(chan struct{})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.life = &l
	return life{client: mortalClient{l.client, r, &l}, store: mortalStore{l.store, r, &l}, agents: mortalAgents{l.agents, r, &l}}
}

// died is closed when the operator of today has ended.
func (r *reaper) died() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.life.dead
}

func (r *reaper) ended() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.ends...)
}

func (l *life) over() bool {
	select {
	case <-l.dead:
		return true
	default:
		return false
	}
}

// write is something that an operator writes.
type write struct {
	// what describes all such writes, which this one.
	what, which string
	// status is true of a status, and begins of one that says when a trial starts.
	status, begins bool
}

// write does a write of an operator, or lets it end at it. One write happens at a time.
func (r *reaper) write(l *life, one write, do func() error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l.over() {
		return errDead
	}
	ends := r.due(one)
	if ends && !r.after {
		r.end(l, one)
		return errDead
	}
	if err := do(); err != nil {
		return err
	}
	if one.begins {
		r.starts[one.which]++
		r.late = r.starts[one.which] > 1
	}
	if ends {
		r.end(l, one)
		return errDead
	}
	return nil
}

// due reports whether an operator is to end at a write.
func (r *reaper) due(one write) bool {
	key := one.what + " " + one.which
	switch {
	case r.late || r.told%2 == 1:
		return false // Another test covers a start that only some agents got.
	case one.status && r.after:
		return true
	case one.status:
		r.owed[key] = !r.owed[key]
		return r.owed[key]
	case r.met[key]:
		return false
	}
	r.met[key] = true
	return true
}

func (r *reaper) end(l *life, one write) {
	r.ends = append(r.ends, one.what)
	close(l.dead)
}

// order passes on a command of an operator that has not ended.
func (r *reaper) order(l *life, o protocol.Command, do func() (protocol.State, error)) (protocol.State, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l.over() {
		return protocol.State{}, errDead
	}
	state, err := do()
	if err == nil && o.Start != nil {
		r.told++
		r.late = r.late && r.told%2 == 1
	}
	return state, err
}

// mortalClient is an operator's client of the API server.
type mortalClient struct {
	client.Client
	r *reaper
	l *life
}

func (c mortalClient) write(verb string, o client.Object, detail string, do func() error) error {
	return c.r.write(c.l, write{what: fmt.Sprintf("%s %T", verb, o), which: o.GetName() + detail}, do)
}

// Create implements client.Client, as do the methods after it.
func (c mortalClient) Create(ctx context.Context, o client.Object, opts ...client.CreateOption) error {
	return c.write("create", o, "", func() error { return c.Client.Create(ctx, o, opts...) })
}

func (c mortalClient) Delete(ctx context.Context, o client.Object, opts ...client.DeleteOption) error {
	return c.write("delete", o, "", func() error { return c.Client.Delete(ctx, o, opts...) })
}

func (c mortalClient) DeleteAllOf(ctx context.Context, o client.Object, opts ...client.DeleteAllOfOption) error {
	return c.write("delete all", o, "", func() error { return c.Client.DeleteAllOf(ctx, o, opts...) })
}

func (c mortalClient) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	data, err := p.Data(o)
	if err != nil {
		return err
	}
	return c.write("patch", o, string(data), func() error { return c.Client.Patch(ctx, o, client.RawPatch(p.Type(), data), opts...) })
}

func (c mortalClient) Status() client.SubResourceWriter {
	return mortalStatus{c.Client.Status(), c.r, c.l}
}

// mortalStatus is how an operator writes statuses.
type mortalStatus struct {
	client.SubResourceWriter
	r *reaper
	l *life
}

func (s mortalStatus) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
	data, err := p.Data(o)
	if err != nil {
		return err
	}
	_, trial := o.(*v1alpha1.Trial)
	one := write{what: fmt.Sprintf("status %T", o), which: o.GetName(), status: true, begins: trial && strings.Contains(string(data), `"startTime":"`)}
	if strings.Contains(string(data), `"report":{"tries":`) {
		// An operator that ends at each of its tries would end over the report.
		one = write{what: "a try at the report", which: o.GetName()}
	}
	return s.r.write(s.l, one, func() error { return s.SubResourceWriter.Patch(ctx, o, client.RawPatch(p.Type(), data), opts...) })
}

// Store is what fakes of the object store embed.
type Store = artifact.Bucket

// mortalStore is an operator's object store.
type mortalStore struct {
	Store
	r *reaper
	l *life
}

func (s mortalStore) Put(ctx context.Context, key, contentType string, body []byte) (a record.Artifact, err error) {
	err = s.r.write(s.l, write{what: "store " + path.Base(key), which: key}, func() (err error) {
		a, err = s.Store.Put(ctx, key, contentType, body)
		return err
	})
	return a, err
}

func (s mortalStore) PutJSON(ctx context.Context, key string, v any) (a record.Artifact, err error) {
	err = s.r.write(s.l, write{what: "store " + path.Base(key), which: key}, func() (err error) {
		a, err = s.Store.PutJSON(ctx, key, v)
		return err
	})
	return a, err
}

// mortalAgents is an operator's way to the agents.
type mortalAgents struct {
	agents.Client
	r *reaper
	l *life
}

func (a mortalAgents) Command(ctx context.Context, ip string, o protocol.Command) (protocol.State, error) {
	return a.r.order(a.l, o, func() (protocol.State, error) { return a.Client.Command(ctx, ip, o) })
}
