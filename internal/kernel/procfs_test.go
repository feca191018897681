package kernel

import (
	"testing"

	"loadstone.dev/loadstone/internal/kernel/kerneltest"
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
