package kernel

import (
	"context"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/agent/kernel/kerneltest"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/testbed/mutated"
)

func TestCounterIn(t *testing.T) {
	tests := map[string]struct {
		text string
		name string
		want int64
		ok   bool
	}{
		"the first column that is asked for": {text: kerneltest.SNMP(5, 7, 100, 1), name: activeOpens, want: 5, ok: true},
		"the last column":                    {text: kerneltest.SNMP(5, 7, 100, 1), name: retransmits, want: 1, ok: true},
		"a column that is negative":          {text: kerneltest.SNMP(5, 7, 100, 1), name: "MaxConn"},
		"a column that is not there":         {text: kerneltest.SNMP(5, 7, 100, 1), name: "OutRsts"},
		"a column of another protocol":       {text: kerneltest.SNMP(5, 7, 100, 1), name: "InDatagrams"},
		"values that are cut off":            {text: "Tcp: A ActiveOpens\nTcp: 1", name: activeOpens},
		"names without values":               {text: "Tcp: ActiveOpens\n", name: activeOpens},
		"nothing":                            {name: activeOpens},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok := counterIn([]byte(tc.text), linesTCP, tc.name)
			if got != tc.want || ok != tc.ok {
				t.Errorf("counterIn() = %d, %v; want %d, %v", got, ok, tc.want, tc.ok)
			}
		})
	}
}

func TestTimeWait(t *testing.T) {
	tests := map[string]struct {
		text string
		want int64
		ok   bool
	}{
		"the kernel's text":      {text: "sockets: used 20\nTCP: inuse 2 orphan 0 tw 21527 alloc 4 mem 124\nUDP: inuse 0 mem 0\n", want: 21527, ok: true},
		"another file":           {text: "UDP: inuse 0 tw 3\n"},
		"a line without sockets": {text: "TCP: inuse 2\n"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok := timeWait([]byte(tc.text))
			if got != tc.want || ok != tc.ok {
				t.Errorf("timeWait() = %d, %v; want %d, %v", got, ok, tc.want, tc.ok)
			}
		})
	}
}

func FuzzCounters(f *testing.F) {
	corpus := mutated.Of[[]byte](f)
	corpus.Add([]byte(kerneltest.SNMP(5, 7, 100, 1)))
	corpus.Add([]byte("TCP: inuse 2 orphan 0 tw 3 alloc 4 mem 1\nsome avg10=0.00 total=3\n"))
	corpus.Fuzz(func(t testing.TB, text []byte) {
		opens, _ := counterIn(text, linesTCP, activeOpens)
		waiting, _ := timeWait(text)
		pressure, _ := parsePressure(text)
		ran, waited := parseSchedstat(text)
		if min(opens, waiting, pressure, ran, waited) < 0 {
			t.Errorf("a counter is negative: %d %d %d %d %d", opens, waiting, pressure, ran, waited)
		}
	})
}

func TestNetworkCountsAConnection(t *testing.T) {
	n, err := OpenNetwork("/proc/self/net")
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	before, err := n.Read()
	if err != nil {
		t.Fatal(err)
	}
	l, _ := listen(t, "127.0.0.1:0")
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	after, err := n.Read()
	if err != nil {
		t.Fatal(err)
	}
	got := Traffic(before, after)
	if got.ActiveOpens < 1 || got.PassiveOpens < 1 || got.SegmentsOut < 2 {
		t.Errorf("one connection was counted as %+v", got)
	}
}

func TestNetworkThatIsNotThere(t *testing.T) {
	proc := Proc(kerneltest.Proc(t, map[string]string{"9/net/snmp": ""}))
	for pid, want := range map[int]string{6: "snmp: no such file", 9: "sockstat: no such file"} {
		if _, err := OpenNetwork(proc.Path(pid, "net")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("OpenNetwork() of process %d = %v, want an error with %q", pid, err, want)
		}
	}
	n, err := OpenNetwork(proc.Path(7, "net"))
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	want := record.Network{
		ActiveOpens: 5, PassiveOpens: 7, SegmentsOut: 100, Retransmits: 1, TimeWait: 3,
		Handshakes: &record.Handshakes{ListenOverflows: 2, ListenDrops: 3, SynRetransmits: 4},
	}
	got, err := n.Read()
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("Read(): error %v, (-want +got):\n%s", err, diff)
	}
	kerneltest.Rewrite(t, string(proc), map[string]string{"7/net/sockstat": "UDP:\n"})
	if _, err := n.Read(); err == nil {
		t.Error("a namespace without sockets in TIME_WAIT was read")
	}
	kerneltest.Rewrite(t, string(proc), map[string]string{"7/net/snmp": "Tcp: A\nTcp: 1\n"})
	if _, err := n.Read(); err == nil {
		t.Error("a namespace without counters was read")
	}
}

func crowd(t *testing.T, backlog, clients int) {
	t.Helper()
	l, _ := listen(t, "127.0.0.1:0")
	raw, err := l.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if errListen := raw.Control(func(fd uintptr) { err = syscall.Listen(int(fd), backlog) }); errListen != nil || err != nil {
		t.Fatal(errListen, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", l.Addr().String())
			if err != nil {
				return
			}
			<-ctx.Done()
			_ = conn.Close()
		})
	}
	t.Cleanup(func() { cancel(); all.Wait() })
}

func TestNetworkCountsAFullQueue(t *testing.T) {
	n, err := OpenNetwork("/proc/self/net")
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	before, err := n.Read()
	if err != nil || before.Handshakes == nil {
		t.Fatalf("handshakes %+v, error %v", before.Handshakes, err)
	}
	crowd(t, 1, 8)
	var got record.Handshakes
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		after, err := n.Read()
		if err != nil {
			t.Fatal(err)
		}
		got = *Traffic(before, after).Handshakes
		if got.ListenOverflows > 0 && got.ListenDrops >= got.ListenOverflows && got.SynRetransmits > 0 {
			return
		}
	}
	t.Errorf("eight connections to a queue of one were counted as %+v", got)
}

func BenchmarkLook(b *testing.B) {
	n, err := OpenNetwork("/proc/self/net")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(n.Close)
	kerneltest.OwnTime(b, OwnCPUNanos, func() {
		if _, err := n.ActiveOpens(); err != nil {
			b.Fatal(err)
		}
	})
}
