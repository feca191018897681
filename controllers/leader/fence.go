package leader

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// ErrLost: this operator does not, or may no longer, hold the lease.
var ErrLost = errors.New("this operator lost the leader lease: writes are refused")

// resolution is how far apart client-go's electors must see two renewals: within one second they see only the first.
const resolution = time.Second

// Fence allows writes only while no other operator can hold the lease: from each renewal for the lease duration minus one second.
type Fence struct {
	duration time.Duration
	now      func() time.Time
	// wall is the same clock without the monotonic reading, which stands still while a virtual machine is paused.
	wall func() time.Time

	mu sync.Mutex
	// until is when others may take the lease, by each clock; zero before the first renewal and after release.
	until, wallUntil time.Time
	// left is the last renewal by another operator, taken when this one took the lease; zero before, or without another.
	left, taken time.Time
	// other is the identity of another operator with the lease; empty if there is none. moved is closed and replaced whenever it changes.
	other string
	moved chan struct{}
}

// NewFence returns a closed Fence. Its clock must be the elector's.
func NewFence(duration time.Duration, now func() time.Time) *Fence {
	return &Fence{duration: duration, now: now, wall: func() time.Time { return now().Round(0) }, moved: make(chan struct{})}
}

// Identity names an operator in the lease, with its pod's IP address.
func Identity(host, ip string) string { return host + "_" + ip + "_" + string(uuid.NewUUID()) }

// Leader is the IP address of another operator that leads; empty if there is none, or its address is unknown. moved is closed when this changes.
func (f *Fence) Leader() (ip string, moved <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if parts := strings.Split(f.other, "_"); len(parts) == 3 {
		if _, err := netip.ParseAddr(parts[1]); err == nil {
			ip = parts[1]
		}
	}
	return ip, f.moved
}

// Check is ErrLost unless the lease is held by both clocks. A wall clock that is set forward closes the fence until the next renewal.
func (f *Fence) Check() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.now().Before(f.until) || !f.wall().Before(f.wallUntil) {
		return ErrLost
	}
	return nil
}

// Absence is the time without a leader before this operator: from the last renewal or release to the takeover. Both are zero if there was no
// earlier leader.
func (f *Fence) Absence() (from, to time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.taken.IsZero() {
		return time.Time{}, time.Time{}
	}
	return f.left, f.taken
}

// Lock is the lease lock that opens the fence. Its own requests must bypass the fence.
func (f *Fence) Lock(config *rest.Config, namespace, name, identity string, renew time.Duration) (resourcelock.Interface, error) {
	lock, err := resourcelock.NewFromKubeconfig(
		resourcelock.LeasesResourceLock, namespace, name, resourcelock.ResourceLockConfig{Identity: identity}, config, renew)
	if err != nil {
		return nil, fmt.Errorf("preparing the lease %s/%s: %w", namespace, name, err)
	}
	return fencedLock{lock, f}, nil
}

// Guard is a transport that allows writes only while the lease is held. Reads always pass.
func (f *Fence) Guard(way http.RoundTripper) http.RoundTripper { return guarded{way, f} }

type guarded struct {
	way   http.RoundTripper
	fence *Fence
}

// RoundTrip implements http.RoundTripper.
func (g guarded) RoundTrip(q *http.Request) (*http.Response, error) {
	if q.Method != http.MethodGet && q.Method != http.MethodHead {
		if err := g.fence.Check(); err != nil {
			if q.Body != nil {
				err = errors.Join(err, q.Body.Close())
			}
			return nil, err
		}
	}
	return g.way.RoundTrip(q)
}

// fencedLock reports lease changes to a fence.
type fencedLock struct {
	resourcelock.Interface
	fence *Fence
}

// Get implements resourcelock.Interface.
func (l fencedLock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	r, raw, err := l.Interface.Get(ctx)
	if err == nil && r.HolderIdentity != l.Identity() {
		l.fence.sees(r)
	}
	return r, raw, err
}

// Create implements resourcelock.Interface.
func (l fencedLock) Create(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	return l.write(r, func() error { return l.Interface.Create(ctx, r) })
}

// Update implements resourcelock.Interface.
func (l fencedLock) Update(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	return l.write(r, func() error { return l.Interface.Update(ctx, r) })
}

// write writes a lease. It counts from before sending, as others count from when they saw it. A lease that may be another's is not released:
// client-go's elector trusts its own memory and would clear the new holder's lease.
func (l fencedLock) write(r resourcelock.LeaderElectionRecord, do func() error) error {
	sent, sentWall := l.fence.now(), l.fence.wall()
	mine := r.HolderIdentity == l.Identity()
	if !mine {
		if err := l.fence.Check(); err != nil {
			return err
		}
		l.fence.hold(time.Time{}, time.Time{})
	}
	if err := do(); err != nil {
		return err
	}
	if mine {
		l.fence.hold(sent.Add(l.fence.duration-resolution), sentWall.Add(l.fence.duration-resolution))
	}
	return nil
}

// hold opens the fence until an instant, which is given by both clocks; the first time, the lease was taken now.
func (f *Fence) hold(until, wallUntil time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.wallUntil = wallUntil
	if f.until = until; f.taken.IsZero() && !f.left.IsZero() && !until.IsZero() {
		f.taken = f.now()
	}
	if !until.IsZero() {
		f.follow("")
	}
}

// sees records leases of other operators.
func (f *Fence) sees(r *resourcelock.LeaderElectionRecord) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.taken.IsZero() {
		f.left = r.RenewTime.Time
	}
	f.follow(r.HolderIdentity)
}

// follow sets the other operator that leads, under the lock.
func (f *Fence) follow(other string) {
	if f.other != other {
		close(f.moved)
		f.other, f.moved = other, make(chan struct{})
	}
}
