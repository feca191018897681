package kernel

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/agent/kernel/kerneltest"
)

func TestListening(t *testing.T) {
	const header = "  sl  local_address rem_address   st tx_queue rx_queue\n"
	tests := map[string]struct {
		text string
		want bool
	}{
		"nothing":                   {text: header},
		"a listening socket":        {text: header + "   0: 00000000:1F90 00000000:0000 0A 00000000:00000000\n", want: true},
		"a listening socket, IPv6":  {text: header + "   0: 00000000000000000000000000000000:1F90 00000000000000000000000000000000:0000 0A 0:0\n", want: true},
		"a connection of that port": {text: header + "   0: 0100007F:1F90 0100007F:C000 01 00000000:00000000\n"},
		"another port":              {text: header + "   0: 00000000:1F91 00000000:1F90 0A 00000000:00000000\n"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			proc := Proc(kerneltest.Proc(t, map[string]string{"net/tcp": header, "net/tcp6": tc.text}))
			if got := proc.Listening(8080); got != tc.want {
				t.Errorf("Listening() = %v, want %v", got, tc.want)
			}
		})
	}
}

func TestTheListenerIsTheFirstProcessThatHoldsTheSocket(t *testing.T) {
	const line = "   0: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 77 1\n"
	for name, tc := range map[string]struct {
		links map[string]string
		port  int
		want  int
	}{
		"a parent and its child":   {map[string]string{"7/fd/3": "socket:[77]", "8/fd/3": "socket:[77]"}, 8080, 7},
		"a child alone":            {map[string]string{"7/fd/3": "socket:[78]", "8/fd/3": "socket:[77]"}, 8080, 8},
		"a socket of another port": {map[string]string{"7/fd/3": "socket:[77]"}, 8081, 0},
		"nobody":                   {nil, 8080, 0},
	} {
		t.Run(name, func(t *testing.T) {
			dir := kerneltest.Proc(t, map[string]string{"net/tcp": line})
			for path, to := range tc.links {
				if err := os.Symlink(to, filepath.Join(dir, path)); err != nil {
					t.Fatal(err)
				}
			}
			got, ok := Proc(dir).Listener([]int{7, 8, 9}, tc.port)
			if got != tc.want || ok != (tc.want != 0) {
				t.Errorf("got %d, %v; want %d", got, ok, tc.want)
			}
		})
	}
}

func TestSinceBoot(t *testing.T) {
	for text, want := range map[string]time.Duration{"12.34 99.00\n": 12340 * time.Millisecond, "": 0, "x": 0} {
		proc := Proc(kerneltest.Proc(t, map[string]string{"uptime": text}))
		if got, err := proc.SinceBoot(); got.Round(time.Millisecond) != want || (err == nil) != (want > 0) {
			t.Errorf("%q: got %v, %v; want %v", text, got, err, want)
		}
	}
	if got := (Process{Started: 123}).Start(); got != 1230*time.Millisecond {
		t.Errorf("a process started at %v", got)
	}
}
