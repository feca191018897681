package socket

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	fdSize = 4
	// everything is the maximum control data that the kernel can deliver in one message.
	everything = (unix.SizeofCmsghdr+MaxFds*fdSize+7)/8*8 + (unix.SizeofCmsghdr+unix.SizeofUcred+7)/8*8
)

// appendControl appends m in the kernel's format.
func appendControl(dst []byte, m Msg) []byte {
	if len(m.Fds) > 0 {
		var data []byte
		dst, data = appendHeader(dst, unix.SCM_RIGHTS, len(m.Fds)*fdSize)
		for i, fd := range m.Fds {
			*(*int32)(unsafe.Pointer(&data[i*fdSize])) = int32(fd)
		}
	}
	if m.HasCred {
		var data []byte
		dst, data = appendHeader(dst, unix.SCM_CREDENTIALS, unix.SizeofUcred)
		*(*unix.Ucred)(unsafe.Pointer(&data[0])) = m.Cred
	}
	return dst
}

// appendHeader appends a control message of a size, and returns its data's place.
func appendHeader(dst []byte, kind int32, size int) (all, data []byte) {
	begin := len(dst)
	for range unix.CmsgSpace(size) {
		dst = append(dst, 0)
	}
	header := (*unix.Cmsghdr)(unsafe.Pointer(&dst[begin]))
	header.Level, header.Type = unix.SOL_SOCKET, kind
	header.SetLen(unix.CmsgLen(size))
	return dst, dst[begin+unix.CmsgLen(0):]
}

// parseControl parses the kernel's control data into m. After an error the caller must close m's descriptors.
func parseControl(control []byte, m *Msg) error {
	for len(control) > 0 {
		if len(control) < unix.SizeofCmsghdr {
			return ErrControl
		}
		header := *(*unix.Cmsghdr)(unsafe.Pointer(&control[0]))
		if header.Len < uint64(unix.CmsgLen(0)) || header.Len > uint64(len(control)) {
			return ErrControl
		}
		data := control[unix.CmsgLen(0):header.Len]
		switch {
		case header.Level == unix.SOL_SOCKET && header.Type == unix.SCM_RIGHTS && len(data)%fdSize == 0:
			for ; len(data) > 0; data = data[fdSize:] {
				m.Fds = append(m.Fds, int(*(*int32)(unsafe.Pointer(&data[0]))))
			}
		case header.Level == unix.SOL_SOCKET && header.Type == unix.SCM_CREDENTIALS && len(data) == unix.SizeofUcred && !m.HasCred:
			m.Cred, m.HasCred = *(*unix.Ucred)(unsafe.Pointer(&data[0])), true
		default:
			return ErrControl
		}
		control = control[min(len(control), unix.CmsgSpace(len(control[unix.CmsgLen(0):header.Len]))):]
	}
	return nil
}

// deliver checks a message's control data. If it is not delivered, its descriptors are closed.
func deliver(control []byte, flags int) (Msg, error) {
	var m Msg
	err := parseControl(control, &m)
	switch {
	case flags&unix.MSG_CTRUNC != 0:
		err = ErrControlTruncated // It also explains truncated control data.
	case err == nil && flags&unix.MSG_TRUNC != 0:
		err = ErrTruncated
	}
	if err != nil {
		m.drop()
	}
	return m, err
}
