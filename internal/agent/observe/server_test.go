package observe

import (
	"os"
	"slices"
	"testing"

	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/agent/kernel/kerneltest"
	"loadstone.dev/loadstone/internal/record"
)

func TestHandshakesThatTheKernelDoesNotTell(t *testing.T) {
	for name, change := range map[string]func(kernel.Proc){
		"no file": func(p kernel.Proc) { _ = os.Remove(p.Path(7, "net/netstat")) },
		"no column": func(p kernel.Proc) {
			kerneltest.Rewrite(t, string(p), map[string]string{"7/net/netstat": "TcpExt: ListenDrops\nTcpExt: 1\n"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := kerneltest.Proc(t, nil)
			change(kernel.Proc(dir))
			s, err := openServer(kernel.Proc(dir), 7, Config{Cgroup: "/sys/fs/cgroup"})
			if err != nil {
				t.Fatal(err)
			}
			defer s.close()
			shot := s.snapshot()
			var got record.CellObservation
			difference(&got, shot, shot)
			if got.Network.Handshakes != nil || !slices.Contains(got.Unknown, nameHandshakes+" is unknown: "+kernel.ErrNoHandshakes.Error()+".") {
				t.Errorf("handshakes %+v, unknown %q", got.Network.Handshakes, got.Unknown)
			}
		})
	}
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
			s, _ := fakeServer(t, tc.files)
			got := s.pressure()
			if (got == nil) != tc.none || got != nil && *got != tc.want {
				t.Errorf("pressure() = %v, want %d (none: %v)", got, tc.want, tc.none)
			}
		})
	}
}

func TestWaitsOfAKernelThatDoesNotCountThem(t *testing.T) {
	s, _ := fakeServer(t, map[string]string{"7/task/7/schedstat": "0 0 0\n"})
	shot := s.snapshot()
	var got record.CellObservation
	difference(&got, shot, shot)
	want := nameRunQueue + " is unknown: the kernel has no schedstat."
	if len(got.Unknown) == 0 || got.Unknown[len(got.Unknown)-1] != want {
		t.Errorf("unknown = %q, want %q", got.Unknown, want)
	}
}
