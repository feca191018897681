package kernel

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// bufferSize fits the CPU lines of /proc/stat for a few hundred CPUs, and any other file that is read repeatedly.
const bufferSize = 64 << 10

// File is a kernel file that is opened once and read repeatedly, each time from its beginning in one system call.
type File struct {
	file   *os.File
	buffer []byte
}

// Open opens a file of the kernel.
func Open(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return &File{file: f}, nil
}

// Read returns the file's present text, valid until the next read. The buffer grows as needed.
func (f *File) Read() ([]byte, error) {
	if f.buffer == nil {
		f.buffer = make([]byte, 4<<10)
	}
	for {
		n, err := syscall.Pread(int(f.file.Fd()), f.buffer, 0)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return nil, fmt.Errorf("reading %s: %w", f.file.Name(), err)
		case n == len(f.buffer) && n < bufferSize:
			f.buffer = make([]byte, 4*len(f.buffer))
			continue
		}
		return f.buffer[:n], nil
	}
}

// Close closes the file; nil is allowed.
func (f *File) Close() {
	if f != nil {
		_ = f.file.Close() // The file was only read.
	}
}

// ErrNoNumber: a kernel file lacks the expected number.
var ErrNoNumber = errors.New("the number is missing")

// field returns the number after a key at the start of a line, as in "usage_usec 12".
func field(text []byte, key string) (int64, bool) {
	for len(text) > 0 {
		l, rest, _ := bytes.Cut(text, []byte{'\n'})
		if value, ok := bytes.CutPrefix(l, []byte(key)); ok && len(value) > 0 && (value[0] == ' ' || value[0] == ':') {
			return number(value[1:])
		}
		text = rest
	}
	return 0, false
}

func number(text []byte) (int64, bool) {
	text = bytes.TrimLeft(text, " \t")
	end := 0
	for end < len(text) && text[end] >= '0' && text[end] <= '9' {
		end++
	}
	n, err := strconv.ParseInt(string(text[:end]), 10, 64)
	return n, err == nil
}

func line(text []byte, key string) string {
	for l := range bytes.Lines(text) {
		name, value, ok := strings.Cut(string(l), ":")
		if ok && strings.TrimSpace(name) == key {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
