package httpcheck

import (
	"bytes"
	"testing"

	"golang.org/x/net/http2"
)

func TestTheHeadsOfAnswersAreCountedHoweverTheyAreCut(t *testing.T) {
	var came bytes.Buffer
	f := http2.NewFramer(&came, nil)
	want := 0
	for i, write := range []func() error{
		func() error { return f.WriteSettings(http2.Setting{ID: http2.SettingMaxFrameSize, Val: 1 << 14}) },
		func() error {
			return f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: make([]byte, 300)})
		},
		func() error { return f.WriteContinuation(1, true, make([]byte, 20)) },
		func() error { return f.WriteData(1, false, make([]byte, 1000)) },
		func() error { return f.WriteData(1, true, nil) },
		func() error {
			return f.WriteHeaders(http2.HeadersFrameParam{StreamID: 3, BlockFragment: []byte{0x88}, EndHeaders: true})
		},
	} {
		before := came.Len()
		if err := write(); err != nil {
			t.Fatal(err)
		}
		if i == 1 || i == 2 || i == 5 {
			want += came.Len() - before
		}
	}
	for _, size := range []int{1, 2, 8, 9, 10, 311, came.Len()} {
		h := &headCounter{}
		for all := came.Bytes(); len(all) > 0; {
			n := min(size, len(all))
			h.count(all[:n])
			all = all[n:]
		}
		if got := h.bytes.Load(); got != int64(want) {
			t.Errorf("in parts of %d bytes %d are heads, want %d", size, got, want)
		}
	}
}
