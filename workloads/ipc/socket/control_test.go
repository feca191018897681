package socket

import (
	"errors"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// message makes a control message, valid or not.
func message(level, kind int32, data []byte) []byte {
	b, room := appendHeader(nil, kind, len(data))
	copy(room, data)
	b[8] = byte(level) // the level's low byte: length comes first, in eight bytes
	return b
}

func TestParseControl(t *testing.T) {
	rights := func(fds ...int) []byte { return appendControl(nil, Msg{Fds: fds}) }
	cred := unix.Ucred{Pid: 1, Uid: 2, Gid: 3}
	who := appendControl(nil, Msg{Cred: cred, HasCred: true})
	tests := map[string]struct {
		control   []byte
		want      Msg
		wantError bool
	}{
		"nothing is nothing":                                 {},
		"a descriptor":                                       {control: rights(7), want: Msg{Fds: []int{7}}},
		"descriptors":                                        {control: rights(7, 8, 9), want: Msg{Fds: []int{7, 8, 9}}},
		"credentials":                                        {control: who, want: Msg{Cred: cred, HasCred: true}},
		"descriptors and credentials":                        {control: slices.Concat(rights(7), who), want: Msg{Fds: []int{7}, Cred: cred, HasCred: true}},
		"credentials and descriptors":                        {control: slices.Concat(who, rights(7)), want: Msg{Fds: []int{7}, Cred: cred, HasCred: true}},
		"descriptors in two messages":                        {control: slices.Concat(rights(7), rights(8)), want: Msg{Fds: []int{7, 8}}},
		"no descriptors":                                     {control: message(unix.SOL_SOCKET, unix.SCM_RIGHTS, nil)},
		"padding that is cut off is not missed":              {control: rights(7)[:unix.CmsgLen(4)], want: Msg{Fds: []int{7}}},
		"a header that is cut off":                           {control: rights(7)[:10], wantError: true},
		"data that is cut off":                               {control: rights(7)[:unix.CmsgLen(4)-1], wantError: true},
		"a header without room for itself":                   {control: append([]byte{15}, rights(7)[1:]...), wantError: true},
		"a length beyond all":                                {control: append([]byte{0, 0, 0, 0, 0, 0, 0, 0x80}, rights(7)[8:]...), wantError: true},
		"half a descriptor":                                  {control: message(unix.SOL_SOCKET, unix.SCM_RIGHTS, make([]byte, 6)), wantError: true},
		"half credentials":                                   {control: message(unix.SOL_SOCKET, unix.SCM_CREDENTIALS, make([]byte, 8)), wantError: true},
		"credentials twice":                                  {control: slices.Concat(who, who), want: Msg{Cred: cred, HasCred: true}, wantError: true},
		"what nobody asked for":                              {control: message(unix.SOL_SOCKET, 29, make([]byte, 16)), wantError: true},
		"another level":                                      {control: message(unix.IPPROTO_IPV6, unix.SCM_RIGHTS, make([]byte, 4)), wantError: true},
		"descriptors before an error are there to be closed": {control: slices.Concat(rights(7), []byte{1}), want: Msg{Fds: []int{7}}, wantError: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var m Msg
			err := parseControl(tc.control, &m)
			if errors.Is(err, ErrControl) != tc.wantError || !slices.Equal(m.Fds, tc.want.Fds) || m.Cred != tc.want.Cred || m.HasCred != tc.want.HasCred {
				t.Errorf("got %+v, %v; want %+v, an error: %v", m, err, tc.want, tc.wantError)
			}
		})
	}
}

func TestRoomForEverythingIsEnoughAndNoMore(t *testing.T) {
	m := Msg{Fds: make([]int, MaxFds), Cred: Self(), HasCred: true}
	if size := len(appendControl(nil, m)); size != everything {
		t.Errorf("the room is %d bytes, and %d are needed", everything, size)
	}
}

// FuzzParseControl parses anything; what it accepts must survive a round trip.
func FuzzParseControl(f *testing.F) {
	f.Add([]byte{})
	f.Add(appendControl(nil, Msg{Fds: []int{3, 4, 5}, Cred: Self(), HasCred: true}))
	f.Add(message(unix.SOL_SOCKET, 29, make([]byte, 16)))
	f.Fuzz(func(t *testing.T, control []byte) {
		var m Msg
		if err := parseControl(slices.Clip(slices.Clone(control)), &m); err != nil {
			return
		}
		if 4*len(m.Fds) > len(control) {
			t.Fatalf("%d descriptors came out of %d bytes", len(m.Fds), len(control))
		}
		var again Msg
		if err := parseControl(appendControl(nil, m), &again); err != nil || !slices.Equal(again.Fds, m.Fds) || again.Cred != m.Cred || again.HasCred != m.HasCred {
			t.Fatalf("%+v became %+v, %v", m, again, err)
		}
	})
}
