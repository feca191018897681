package unwrap

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
)

const (
	// headBytes is the size of the head, which decides how lines are read.
	headBytes = 64 << 10
	// MaxLine bounds the bytes of a line. The rest of a longer line is dropped.
	MaxLine = 16 << 20
	// maxUnpacked bounds the bytes of a compressed file.
	maxUnpacked = 4 << 30
)

// Line is a line without its wrapping. Text has no line end and no space at its end.
type Line struct {
	// Number counts lines from 1.
	Number int
	// Source is the container, pod or process that printed the line, as the log names it; empty if it does not.
	Source string
	Text   string
	// Cut: the line was longer than MaxLine.
	Cut bool
}

// Reader reads lines.
type Reader struct {
	in     *bufio.Reader
	number int
	// rest are the parts of the last line behind its first carriage return.
	rest  string
	parts bool
	cut   bool
	// common is a prefix of every line, with digits as zeros; empty if there is none.
	common string
	err    error
}

// New returns a reader of a program's output. It fails with a sentence if the output is empty or no text.
func New(in io.Reader) (*Reader, error) {
	plain, err := decode(bufio.NewReaderSize(in, headBytes))
	if err != nil {
		return nil, err
	}
	r := &Reader{in: plain}
	head, err := plain.Peek(headBytes)
	if err != nil && !errors.Is(err, io.EOF) && len(head) == 0 {
		return nil, fmt.Errorf("reading the file: %w", err)
	}
	if len(bytes.TrimSpace(head)) == 0 && len(head) < headBytes {
		return nil, errors.New("it is empty: the program printed nothing, or printed to standard error")
	}
	return r, nil
}

// Head returns the beginning of the output, decoded but with prefixes and colors.
func (r *Reader) Head() []byte {
	head, _ := r.in.Peek(headBytes) // At the end of the file, Peek returns what there is.
	return head
}

// Raw returns the output from its beginning, decoded but not cut into lines. Use either Raw or Next.
func (r *Reader) Raw() io.Reader { return r.in }

// Strip makes Next also remove a prefix, as Common returns it, from each line.
func (r *Reader) Strip(common string) { r.common = common }

// Err returns why reading stopped before the end; nil at the end.
func (r *Reader) Err() error { return r.err }

// Next returns the next line, and false after the last.
func (r *Reader) Next() (Line, bool) {
	if !r.parts {
		text, ok := r.line()
		if !ok {
			return Line{}, false
		}
		r.rest = strings.TrimRight(text, "\r")
	}
	// A terminal shows what follows a carriage return in place of the line: a progress bar is many lines.
	text, rest, found := strings.Cut(r.rest, "\r")
	r.rest, r.parts = rest, found
	source, text := Prefix(Plain(text))
	if r.common != "" {
		text = without(text, r.common)
	}
	return Line{Number: r.number, Source: source, Text: strings.TrimRight(text, " \t"), Cut: r.cut}, true
}

// line returns the next line as it is, without its end.
func (r *Reader) line() (string, bool) {
	part, err := r.in.ReadSlice('\n')
	if len(part) == 0 && err != nil {
		r.stop(err)
		return "", false
	}
	r.number++
	r.cut = false
	if err == nil {
		return string(part[:len(part)-1]), true
	}
	long := append([]byte(nil), part...)
	for errors.Is(err, bufio.ErrBufferFull) {
		part, err = r.in.ReadSlice('\n')
		if room := MaxLine - len(long); len(part) > room {
			part, r.cut = part[:room], true
		}
		long = append(long, part...)
	}
	r.stop(err)
	return string(bytes.TrimSuffix(long, []byte("\n"))), true
}

func (r *Reader) stop(err error) {
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
}

// packed names compressed and other binary files by their first bytes.
var packed = []struct{ magic, name string }{
	{"PK\x03\x04", "a zip archive"},
	{"\xfd7zXZ\x00", "compressed by xz"},
	{"\x28\xb5\x2f\xfd", "compressed by zstd"},
	{"BZh", "compressed by bzip2"},
	{"%PDF-", "a PDF"},
	{"\x89PNG", "a picture"},
	{"\xff\xd8\xff", "a picture"},
	{"GIF8", "a picture"},
	{"\x7fELF", "a program"},
}

// decode returns UTF-8 without a byte order mark.
func decode(in *bufio.Reader) (*bufio.Reader, error) {
	head, _ := in.Peek(512) // A read error is found again by the next read.
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		_, err := in.Discard(3)
		return in, err
	case bytes.HasPrefix(head, []byte("\xff\xfe")), halfZero(head, 1):
		return bufio.NewReaderSize(&utf16Reader{in: in, low: 0}, headBytes), nil
	case bytes.HasPrefix(head, []byte("\xfe\xff")), halfZero(head, 0):
		return bufio.NewReaderSize(&utf16Reader{in: in, low: 1}, headBytes), nil
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		unpacked, err := gzip.NewReader(in)
		if err != nil {
			return nil, fmt.Errorf("unpacking it by gzip: %w", err)
		}
		return bufio.NewReaderSize(io.LimitReader(unpacked, maxUnpacked), headBytes), nil
	}
	for _, p := range packed {
		if bytes.HasPrefix(head, []byte(p.magic)) {
			return nil, fmt.Errorf("it is %s: unpack it, or save the text that the tool printed", p.name)
		}
	}
	return in, nil
}

// halfZero reports whether the bytes at even (0) or odd (1) places are mostly zero, and the others are not: ASCII in UTF-16.
func halfZero(head []byte, from int) bool {
	pairs := len(head) / 2
	if pairs < 4 {
		return false
	}
	zero, other := 0, 0
	for i := range pairs {
		if head[2*i+from] == 0 {
			zero++
		}
		if head[2*i+1-from] == 0 {
			other++
		}
	}
	return zero*10 >= pairs*9 && other == 0
}
