package leader

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// asked is a lease that is as it was said to become, or cannot be written.
type asked struct {
	resourcelock.Interface
	fails error
	// meanwhile is what happens while it is written.
	meanwhile func()
}

func (asked) Identity() string { return "me" }

func (a asked) Create(context.Context, resourcelock.LeaderElectionRecord) error {
	a.meanwhile()
	return a.fails
}

func (a asked) Update(context.Context, resourcelock.LeaderElectionRecord) error {
	a.meanwhile()
	return a.fails
}

func TestAFenceIsOpenFromARenewalOnForTheLeasesDuration(t *testing.T) {
	const duration = 15*time.Second - resolution
	mine := resourcelock.LeaderElectionRecord{HolderIdentity: "me"}
	type step struct {
		does func(resourcelock.Interface) error
		// fails is the API server's error, takes its duration, and after the delay before the check.
		fails        error
		takes, after time.Duration
		open         bool
		// kept is true if the API server is not asked at all.
		kept bool
	}
	create := func(l resourcelock.Interface) error { return l.Create(t.Context(), mine) }
	renew := func(l resourcelock.Interface) error { return l.Update(t.Context(), mine) }
	give := func(l resourcelock.Interface) error {
		return l.Update(t.Context(), resourcelock.LeaderElectionRecord{})
	}
	away := errors.New("the API server is away")
	for name, steps := range map[string][]step{
		"nothing was held yet":                  {{}},
		"a lease was made":                      {{does: create, open: true}},
		"a lease was taken":                     {{does: renew, open: true}},
		"it is about to end":                    {{does: renew, after: duration - 1, open: true}},
		"it has ended":                          {{does: renew, after: duration}},
		"its renewal took some of its time":     {{does: renew, takes: 5 * time.Second, after: duration - 5*time.Second - 1, open: true}, {after: 1}},
		"it was renewed":                        {{does: renew, after: 10 * time.Second, open: true}, {does: renew, after: 10 * time.Second, open: true}},
		"it could not be taken":                 {{does: renew, fails: away}},
		"it could not be renewed, and lasts":    {{does: renew, open: true}, {does: renew, fails: away, after: duration - 1, open: true}},
		"it could not be renewed for long":      {{does: renew, open: true}, {does: renew, fails: away, after: duration}},
		"it was given back":                     {{does: renew, open: true}, {does: give}},
		"it may have been given back":           {{does: renew, open: true}, {does: give, fails: away}},
		"it has run out, and is not given back": {{does: renew, after: duration}, {does: give, kept: true}},
		"it was given back, and is taken again": {{does: renew, open: true}, {does: give}, {does: renew, open: true}},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Unix(0, 0)
			fence := NewFence(duration+resolution, func() time.Time { return now })
			for i, s := range steps {
				said := false
				lock := fencedLock{asked{fails: s.fails, meanwhile: func() { now, said = now.Add(s.takes), true }}, fence}
				want := s.fails
				if s.kept {
					want = ErrLost
				}
				if s.does != nil {
					if err := s.does(lock); !errors.Is(err, want) || said == s.kept {
						t.Fatalf("step %d: got %v, and the API server was asked: %t", i, err, said)
					}
				}
				now = now.Add(s.after)
				if err := fence.Check(); (err == nil) != s.open || err != nil && !errors.Is(err, ErrLost) {
					t.Errorf("after step %d: got %v", i, err)
				}
			}
		})
	}
}

// body notices that it was closed.
type body struct {
	io.Reader
	closed bool
}

func (b *body) Close() error { b.closed = true; return nil }

// While a virtual machine is paused, its monotonic clock stands still. Another operator takes the lease meanwhile.
func TestFenceIsClosedAfterAPauseOfTheVirtualMachine(t *testing.T) {
	start := time.Unix(0, 0)
	for name, tc := range map[string]struct {
		paused time.Duration
		want   error
	}{
		"for less than the lease":      {paused: 10 * time.Second},
		"for longer than the lease":    {paused: time.Minute, want: ErrLost},
		"the wall clock was set back":  {paused: -time.Hour},
		"exactly until the lease ends": {paused: 14 * time.Second, want: ErrLost},
	} {
		t.Run(name, func(t *testing.T) {
			wall := start
			fence := NewFence(15*time.Second, func() time.Time { return start })
			fence.wall = func() time.Time { return wall }
			lock := fencedLock{asked{meanwhile: func() {}}, fence}
			mine := resourcelock.LeaderElectionRecord{HolderIdentity: "me"}
			if err := lock.Update(t.Context(), mine); err != nil {
				t.Fatal(err)
			}
			wall = wall.Add(tc.paused)
			if err := fence.Check(); !errors.Is(err, tc.want) {
				t.Errorf("got %v, want %v", err, tc.want)
			}
			if err := lock.Update(t.Context(), mine); err != nil || fence.Check() != nil {
				t.Errorf("a renewal does not open the fence: %v, %v", err, fence.Check())
			}
		})
	}
}

