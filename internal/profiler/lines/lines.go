package lines

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"loadstone.dev/loadstone/internal/base/printed"
)

// Errors of files. A parser also returns the part before them.
var (
	// ErrEmpty: the tool wrote nothing.
	ErrEmpty = errors.New("the file is empty: the tool did not start, or was killed before it wrote")
	// ErrCut: the file ends early.
	ErrCut = errors.New("the file ends early: the tool was killed, or the disk was full")
	// ErrLarge: the file exceeds a limit.
	ErrLarge = errors.New("the file is larger than a profile may be")
	// ErrForeign: another program wrote the file.
	ErrForeign = errors.New("the file is not what the tool writes")
)

const (
	// MaxLine bounds a line, in bytes: C++ function names can have thousands.
	MaxLine = 64 << 10
	// MaxLines bounds a file.
	MaxLines = 4_000_000
	quoted   = 60
)

// Reader reads a file line by line.
type Reader struct {
	scanner *bufio.Scanner
	number  int
	held    bool
	// open: the line has no end, since the file was truncated.
	open bool
	err  error
}

// NewReader returns a reader of a file.
func NewReader(r io.Reader) *Reader {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 0, 4096), MaxLine)
	reader := &Reader{scanner: s}
	s.Split(reader.split)
	return reader
}

func (r *Reader) split(data []byte, atEOF bool) (int, []byte, error) {
	r.open = atEOF && len(data) > 0 && bytes.IndexByte(data, '\n') < 0
	return bufio.ScanLines(data, atEOF)
}

// Next moves to the next line, and reports whether there is one.
func (r *Reader) Next() bool {
	if r.held {
		r.held = false
		return true
	}
	if r.err != nil || !r.scanner.Scan() {
		return false
	}
	r.number++
	if r.number > MaxLines {
		r.err = ErrLarge
		return false
	}
	return true
}

// Back makes the next call of Next return the same line again.
func (r *Reader) Back() { r.held = true }

// Line returns the current line.
func (r *Reader) Line() string { return r.scanner.Text() }

// Empty reports whether the file has no lines.
func (r *Reader) Empty() bool { return r.number == 0 }

// Err returns the reading error; nil at the end of the file.
func (r *Reader) Err() error {
	switch err := r.scanner.Err(); {
	case r.err != nil:
		return r.err
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("reading line %d: %w", r.number+1, ErrLarge)
	case err != nil:
		return fmt.Errorf("reading line %d: %w", r.number+1, err)
	}
	return nil
}

// Wrong returns an error for an unexpected line.
func (r *Reader) Wrong(want string) error {
	if r.open {
		return fmt.Errorf("%w: line %d breaks off at %q, want %s", ErrCut, r.number, printed.Clip(r.Line(), quoted), want)
	}
	return fmt.Errorf("%w: line %d is %q, want %s", ErrForeign, r.number, printed.Clip(r.Line(), quoted), want)
}

// Count parses a nonnegative whole number.
func Count(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%w: %q is not a count", ErrForeign, printed.Clip(text, quoted))
	}
	return n, nil
}

// Sum adds two counts, and saturates.
func Sum(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
