package agent

import (
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/record"
)

// snmp is a /proc/net/snmp with some counters of TCP.
func snmp(active, passive, out, again int) string {
	return fmt.Sprintf("Ip: Forwarding DefaultTTL\nIp: 1 64\nTcp: RtoAlgorithm MaxConn ActiveOpens PassiveOpens CurrEstab OutSegs RetransSegs\n"+
		"Tcp: 1 -1 %d %d 9 %d %d\nUdp: InDatagrams\nUdp: 3\n", active, passive, out, again)
}

// netstat is a /proc/net/netstat with the counters of handshakes.
func netstat(overflows, drops, again int) string {
	return fmt.Sprintf("TcpExt: SyncookiesSent ListenOverflows ListenDrops TCPSynRetrans TCPOrigDataSent\nTcpExt: 0 %d %d %d 99\n"+
		"IpExt: InNoRoutes ListenDrops\nIpExt: 1 77\n", overflows, drops, again)
}

func TestCounterIn(t *testing.T) {
	tests := map[string]struct {
		text string
		name string
		want int64
		ok   bool
	}{
		"the first column that is asked for": {text: snmp(5, 7, 100, 1), name: activeOpens, want: 5, ok: true},
		"the last column":                    {text: snmp(5, 7, 100, 1), name: retransmits, want: 1, ok: true},
		"a column that is negative":          {text: snmp(5, 7, 100, 1), name: "MaxConn"},
		"a column that is not there":         {text: snmp(5, 7, 100, 1), name: "OutRsts"},
		"a column of another protocol":       {text: snmp(5, 7, 100, 1), name: "InDatagrams"},
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

func FuzzNamespace(f *testing.F) {
	f.Add([]byte(snmp(5, 7, 100, 1)))
	f.Add([]byte("TCP: inuse 2 orphan 0 tw 3 alloc 4 mem 1\nsome avg10=0.00 total=3\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		opens, _ := counterIn(text, linesTCP, activeOpens)
		waiting, _ := timeWait(text)
		pressure, _ := parsePressure(text)
		ran, waited := parseSchedstat(text)
		if min(opens, waiting, pressure, ran, waited) < 0 {
			t.Errorf("a counter is negative: %d %d %d %d %d", opens, waiting, pressure, ran, waited)
		}
	})
}

func TestNamespaceCountsAConnection(t *testing.T) {
	n, err := openNamespace("/proc/self/net")
	if err != nil {
		t.Fatal(err)
	}
	defer n.close()
	before, err := n.read()
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", newTarget(t, hello))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	after, err := n.read()
	if err != nil {
		t.Fatal(err)
	}
	got := between(before, after)
	if got.ActiveOpens < 1 || got.PassiveOpens < 1 || got.SegmentsOut < 2 {
		t.Errorf("one connection was counted as %+v", got)
	}
}

func TestNamespaceThatIsNotThere(t *testing.T) {
	proc := fakeProc(t, map[string]string{"9/net/snmp": ""})
	for pid, want := range map[int]string{6: "snmp: no such file", 9: "sockstat: no such file"} {
		if _, err := openNamespace(proc.path(pid, "net")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("openNamespace() of process %d = %v, want an error with %q", pid, err, want)
		}
	}
	n, err := openNamespace(proc.path(7, "net"))
	if err != nil {
		t.Fatal(err)
	}
	defer n.close()
	want := record.Network{
		ActiveOpens: 5, PassiveOpens: 7, SegmentsOut: 100, Retransmits: 1, TimeWait: 3,
		Handshakes: &record.Handshakes{ListenOverflows: 2, ListenDrops: 3, SynRetransmits: 4},
	}
	got, err := n.read()
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("read(): error %v, (-want +got):\n%s", err, diff)
	}
	rewrite(t, proc, map[string]string{"7/net/sockstat": "UDP:\n"})
	if _, err := n.read(); err == nil {
		t.Error("a namespace without sockets in TIME_WAIT was read")
	}
	rewrite(t, proc, map[string]string{"7/net/snmp": "Tcp: A\nTcp: 1\n"})
	if _, err := n.read(); err == nil {
		t.Error("a namespace without counters was read")
	}
}

func TestHandshakesThatTheKernelDoesNotTell(t *testing.T) {
	for name, change := range map[string]func(procfs){
		"no file":   func(p procfs) { _ = os.Remove(p.path(7, "net/netstat")) },
		"no column": func(p procfs) { rewrite(t, p, map[string]string{"7/net/netstat": "TcpExt: ListenDrops\nTcpExt: 1\n"}) },
	} {
		t.Run(name, func(t *testing.T) {
			proc := fakeProc(t, nil)
			change(proc)
			s, err := openServer(proc, 7)
			if err != nil {
				t.Fatal(err)
			}
			defer s.close()
			shot := s.snapshot()
			var got record.CellObservation
			difference(&got, shot, shot)
			if got.Network.Handshakes != nil || !slices.Contains(got.Unknown, nameHandshakes+" is unknown: "+errNoHandshakes.Error()+".") {
				t.Errorf("handshakes %+v, unknown %q", got.Network.Handshakes, got.Unknown)
			}
		})
	}
}

// crowd lets more clients connect to a listener than its queue holds, and nobody accepts them.
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

func TestNamespaceCountsAFullQueue(t *testing.T) {
	n, err := openNamespace("/proc/self/net")
	if err != nil {
		t.Fatal(err)
	}
	defer n.close()
	before, err := n.read()
	if err != nil || before.Handshakes == nil {
		t.Fatalf("handshakes %+v, error %v", before.Handshakes, err)
	}
	crowd(t, 1, 8)
	var got record.Handshakes
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		after, err := n.read()
		if err != nil {
			t.Fatal(err)
		}
		got = *between(before, after).Handshakes
		if got.ListenOverflows > 0 && got.ListenDrops >= got.ListenOverflows && got.SynRetransmits > 0 {
			return
		}
	}
	t.Errorf("eight connections to a queue of one were counted as %+v", got)
}

func TestPressure(t *testing.T) {
	const cgroup = "7/root/sys/fs/cgroup/"
	tests := map[string]struct {
		files map[string]string
		want  int64
		none  bool
	}{
		"of the machine": {want: 1000},
		"of the container, with cgroup version 2": {
			files: map[string]string{cgroup + "cpu.stat": "usage_usec 1\n", cgroup + "cpu.pressure": "some avg10=0.00 avg60=0.00 avg300=0.00 total=77\n"}, want: 77,
		},
		"of the machine, where version 2 has none": {files: map[string]string{cgroup + "cpu.stat": "usage_usec 1\n"}, want: 1000},
		"a file that says something else":          {files: map[string]string{"pressure/cpu": "full total=3\n"}, none: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s, err := openServer(fakeProc(t, tc.files), 7)
			if err != nil {
				t.Fatal(err)
			}
			defer s.close()
			got := s.pressure()
			if (got == nil) != tc.none || got != nil && *got != tc.want {
				t.Errorf("pressure() = %v, want %d (none: %v)", got, tc.want, tc.none)
			}
		})
	}
}

func TestWaitsOfAKernelThatDoesNotCountThem(t *testing.T) {
	s, err := openServer(fakeProc(t, map[string]string{"7/task/7/schedstat": "0 0 0\n"}), 7)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	shot := s.snapshot()
	var got record.CellObservation
	difference(&got, shot, shot)
	want := nameRunQueue + " is unknown: the kernel has no schedstat."
	if len(got.Unknown) == 0 || got.Unknown[len(got.Unknown)-1] != want {
		t.Errorf("unknown = %q, want %q", got.Unknown, want)
	}
}
