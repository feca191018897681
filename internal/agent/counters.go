package agent

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// bufferSize holds the CPU lines of /proc/stat of a few hundred CPUs, and any other file that is read repeatedly.
const bufferSize = 64 << 10

// counterFile is a file of the kernel that is read again and again: opened once, read from its beginning in one system call.
type counterFile struct {
	file   *os.File
	buffer []byte
}

func openCounter(path string) (*counterFile, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return &counterFile{file: f}, nil
}

// read returns the file's present text, valid until the next read. The buffer grows to what the file needs.
func (c *counterFile) read() ([]byte, error) {
	if c.buffer == nil {
		c.buffer = make([]byte, 4<<10)
	}
	for {
		n, err := syscall.Pread(int(c.file.Fd()), c.buffer, 0)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return nil, fmt.Errorf("reading %s: %w", c.file.Name(), err)
		case n == len(c.buffer) && n < bufferSize:
			c.buffer = make([]byte, 4*len(c.buffer))
			continue
		}
		return c.buffer[:n], nil
	}
}

func (c *counterFile) close() {
	if c != nil {
		_ = c.file.Close() // Only read; there is nothing to lose.
	}
}

// field is the number after a key at the beginning of a line, as in "usage_usec 12".
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

// number is the first number of a text that begins with blanks.
func number(text []byte) (int64, bool) {
	text = bytes.TrimLeft(text, " \t")
	end := 0
	for end < len(text) && text[end] >= '0' && text[end] <= '9' {
		end++
	}
	n, err := strconv.ParseInt(string(text[:end]), 10, 64)
	return n, err == nil
}