func TestAClosedFenceLetsReadsThrough(t *testing.T) {
	got := ""
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) { got = q.Method }))
	t.Cleanup(server.Close)
	fence := NewFence(time.Hour, time.Now)
	c := http.Client{Transport: fence.Guard(http.DefaultTransport)}
	for method, reads := range map[string]bool{
		http.MethodGet: true, http.MethodHead: true, http.MethodPost: false, http.MethodPut: false, http.MethodPatch: false, http.MethodDelete: false,
	} {
		for _, open := range []bool{false, true} {
			got = ""
			fence.hold(time.Time{}, time.Time{})
			if open {
				fence.hold(time.Now().Add(time.Hour), time.Now().Add(time.Hour))
			}
			b := &body{Reader: strings.NewReader("x")}
			q, err := http.NewRequestWithContext(t.Context(), method, server.URL, b)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := c.Do(q)
			if err == nil {
				err = resp.Body.Close()
			}
			passes := reads || open
			if (err == nil) != passes || !passes && !errors.Is(err, ErrLost) || (got == method) != passes {
				t.Errorf("%s with a lease %t: got %v, the server %q", method, open, err, got)
			}
			if !passes && !b.closed {
				t.Errorf("%s: the body was left open", method)
			}
		}
	}
}

func TestALockIsALeaseOfTheIdentity(t *testing.T) {
	lock, err := NewFence(time.Second, time.Now).Lock(&rest.Config{Host: "http://127.0.0.1:1"}, "system", "loadstone", "me", time.Second)
	if err != nil || lock.Identity() != "me" || lock.Describe() != "system/loadstone" {
		t.Errorf("got %v, %v", lock, err)
	}
}

// held is a lease that another operator has, or has given back.
type held struct {
	asked
	record *resourcelock.LeaderElectionRecord
}

func (h held) Get(context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	return h.record, nil, h.fails
}

func TestAnOperatorKnowsForHowLongNoneLedBeforeIt(t *testing.T) {
	start := time.Unix(100_000, 0)
	renewed := func(by string, ago time.Duration) *resourcelock.LeaderElectionRecord {
		return &resourcelock.LeaderElectionRecord{HolderIdentity: by, RenewTime: metav1.Time{Time: start.Add(-ago)}}
	}
	away := errors.New("the API server is away")
	for name, tc := range map[string]struct {
		// seen are what the lease says one after the other, and fails what the API server says to the last try to take it.
		seen  []*resourcelock.LeaderElectionRecord
		fails error
		want  time.Duration
	}{
		"it is the first":                       {},
		"the one before was killed":             {seen: []*resourcelock.LeaderElectionRecord{renewed("other", 2*time.Hour)}, want: 2 * time.Hour},
		"the one before gave its lease back":    {seen: []*resourcelock.LeaderElectionRecord{renewed("", time.Second)}, want: time.Second},
		"it has stood by while another led":     {seen: []*resourcelock.LeaderElectionRecord{renewed("other", time.Hour), renewed("other", time.Minute)}, want: time.Minute},
		"it could not take the lease":           {seen: []*resourcelock.LeaderElectionRecord{renewed("other", time.Hour)}, fails: away},
		"it has read the lease after it led":    {seen: []*resourcelock.LeaderElectionRecord{renewed("other", time.Hour), renewed("me", 0)}, want: time.Hour},
		"it leads, and another takes its place": {seen: []*resourcelock.LeaderElectionRecord{renewed("", time.Hour), renewed("me", 0), renewed("other", 0)}, want: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			fence := NewFence(15*time.Second, func() time.Time { return start })
			take := func(fails error) {
				lock := fencedLock{held{asked: asked{fails: fails, meanwhile: func() {}}}, fence}
				if err := lock.Update(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: "me"}); !errors.Is(err, fails) {
					t.Fatal(err)
				}
			}
			for _, r := range tc.seen {
				if r.HolderIdentity == "me" {
					take(nil)
				}
				if _, _, err := (fencedLock{held{record: r}, fence}).Get(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			take(tc.fails)
			if from, to := fence.Absence(); to.Sub(from) != tc.want {
				t.Errorf("nobody led from %s to %s", from, to)
			}
		})
	}
}

func TestAStandbyKnowsTheLeadersAddress(t *testing.T) {
	fence := NewFence(15*time.Second, time.Now)
	other := Identity("loadstone-1", "fd00::7")
	for _, step := range []struct {
		what, holder string
		mine         bool
		want         string
		moves        bool
	}{
		{what: "another leads", holder: other, want: "fd00::7", moves: true},
		{what: "it renews its lease", holder: other, want: "fd00::7"},
		{what: "a third takes over", holder: Identity("loadstone-2", "10.0.0.2"), want: "10.0.0.2", moves: true},
		{what: "it gives its lease back", holder: "", moves: true},
		{what: "one without an address leads", holder: Identity("loadstone-3", ""), moves: true},
		{what: "a name is no address", holder: Identity("loadstone-4", "evil.example"), moves: true},
		{what: "this one leads", mine: true, moves: true},
	} {
		_, moved := fence.Leader()
		lock := fencedLock{held{asked: asked{meanwhile: func() {}}, record: &resourcelock.LeaderElectionRecord{HolderIdentity: step.holder}}, fence}
		var err error
		if step.mine {
			err = lock.Update(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: "me"})
		} else {
			_, _, err = lock.Get(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		got, _ := fence.Leader()
		moves := false
		select {
		case <-moved:
			moves = true
		default:
		}
		if got != step.want || moves != step.moves {
			t.Errorf("%s: the leader's address is %q, want %q; it moved: %t, want %t", step.what, got, step.want, moves, step.moves)
		}
	}
}
