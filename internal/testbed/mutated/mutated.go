// Package mutated feeds changed inputs to parsers in plain tests, so that CI runs thousands of them without Go's fuzzer. Only tests import it.
package mutated

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"
)

const (
	// inputs is the number of changed inputs of a parser in a plain test. CI checks 10,000.
	inputs = 500
	// hang is the longest time for one input. It ends the test binary, since nothing can stop a parser.
	hang = time.Minute
	// longest is the size of the largest changed input, in bytes.
	longest = 1 << 16
)

// Corpus is the seeds of one fuzz target.
type Corpus[T ~string | ~[]byte] struct {
	f     *testing.F
	seeds [][]byte
}

// Of returns an empty corpus of the target f.
func Of[T ~string | ~[]byte](f *testing.F) *Corpus[T] {
	f.Helper()
	return &Corpus[T]{f: f}
}

// Add adds a seed.
func (c *Corpus[T]) Add(seed T) {
	c.f.Helper()
	c.f.Add(seed)
	c.seeds = append(c.seeds, []byte(seed))
}

// Fuzz checks each seed, and in a plain test also 500 changed inputs (LOADSTONE_MUTATIONS), always the same ones for one seed of the random
// numbers (LOADSTONE_MUTATIONS_SEED, 1 by default). A failure prints its input. With -fuzz, Go's fuzzer makes the inputs.
func (c *Corpus[T]) Fuzz(check func(t testing.TB, input T)) {
	c.f.Helper()
	if flag.Lookup("test.fuzz").Value.String() == "" && !testing.Short() {
		c.mutate(check)
	}
	c.f.Fuzz(func(t *testing.T, input T) { check(t, input) })
}

func (c *Corpus[T]) mutate(check func(t testing.TB, input T)) {
	c.f.Helper()
	n, seed := setting(c.f, "LOADSTONE_MUTATIONS", inputs), setting(c.f, "LOADSTONE_MUTATIONS_SEED", 1)
	var now atomic.Pointer[[]byte]
	rng := rand.New(rand.NewPCG(uint64(seed), uint64(len(c.seeds))))
	for range n {
		input := Change(rng, c.seeds)
		now.Store(&input)
		watch := time.AfterFunc(hang, func() {
			fmt.Fprintf(os.Stderr, "%s takes longer than %s for the input %q\n", c.f.Name(), hang, *now.Load())
			os.Exit(2)
		})
		func() {
			defer watch.Stop()
			c.one(check, input)
		}()
		if c.f.Failed() {
			c.f.Fatalf("the input: %q", input)
		}
	}
}

func (c *Corpus[T]) one(check func(t testing.TB, input T), input []byte) {
	c.f.Helper()
	ended := false
	defer func() {
		if ended {
			return
		}
		if r := recover(); r != nil {
			c.f.Fatalf("panic: %v\n%s\nthe input: %q", r, debug.Stack(), input)
		}
		c.f.Logf("the input: %q", input) // Fatal ends the goroutine.
	}()
	check(c.f, T(input))
	ended = true
}

func setting(tb testing.TB, name string, otherwise int) int {
	tb.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		tb.Fatalf("%s is %q: want a count", name, text)
	}
	return n
}

// tokens break parsers more often than random bytes do.
var tokens = [][]byte{
	nil,
	{0},
	{0xff, 0xfe},
	[]byte("\x1b[31m"), []byte("\x1b]0;t\a"), []byte("\r"), []byte("\n"), []byte("\u202e"), []byte("\xef\xbb\xbf"),
	[]byte("-1"), []byte("0"), []byte("1e308"), []byte("1e999"), []byte("NaN"), []byte("Inf"), []byte("9223372036854775808"), []byte("0.0000001"),
	[]byte(`""`), []byte("null"), []byte("{}"), []byte("[]"), []byte("{"), []byte("}"), []byte("["), []byte(`"`), []byte(":"), []byte(","), []byte("%"), []byte("../"),
	bytes.Repeat([]byte("["), 2000), bytes.Repeat([]byte("a"), 5000),
}

// Change returns one of the seeds with one to four changes: a line, a piece or a byte is removed, repeated, moved or replaced.
func Change(rng *rand.Rand, seeds [][]byte) []byte {
	out := slices.Clone(seeds[rng.IntN(len(seeds))])
	for range 1 + rng.IntN(4) {
		other := seeds[rng.IntN(len(seeds))]
		switch from, to := piece(rng, out); rng.IntN(8) {
		case 0:
			out = slices.Replace(out, from, to, tokens[rng.IntN(len(tokens))]...)
		case 1:
			out = slices.Delete(out, from, to)
		case 2:
			out = slices.Insert(out, to, slices.Clone(out[from:to])...)
		case 3:
			a, b := piece(rng, other)
			out = slices.Replace(out, from, to, other[a:b]...)
		case 4:
			out = lines(rng, out)
		case 5:
			out = out[:to]
		case 6:
			if from < to {
				out[from] ^= 1 << rng.IntN(8)
			}
		case 7:
			out = slices.Insert(out, from, tokens[rng.IntN(len(tokens))]...)
		}
		out = out[:min(len(out), longest)]
	}
	return out
}

// piece returns the bounds of a random piece, most often a short one.
func piece(rng *rand.Rand, of []byte) (from, to int) {
	if len(of) == 0 {
		return 0, 0
	}
	from = rng.IntN(len(of))
	return from, min(len(of), from+1+rng.IntN(1+rng.IntN(1+min(len(of), 200))))
}

// lines removes, repeats or exchanges whole lines.
func lines(rng *rand.Rand, of []byte) []byte {
	all := bytes.SplitAfter(of, []byte("\n"))
	i, j := rng.IntN(len(all)), rng.IntN(len(all))
	switch rng.IntN(3) {
	case 0:
		all = slices.Delete(all, i, i+1)
	case 1:
		all = slices.Insert(all, j, all[i])
	case 2:
		all[i], all[j] = all[j], all[i]
	}
	return bytes.Join(all, nil)
}
