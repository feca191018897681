package lines_test

import (
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"

	"loadstone.dev/loadstone/internal/profiler/lines"
)

func TestLinesAreReadOneByOneAndAgain(t *testing.T) {
	r := lines.NewReader(strings.NewReader("one\ntwo\n"))
	if !r.Empty() {
		t.Error("a file of which nothing was read is not empty")
	}
	var got []string
	for r.Next() {
		if got = append(got, r.Line()); len(got) == 1 {
			r.Back()
		}
	}
	if strings.Join(got, " ") != "one one two" || r.Err() != nil || r.Empty() {
		t.Errorf("lines %q, error %v", got, r.Err())
	}
}

func TestErrorsNameTheLine(t *testing.T) {
	for name, tc := range map[string]struct {
		text, words string
		want        error
	}{
		"a wrong line":                 {"a\nb\n", `line 2 is "b", want more`, lines.ErrForeign},
		"a wrong line that breaks off": {"a\nb", `line 2 breaks off at "b"`, lines.ErrCut},
	} {
		t.Run(name, func(t *testing.T) {
			r := lines.NewReader(strings.NewReader(tc.text))
			r.Next()
			r.Next()
			if err := r.Wrong("more"); !errors.Is(err, tc.want) || !strings.Contains(err.Error(), tc.words) {
				t.Errorf("error %v, want %q", err, tc.words)
			}
		})
	}
}

func TestAFileHasBounds(t *testing.T) {
	for name, tc := range map[string]struct {
		file io.Reader
		want error
	}{
		"too long a line":            {strings.NewReader("a\n" + strings.Repeat("x", lines.MaxLine+1)), lines.ErrLarge},
		"too many lines":             {strings.NewReader(strings.Repeat("\n", lines.MaxLines+1)), lines.ErrLarge},
		"a file that cannot be read": {iotest.ErrReader(io.ErrNoProgress), io.ErrNoProgress},
	} {
		t.Run(name, func(t *testing.T) {
			r := lines.NewReader(tc.file)
			for r.Next() {
				continue
			}
			if !errors.Is(r.Err(), tc.want) {
				t.Errorf("error %v, want %v", r.Err(), tc.want)
			}
		})
	}
}

func TestCountsAndSums(t *testing.T) {
	if n, err := lines.Count("12"); n != 12 || err != nil {
		t.Errorf("count %d, error %v", n, err)
	}
	for _, text := range []string{"", "-1", "1.5", "99999999999999999999"} {
		if _, err := lines.Count(text); !errors.Is(err, lines.ErrForeign) {
			t.Errorf("%q: error %v", text, err)
		}
	}
	if lines.Sum(1, 2) != 3 || lines.Sum(math.MaxInt64, 1) != math.MaxInt64 {
		t.Error("sums are wrong")
	}
}
