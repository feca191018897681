package massif

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/profiler/lines"
)

const (
	// MaxSnapshots bounds the snapshots: massif takes 100 by default.
	MaxSnapshots = 1000
	// MaxDepth bounds a tree: massif's default is 30.
	MaxDepth    = 200
	maxChildren = 10_000
	maxBytes    = 1 << 60
	maxText     = 4096

	separator = "#-----------"
)

// Parse parses massif's file. If it ends early, the snapshots until then are returned with the error.
func Parse(r io.Reader) (Result, error) {
	var result Result
	if err := read(lines.NewReader(r), &result); err != nil {
		return result, fmt.Errorf("reading massif's snapshots: %w", err)
	}
	return result, nil
}

func read(r *lines.Reader, result *Result) error {
	if err := readHead(r, result); err != nil {
		return err
	}
	for r.Next() {
		if len(result.Snapshots) == MaxSnapshots {
			return fmt.Errorf("%w: more than %d snapshots", lines.ErrLarge, MaxSnapshots)
		}
		r.Back()
		s, err := readSnapshot(r, len(result.Snapshots))
		if err != nil {
			return err
		}
		result.Snapshots = append(result.Snapshots, s)
	}
	if r.Err() == nil && len(result.Snapshots) == 0 {
		return fmt.Errorf("%w: it has no snapshot", lines.ErrCut)
	}
	return r.Err()
}

func readHead(r *lines.Reader, result *Result) error {
	into := []struct {
		key   string
		value *string
	}{{"desc", &result.Options}, {"cmd", &result.Command}, {"time_unit", &result.TimeUnit}}
	for i, h := range into {
		if !r.Next() {
			return cut(r, "the line of "+h.key, i == 0)
		}
		value, found := strings.CutPrefix(r.Line(), h.key+":")
		if !found {
			return r.Wrong(h.key + ":")
		}
		*h.value = printed.Clip(strings.TrimSpace(value), maxText)
	}
	return nil
}

func cut(r *lines.Reader, missing string, atStart bool) error {
	switch {
	case r.Err() != nil:
		return r.Err()
	case atStart && r.Empty():
		return lines.ErrEmpty
	}
	return fmt.Errorf("%w: %s is missing", lines.ErrCut, missing)
}

func readSnapshot(r *lines.Reader, number int) (Snapshot, error) {
	var s Snapshot
	var n int64
	for _, field := range []struct {
		key  string
		into *int64
	}{
		{separator, nil},
		{"snapshot", &n},
		{separator, nil},
		{"time", &s.Time},
		{"mem_heap_B", &s.HeapBytes},
		{"mem_heap_extra_B", &s.ExtraBytes},
		{"mem_stacks_B", &s.StackBytes},
	} {
		if !r.Next() {
			return s, cut(r, fmt.Sprintf("%s of snapshot %d", field.key, number), false)
		}
		if err := readField(r, field.key, field.into); err != nil {
			return s, err
		}
	}
	if n != int64(number) {
		return s, fmt.Errorf("%w: snapshot %d comes where %d should", lines.ErrForeign, n, number)
	}
	return s, readTree(r, number, &s)
}

// readField reads a line "key=count", or a separator.
func readField(r *lines.Reader, key string, into *int64) error {
	if into == nil {
		if r.Line() != key {
			return r.Wrong(key)
		}
		return nil
	}
	value, found := strings.CutPrefix(r.Line(), key+"=")
	if !found {
		return r.Wrong(key + "=")
	}
	n, err := lines.Count(value)
	if err != nil {
		return err
	}
	if n > maxBytes {
		return r.Wrong("a size that memory can have")
	}
	*into = n
	return nil
}

func readTree(r *lines.Reader, number int, s *Snapshot) error {
	if !r.Next() {
		return cut(r, fmt.Sprintf("the tree of snapshot %d", number), false)
	}
	switch r.Line() {
	case "heap_tree=empty":
		return nil
	case "heap_tree=detailed":
	case "heap_tree=peak":
		s.Peak = true
	default:
		return r.Wrong("heap_tree=")
	}
	node, err := readNode(r, 0)
	if err != nil {
		return fmt.Errorf("the tree of snapshot %d: %w", number, err)
	}
	s.Tree = &node
	return nil
}

// readNode reads a line " nCHILDREN: BYTES WORDS" and the nodes below it.
func readNode(r *lines.Reader, depth int) (Node, error) {
	if depth > MaxDepth {
		return Node{}, fmt.Errorf("%w: a tree deeper than %d", lines.ErrLarge, MaxDepth)
	}
	if !r.Next() {
		return Node{}, cut(r, "a node", false)
	}
	head, rest, found := strings.Cut(strings.TrimLeft(r.Line(), " "), ": ")
	digits, named := strings.CutPrefix(head, "n")
	size, words, spaced := strings.Cut(rest, " ")
	children, err := lines.Count(digits)
	if !found || !named || !spaced || err != nil || children > maxChildren {
		return Node{}, r.Wrong("a node of a tree")
	}
	bytes, err := lines.Count(size)
	if err != nil {
		return Node{}, r.Wrong("a node with its bytes")
	}
	node := place(words)
	node.Bytes = bytes
	for range children {
		child, err := readNode(r, depth+1)
		if err != nil {
			return Node{}, err
		}
		node.Callers = append(node.Callers, child)
	}
	return node, nil
}

// place reads "0xADDRESS: FUNCTION (FILE:LINE)", "0xADDRESS: FUNCTION (in OBJECT)", or a sentence.
func place(words string) Node {
	words = printed.Clip(words, maxText)
	address, function, found := strings.Cut(words, ": ")
	if !found || !strings.HasPrefix(address, "0x") {
		return Node{Function: words}
	}
	n := Node{Function: function}
	open := strings.LastIndex(function, " (")
	if open < 0 || !strings.HasSuffix(function, ")") {
		return n
	}
	where := function[open+2 : len(function)-1]
	if n.Function = function[:open]; n.Function == "???" {
		n.Function = ""
	}
	if object, inside := strings.CutPrefix(where, "in "); inside {
		n.File = object
		return n
	}
	n.File = where
	if colon := strings.LastIndexByte(where, ':'); colon >= 0 {
		if line, err := strconv.Atoi(where[colon+1:]); err == nil && line > 0 {
			n.File, n.Line = where[:colon], line
		}
	}
	return n
}
