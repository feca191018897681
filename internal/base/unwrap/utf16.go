package unwrap

import (
	"bufio"
	"unicode/utf16"
	"unicode/utf8"
)

type utf16Reader struct {
	in   *bufio.Reader
	low  int
	left []byte
	err  error
}

func (r *utf16Reader) Read(p []byte) (int, error) {
	for len(r.left) == 0 && r.err == nil {
		r.left = r.left[:0]
		for len(r.left) < 4096 && r.err == nil {
			if c, ok := r.rune(); ok && c != '\uFEFF' {
				r.left = utf8.AppendRune(r.left, c)
			}
		}
	}
	if len(r.left) == 0 {
		return 0, r.err
	}
	n := copy(p, r.left)
	r.left = r.left[n:]
	return n, nil
}

func (r *utf16Reader) rune() (rune, bool) {
	first, ok := r.unit()
	if !ok || !utf16.IsSurrogate(first) {
		return first, ok
	}
	next, err := r.in.Peek(2)
	if err != nil {
		return utf8.RuneError, true
	}
	both := utf16.DecodeRune(first, rune(next[r.low])|rune(next[1-r.low])<<8)
	if both != utf8.RuneError {
		_, r.err = r.in.Discard(2)
	}
	return both, true
}

func (r *utf16Reader) unit() (rune, bool) {
	one, err := r.in.ReadByte()
	if err != nil {
		r.err = err
		return 0, false
	}
	two, err := r.in.ReadByte()
	if err != nil {
		r.err = err
		return 0, false
	}
	if r.low == 1 {
		one, two = two, one
	}
	return rune(one) | rune(two)<<8, true
}
